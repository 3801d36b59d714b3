"""Proofs of the statements on two local steps of clients that need not be convex.

With g = ∇f(x) the round is −s(2g + r), ‖r‖² ≤ s²L² mean‖∇F_k(x)‖², and s⟨g, 2g + r⟩ = s‖g‖² + (s/4)(‖2g + r‖² − ‖r‖²).
"""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import gradient, infimum, local_step, mean, parameter, server, square, value
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Hypothesis, Infimum, Upper
from fedconvex.proofs_checks.library import Parts, added_up, by, jensen, lipschitz, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import koloskova

s, L, T, sigma2 = map(parameter, ("stepsize", "L", "T", "sigma2"))
w, after = server(0), server(1)
SMALL = s**2 * L**2 / 4


def descent() -> Parts:
    """f(x⁺) ≤ f(x) − s‖∇f(x)‖² + (s³L²/4) mean‖∇F_k(x)‖²."""
    first = local_step(w)
    moved, change = mean(gradient(w)) + mean(gradient(first)), gradient(first) - gradient(w)
    parts = by(Upper(after, w)) + (s / 4 - s**2 * L / 2) * squared(moved)
    return parts + s / 4 * (lipschitz(first, w, L) + jensen(change))


# mean‖∇F_k(x)‖² is ‖∇f(x)‖² and the variance.
proved_by_sum(koloskova.one_round, descent() + s * SMALL * by(Hypothesis("variance")))

# mean‖∇F_k(x)‖² ≤ B²‖∇f(x)‖².
proved_by_sum(koloskova.dissimilar_round, descent() + s * SMALL * by(Hypothesis("dissimilarity")))


@proof_of(koloskova.rate)
def rate(claim: Claim) -> Derivation:
    """The decreases of all rounds add up to at most the initial suboptimality."""
    parts, slope = descent() + s * SMALL * by(Hypothesis("variance")), square(mean(gradient(w)))
    gain, start, end = s * (1 - SMALL), by(Hypothesis("initial gap")), by(Infimum(w))
    return added_up(
        claim, parts, value(w) - infimum, gain * slope, 1 / (gain * T), start=start, end=end, error=s * SMALL * sigma2
    )


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "oneround": ((1,), (0,), 2, (1, F(1, 10), F(1, 2)), ()),
    "onerounddissimilarclients": ((F(2, 3),), (1,), 2, (1, F(2, 3), F(2, 3)), ()),
    "trounds": ((1,), (1,), 0, (1, 2, F(1, 2), F(2, 3), F(1, 2)), ()),
}  # fmt: skip
remarks_of_instances(koloskova.PAPER, INSTANCES)
