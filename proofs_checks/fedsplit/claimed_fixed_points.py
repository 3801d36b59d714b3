"""FedSplit paper: a round of FedGD, (4), and FedProx, (6); fixed points: (5), (7), (13), Propositions 1 to 3.

Also the definitions (3), (11), (12) and (17), and the strong convexity of the regularised objective (19).

The setting of the fixed points says that the round leaves the state as it is, so that the equations hold on the board
itself: no line needs a fact. (5) is about the sums of the clients' local gradients, for any number e of local steps.
"""

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import Vector, free, number, parameter, value
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Lower
from fedconvex.proofs_checks.library import Lemma, by, concluding, with_example
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import BLOCKS, OTHER_BLOCKS

s = parameter("stepsize")
anywhere = free("x")


# Both sides are the same on the board.
for _statement in (
    fedsplit.equation4,
    fedsplit.equation5,
    fedsplit.equation6,
    fedsplit.equation7,
    fedsplit.proposition1,
    fedsplit.proposition2,
    fedsplit.equation13,
    fedsplit.proposition3,
    fedsplit.equation3,
    fedsplit.equation11,
    fedsplit.equation12,
    fedsplit.equation17corrected,
):
    proved_by_sum(_statement)


@proof_of(fedsplit.equation19corrected)
def strong_convexity(claim: Claim) -> Derivation:
    """The f_j are convex; ½‖y − x‖² + ½‖z − x‖² − ‖½(y + z) − x‖² = ¼‖y − z‖²."""
    middle = (OTHER_BLOCKS + BLOCKS) / 2
    above = by(Lower(OTHER_BLOCKS, middle, number(0))) + by(Lower(BLOCKS, middle, number(0)))
    return Derivation((concluding(claim, parameter("num_clients") / 2 * above),))


def minimises(setting: ClaimSetting, at: Vector) -> Lemma:
    """f(at) ≤ f(x) for all x: the objective is convex, and its gradient at this point is 0."""
    claim = at_most(value(at), value(anywhere))
    return Lemma(setting, claim, Derivation((concluding(claim, by(Lower(anywhere, at))),)))


def resting_fedgd(local_steps: int, convex: bool = False) -> ClaimSetting:
    """FedGD at a fixed point."""
    signs = {"stepsize": "positive", "num_clients": "positive"}
    method = {"stepsize": s, "local_steps": number(local_steps)}
    return with_example(
        ClaimSetting(method="FedGD", method_parameters=method, signs=signs, counts=frozenset({"num_clients"}),
                curvature=(number(0) if convex else None, None), rests=True)
    )  # fmt: skip
