"""FedDyn, convex devices: the sharper Lemma 4."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, mean, minimiser
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.feddyn.convex import HERE, L, alpha, best, here, new, old, one_line
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import interpolation, lipschitz, squared, sum_of
from fedconvex.theory import feddyn


@proof_of(feddyn.lemma4sharper)
def devices_move_less(claim: Claim) -> Derivation:
    """Lemma 4's first and last vector stay together: the errors of the stored gradients, beyond their mean h."""
    errors = old - best
    three = sum_of(errors - mean(errors), best - here, here - new)
    bounds = lipschitz(answers, HERE, L) + 2 * L * interpolation(HERE, minimiser, 0, L) + squared(mean(errors))
    return one_line(claim, 1 / alpha**2 * (three + 3 * bounds))
