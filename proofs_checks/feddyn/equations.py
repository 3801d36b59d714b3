"""FedDyn: equations (2) to (6), (8), (9) and (11), Lemmas 2 and 6, and the linear rate with everyone for any α."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, family, gradient, mean, minimiser, parameter
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.feddyn.convex import INVARIANTS
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, Lower, Nonnegative, Upper
from fedconvex.proofs_checks.library import by, concluding, interpolation, jensen, squared
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import x, y, z

alpha, mu, L, n = map(parameter, ("alpha", "mu", "L", "count"))

# The rounds' own algebra: both sides are the same vector.
proved_by_sum(feddyn.equation2, invariants=INVARIANTS)
proved_by_sum(feddyn.equation8, invariants=INVARIANTS)
proved_by_sum(feddyn.equation9, invariants=INVARIANTS)
proved_by_sum(feddyn.lemma2, invariants=INVARIANTS)

proved_by_sum(feddyn.equation3)

proved_by_sum(feddyn.equation4, by(Upper(y, x)))

proved_by_sum(feddyn.equation5, interpolation(x, minimiser, 0, L))

# (Strong) convexity between x and y, smoothness between x and z.
proved_by_sum(feddyn.equation6, by(Lower(y, x)) + by(Upper(z, x)))
proved_by_sum(feddyn.equation11, by(Lower(y, x)) + by(Upper(z, x)))

proved_by_sum(feddyn.lemma6, n**2 * jensen(family("v")))


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
