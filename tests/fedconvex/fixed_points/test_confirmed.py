"""Every fixed point is kept by the method's own code on the problem's numbers, or refused: formulas alone do not do."""

from fractions import Fraction as F
from typing import Any

import flint
import numpy as np
import pytest
from any_methods import AFFINE, LOGISTIC, PLAIN, changed, written

import fedconvex as fc
from fedconvex.methods.base import Method, State
from fedconvex.problems import quadratics
from fedconvex.regularizers import L1

WIDE = fc.LeastSquares([[[1, 2, 0, 1, 1]], [[0, 1, 1, 2, 3]]], [[1], [2]])
PROBLEMS = {
    "quadratic": PLAIN, "logistic": LOGISTIC, "wide": WIDE,
    "composite": fc.CompositeProblem(PLAIN, L1(F(1, 10))), "bent": fc.CompositeProblem(LOGISTIC, L1(F(1, 10))),
}  # fmt: skip
METHODS: dict[str, Method] = {
    "FedGD": fc.FedGD(stepsize=F(1, 8), local_steps=2), "FedProx": fc.FedProx(mu=2),
    "FedAvgM": fc.FedAvgM(stepsize=F(1, 8), local_steps=2, momentum=F(1, 2)), "FedDyn": fc.FedDyn(alpha=2),
    "FedSplit": fc.FedSplit(stepsize=F(1, 4)), "anchored": fc.RegularizedFedSplit(stepsize=1, regularization=F(1, 3)),
    "one gradient": fc.FedDynOneGD(alpha=9), "FedPD": fc.FedPD(eta=F(1, 2)), "Scaffold": fc.Scaffold(stepsize=F(1, 8)),
    "FedAdam": fc.FedAdam(stepsize=F(1, 8), tau=1),
}  # fmt: skip
NUMBERS = {"float": float, "exact": flint.fmpq, "ball": flint.arb}
SEARCHED = ("FedGD", "FedProx", "FedAvgM", "anchored")  # on losses: by Newton's method on their rounds
WITHOUT_TERM = ("FedAvgM", "anchored", "Scaffold", "FedAdam")  # their servers take no proximal steps


def two_faced(method: Method, number: type, moved: Any) -> Method:
    """The method, which on these numbers alone makes another state, and everywhere else says what it did before."""

    def update(self: Any, state: State, cohort: Any, answers: Any) -> State:
        after = type(method).update(self, state, cohort, answers)
        known = isinstance(after.server, np.ndarray) and isinstance(after.server.tolist()[0], number)
        return moved(after) if known else after

    return changed(method, update=update)


POSSIBLE = [
    (name, problem, arithmetic) for name in METHODS for problem, data in PROBLEMS.items() for arithmetic in NUMBERS
    if not (isinstance(data, fc.CompositeProblem) and name in WITHOUT_TERM)  # whose servers take no proximal steps
    and not (arithmetic == "exact" and problem in ("logistic", "bent"))  # exp is not rational
]  # fmt: skip


@pytest.mark.parametrize(("name", "problem", "arithmetic"), POSSIBLE)
def test_what_moves_the_point_on_the_problems_numbers_is_refused(
    name: str, problem: str, arithmetic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code adds 1 to a coordinate where it is given numbers of the arithmetic, and to nothing else."""
    if problem == "wide":
        monkeypatch.setattr(quadratics, "FORMED_ENTRIES", 0)
    data, method = PROBLEMS[problem], METHODS[name]
    kept = fc.fixed_point(method, data, arithmetic).point
    if name == "FedAdam" and arithmetic == "exact":
        return  # roots are irrational: its rounds are played in balls
    moved = two_faced(method, NUMBERS[arithmetic], lambda s: State(s.server + 1, s.shared, s.memory))
    if name in SEARCHED and (problem, arithmetic) in (("logistic", "float"), ("bent", "float"), ("bent", "ball")):
        found = fc.fixed_point(moved, data, arithmetic).point  # by rounds in these numbers: where those rest
        assert not all(x.overlaps(y) for x, y in zip(*map(in_balls, (kept, found)), strict=True)) or wide(found)
        return
    if name == "anchored" and (problem, arithmetic) == ("logistic", "ball"):
        assert wide(fc.fixed_point(moved, data, arithmetic).point)  # says nothing, so that nothing is wrong
        return
    with pytest.raises(fc.InvalidInput, match="move the fixed point"):
        fc.fixed_point(moved, data, arithmetic)


def in_balls(point: Any) -> list[flint.arb]:
    return [x if isinstance(x, flint.arb) else flint.arb(float(x), 1e-6) for x in point]


def wide(point: Any) -> bool:
    return all(float(x.rad()) > 0.1 for x in in_balls(point))


@pytest.mark.parametrize("arithmetic", NUMBERS)
@pytest.mark.parametrize("name", ["FedAvgM", "FedDyn", "FedSplit", "anchored", "FedPD", "Scaffold"])
def test_a_memory_that_does_not_rest_is_refused(name: str, arithmetic: str) -> None:
    """The server's point stays in the first round; the next ones would move it."""
    moved = two_faced(
        METHODS[name],
        NUMBERS[arithmetic],
        lambda s: State(s.server, {n: x + 1 for n, x in s.shared.items()}, {n: x + 1 for n, x in s.memory.items()}),
    )
    with pytest.raises(fc.InvalidInput, match="move the fixed point"):
        fc.fixed_point(moved, PLAIN, arithmetic)


def test_a_memory_that_moves_the_point_later_is_noticed_on_losses() -> None:
    """t grows by 1 a round and pushes the point from t = 0 on: no state rests, and the first round is no evidence."""
    pushed = written(
        lambda s, c, a, p: State(a + s.shared["t"], shared={"t": s.shared["t"] + 1}),
        lambda w, repeat: {"shared": {"t": 0 * w}},
    )
    with pytest.raises((fc.InvalidInput, fc.NotConverged)):
        fc.fixed_point(pushed, LOGISTIC)
    plain = fc.fixed_point(METHODS["FedGD"], LOGISTIC).point
    assert abs(fc.fixed_point(AFFINE["counts"], LOGISTIC).point - plain).max() < 1e-6  # the server's point rests
