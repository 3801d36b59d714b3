"""FedSplit paper: a round of FedGD, (4), and FedProx, (6); fixed points: (5), (7), (13), Propositions 1 to 3.

Also the definitions (3), (11), (12) and (17), and the strong convexity of the regularised objective (19).

The setting of the fixed points says that the round leaves the state as it is, so that the equations hold on the board
itself: no line needs a fact. (5) is about the sums of the clients' local gradients, for any number e of local steps;
`FEDGD_RESTS` has it in the paper's ∇f_j(G_j^{i−1}(x)) for e = 1, 2, 3.
"""

from collections.abc import Iterable

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import Vector, free, gradient, mean, memory, number, parameter, server, value
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Derivation, Lower
from fedconvex.proofs_checks.library import Lemma, Parts, by, concluding, with_example
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import BLOCKS, OTHER_BLOCKS, vanishes

s = parameter("stepsize")
anywhere = free("x")


@proof_of(fedsplit.equation4)
@proof_of(fedsplit.equation5)
@proof_of(fedsplit.equation6)
@proof_of(fedsplit.equation7)
@proof_of(fedsplit.proposition1)
@proof_of(fedsplit.proposition2)
@proof_of(fedsplit.equation13)
@proof_of(fedsplit.proposition3)
def at_once(claim: Claim) -> Derivation:
    """Both sides are the same on the board."""
    return Derivation((concluding(claim, Parts()),))


def minimises(setting: ClaimSetting, at: Vector) -> Lemma:
    """f(at) ≤ f(x) for all x: the objective is convex, and its gradient at this point is 0."""
    claim = at_most(value(at), value(anywhere))
    return Lemma(setting, claim, Derivation((concluding(claim, by(Lower(anywhere, at))),)))


# Proposition 3: the average of a fixed point of FedSplit is optimal.
FEDSPLIT_IS_OPTIMAL = minimises(fedsplit.proposition3.setting, mean(memory("z", 0)))


def resting_fedgd(local_steps: int, convex: bool = False) -> ClaimSetting:
    """FedGD at a fixed point."""
    signs = {"stepsize": "positive", "num_clients": "positive"}
    method = {"stepsize": s, "local_steps": number(local_steps)}
    return with_example(
        ClaimSetting(method="FedGD", method_parameters=method, signs=signs, counts=frozenset({"num_clients"}),
                curvature=(number(0) if convex else None, None), rests=True)
    )  # fmt: skip


def gradients_on_the_way(local_steps: int) -> Iterable[Vector]:
    """∇f_j(G_j^{i−1}(x)), i = 1, …, e."""
    point = server(0)
    for _ in range(local_steps):
        yield gradient(point)
        point = fedsplit.gradient_map.calculator.formula(x=point, stepsize=s, gradient=gradient(point))


def rests(local_steps: int) -> Lemma:
    """(5) for a number of local steps."""
    first, *others = gradients_on_the_way(local_steps)
    claim = vanishes(fedsplit.fedgd_residual.calculator.formula(gradients=sum(others, start=first)))
    return Lemma(resting_fedgd(local_steps), claim, at_once(claim))


FEDGD_RESTS = tuple(rests(e) for e in (1, 2, 3))
# After Proposition 1: with one local step a fixed point is a minimiser.
FEDGD_IS_OPTIMAL = minimises(resting_fedgd(1, convex=True), server(0))


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
