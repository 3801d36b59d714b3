"""FedSplit with gradient steps in place of exact proximal steps: Corollary 1, which is (18), for any number of steps.

A step from any point u makes u⁺ of it; p is the proximal point. The subproblem here is f_j + ‖· − x‖²/(2s), on
which steps of size αs are the paper's steps of size α on sf_j + ½‖· − x‖².
"""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, family, local_step, norm, solutions
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.fedsplit.one_round import factor, kappa, matched, mu
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, LocalSteps, Nonnegative
from fedconvex.proofs_checks.library import by, cited, rooted
from fedconvex.theory import fedsplit

alpha = fedsplit.local_stepsize.formula(mu=mu, L=kappa * mu)
u, p = family("u"), solutions
before, after = norm(u - p), norm(local_step(u) - p)


def _steps(ratio: Number) -> Derivation:
    """‖u⁺ − p‖ ≤ (1 − 2/(√κ+1))‖u − p‖ ≤ ratio·‖u − p‖, e times."""
    one = rooted(after, factor * before, (alpha * matched) ** 2 * by(Between(u, p)), "a step")
    given_away = cited("a step") + (ratio - factor) * by(Nonnegative(before))
    return Derivation((*one, LocalSteps(p, ratio, "u", given_away.facts)))


@proof_of(fedsplit.corollary1)
@proof_of(fedsplit.equation18)
def error(claim: Claim) -> Derivation:
    return _steps(1 - 1 / (kappa.sqrt() + 1))


@proof_of(fedsplit.corollary1sharper)
def error_sharp(claim: Claim) -> Derivation:
    return _steps(factor)
