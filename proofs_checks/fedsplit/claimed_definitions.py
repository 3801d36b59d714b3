"""FedSplit paper: gradient steps, (3), (17); normal cone and inclusion, (11), (12); the regularised objective, (19)."""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import number, parameter
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Lower
from fedconvex.proofs_checks.library import by, concluding
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import BLOCKS, OTHER_BLOCKS

# Both sides are the same on the board.
proved_by_sum(fedsplit.equation3)
proved_by_sum(fedsplit.equation11)
proved_by_sum(fedsplit.equation12)
proved_by_sum(fedsplit.equation17corrected)


@proof_of(fedsplit.equation19corrected)
def strong_convexity(claim: Claim) -> Derivation:
    """The f_j are convex; ½‖y − x‖² + ½‖z − x‖² − ‖½(y + z) − x‖² = ¼‖y − z‖²."""
    middle = (OTHER_BLOCKS + BLOCKS) / 2
    above = by(Lower(OTHER_BLOCKS, middle, number(0))) + by(Lower(BLOCKS, middle, number(0)))
    return Derivation((concluding(claim, parameter("num_clients") / 2 * above),))
