"""Local steps whose number is drawn, against gradient steps of the numbers that were drawn."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_makers import assert_resumed, round_by_round

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Stragglers, Uniform
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.theory import bounds_for

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 1]]], b=[[1, 2], [0, 4], [3]])
RANDOM = fc.RandomNumberOfSteps((1, 2, 5))
CLIENTS, SIZE = SmoothStronglyConvex(mu=Fraction(1, 4), L=1), Fraction(1, 40)
EVERYONE = np.arange(3)


def methods(steps: Any) -> list[fc.methods.Method]:
    both: dict[str, Any] = {"stepsize": SIZE, "local_steps": steps}
    kinds = (fc.FedGD, fc.FedNova, fc.FedLin, fc.Scaffold, fc.FedAvgM, fc.FedAdam)
    return [kind(**both) for kind in kinds] + [fc.Ditto(regularization=1, **both)]


@pytest.mark.parametrize("place", range(len(methods(1))), ids=[type(m).__name__ for m in methods(1)])
def test_rounds_are_those_of_the_numbers_that_were_drawn(place: int) -> None:
    method = methods(RANDOM)[place]
    arithmetic = "float" if method.takes_square_roots else "exact"
    run = fc.simulate(method, PROBLEM, 4, seed=7, arithmetic=arithmetic)
    alone = [methods(tuple(int(n) for n in RANDOM.draw(7, t, EVERYONE)))[place] for t in range(4)]
    assert (round_by_round(alone, PROBLEM, arithmetic) == run.points[-1]).all()
    other = fc.simulate(methods((1, 2, 5))[place], PROBLEM, 4, seed=7, arithmetic=arithmetic)
    assert (other.points[-1] != run.points[-1]).any()


def test_a_clients_number_does_not_depend_on_who_else_takes_part() -> None:
    everyone = RANDOM.draw(3, 2, np.arange(50))
    assert (RANDOM.draw(3, 2, np.array([4, 40])) == everyone[[4, 40]]).all()
    assert (RANDOM.draw(3, 3, np.arange(50)) != everyone).any()
    assert (RANDOM.draw(4, 2, np.arange(50)) != everyone).any()
    assert RANDOM.draw(3, 2, np.array([], dtype=int)).size == 0


@pytest.mark.parametrize("chances", [None, (1, 2, 5), (Fraction(1, 10), 0.4, Fraction(1, 2))])
def test_numbers_are_drawn_with_their_chances(chances: Any) -> None:
    """By Hoeffding a share misses its chance by 0.02 in 40,000 draws with probability at most 2·exp(−32)."""
    count = 40_000
    found = Counter(fc.RandomNumberOfSteps((1, 2, 5), chances).draw(0, 0, np.arange(count)).tolist())
    wanted = np.array([1, 1, 1] if chances is None else [float(p) for p in chances])
    shares = np.array([found[n] for n in (1, 2, 5)]) / count
    assert np.abs(shares - wanted / wanted.sum()).max() < 0.02


def test_partial_participation_and_resuming(tmp_path: Path) -> None:
    numbers = RANDOM, fc.RandomNumberOfSteps((1, 2, 5), (1, 1, 2))
    method, other = (fc.Scaffold(stepsize=SIZE, local_steps=steps) for steps in numbers)
    assert_resumed(method, other, PROBLEM, tmp_path / "run.npz", Uniform(2))


def test_what_needs_rounds_that_are_alike_refuses_random_numbers() -> None:
    method = fc.FedGD(stepsize=SIZE, local_steps=RANDOM)
    for analysis in (
        lambda: fc.fixed_point(method, PROBLEM), lambda: worst_case(method, CLIENTS), lambda: lyapunov(method, CLIENTS),
        lambda: fc.simulate(method, PROBLEM, 2, stragglers=Stragglers(0.5)),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=r"local_steps|local_solver|stragglers"):
            analysis()  # type: ignore[no-untyped-call]
    assert not any("local" in a.statement.identifier for a in bounds_for(method, PROBLEM).applies)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"numbers": ()}, "numbers = .*empty"),
        ({"numbers": (0, 1)}, r"numbers\[0\]"),
        ({"numbers": (1, 1.5)}, r"numbers\[1\]"),
        ({"numbers": 3}, "no collection"),
        ({"numbers": (1, 2), "chances": (1,)}, "chances = .*not 2"),
        ({"numbers": (1, 2), "chances": (1, 0)}, r"chances\[1\]"),
        ({"numbers": (1, 2), "chances": (1, float("nan"))}, r"chances\[1\]"),
    ],
)
def test_bad_distributions(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        fc.RandomNumberOfSteps(**given)


def test_a_solver_and_a_method_that_cannot() -> None:
    with pytest.raises(InvalidInput, match="RandomNumberOfSteps"):
        fc.RandomSteps(steps=3, stepsize=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="local_steps"):
        fc.PFedMe(regularization=1, stepsize=SIZE, local_steps=RANDOM)  # type: ignore[arg-type]
