"""FedDyn over T rounds, convex devices: the sharper Theorems 2 and 3, from the sharper Lemmas 1 and 8."""

from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn.runs import IN_ROUND, ONE, T, alpha, mean_gap, mu
from fedconvex.proofs_checks.feddyn.sharper_rounds import by_number_of_clients
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.sharper import sharper_constants, sharper_strongly_convex_constants


def _exact(claim: Claim, lemma: str, constants: Any, ratio: Number, weights: Any) -> Derivation:
    """The printed constants are those that the potential gives at the start; `weights` is the sum of the r^t."""
    share = 1 / (constants.kappa0 * weights)
    return by_number_of_clients(mean_gap(claim, lemma, constants, ratio, share, constants.kappa * share))


@proof_of(feddyn.theorem2sharper)
def convex_rate(claim: Claim) -> Derivation:
    return _exact(claim, "feddyn.lemma1sharper", sharper_constants.formula(**IN_ROUND), ONE, T)


@proof_of(feddyn.theorem3sharper)
def strongly_convex_rate(claim: Claim) -> Derivation:
    constants, r = sharper_strongly_convex_constants.formula(mu=mu, **IN_ROUND), 1 + mu / alpha
    return _exact(claim, "feddyn.lemma8sharper", constants, r, (r**T - 1) / (r - 1))
