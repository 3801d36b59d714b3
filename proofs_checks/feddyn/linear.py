"""FedDyn with everyone: the linear rate for any α, from the curvatures between the answers and the minimiser alone."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, memory, minimiser, parameter
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, Nonnegative
from fedconvex.proofs_checks.library import by, concluding, squared
from fedconvex.theory import feddyn

alpha, mu, L = map(parameter, ("alpha", "mu", "L"))
INVARIANTS = (("shared h", mean(memory("gradient", 0))),)


@proof_of(feddyn.linear_rate)
def linear_rate(claim: Claim) -> Derivation:
    """x, g: answers and their gradients over α, from those at θ_*. The points x + g become g + mean(x − g); their mean
    part and the deviations from it lose the same to ⟨g − x/q, qx − g⟩ ≥ 0 and a square.
    """
    rooted = by(Nonnegative(0 * mu.sqrt() * L.sqrt()))  # names the roots: q > 1 follows from α ≥ √μ√L or ≤, and μ < L
    x, g = answers - minimiser, (gradient(answers) - gradient(minimiser)) / alpha

    def with_larger(q: Any) -> Derivation:
        between = by(Between(answers, minimiser, alpha / q, alpha * q))
        parts = 2 * q**2 / ((q + 1) ** 2 * (q - 1) * alpha**2) * between
        deviation = g - q * x
        parts += 1 / (q**2 - 1) * (squared(mean(x - q * g)) + squared(deviation - mean(deviation)))
        return Derivation((concluding(claim, parts + rooted),), INVARIANTS)

    return Derivation(cases=Cases(alpha**2, mu * L, above=with_larger(alpha / mu), below=with_larger(L / alpha)))
