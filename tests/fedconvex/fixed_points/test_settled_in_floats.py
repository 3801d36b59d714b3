"""Fixed points of methods with memory in floats: against the exact map of a round, refused where rounding shows."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, example, given
from problem_makers import few, least_squares

import fedconvex as fc
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.one_round import OneRoundMap
from fedconvex.runs.rounds import rounds_of

STEPS = fc.GradientDescent(steps=2, stepsize=Fraction(1, 40))
FROM_CENTER = fc.FedSplit(stepsize=Fraction(1, 2), start="center")
FLAT = fc.LeastSquares(A=[[[1, 0]], [[2, 0]]], b=[[1], [3]])  # nothing depends on the second coordinate


def exact_map(method, problem, solver) -> OneRoundMap:
    return OneRoundMap.of(rounds_of(method, problem, "exact", solver))


def test_the_anchored_method_answers_on_diabetes() -> None:
    """Ten clients, 132 numbers in the state: the exact map of one round has numbers too long to solve with."""
    problem = fc.data.diabetes(clients=10)
    method = fc.RegularizedFedSplit(stepsize=1.0, regularization=0.5)
    with patch.object(OneRoundMap, "of", side_effect=AssertionError("floats need no exact map")):
        point = fc.fixed_point(method, problem).point
    H, c = problem.weighted_hessian("float"), problem.weighted_linear_term("float")
    by_hand = np.linalg.solve(H + 0.5 * np.eye(problem.dim), c)
    assert abs(point - by_hand).max() < 1e-9 * abs(by_hand).max()
    rounds = rounds_of(method, problem)
    state = rounds.start(np.zeros(problem.dim))
    for _ in range(1500):
        state = rounds.advance(state)
    assert abs(state.server - point).max() < 1e-6 * abs(point).max()


CANCELLED = fc.LeastSquares(  # the fixed point is 0: two products of the same size cancel, up to rounding in floats
    A=[[[Fraction(-1, 3)], [Fraction(2, 3)]]], b=[[Fraction(-4, 3), Fraction(-2, 3)]]
)


@few
@example(problem=CANCELLED)
@given(problem=least_squares())
def test_floats_agree_with_the_exact_map(problem) -> None:
    settled = QuadraticFixedPoints(FROM_CENTER, problem, STEPS)._settled_in_floats()
    assume(settled is not None)
    by_rounds = exact_map(FROM_CENTER, problem, STEPS)
    exact = np.array([float(v) for v in by_rounds.point])
    assert by_rounds.unique
    assert abs(settled.server - exact).max() <= 1e-6 * (1e-6 + abs(exact).max())


@pytest.mark.parametrize(
    ("problem", "solver"),
    [
        (FLAT, STEPS),  # singular: whole lines of fixed points
        (fc.LeastSquares(A=[[[1, 0], [0, 1e-9]], [[2, 0], [0, 1e-9]]], b=[[1, 1], [3, 1]]), STEPS),  # nearly
        (fc.LeastSquares(A=[[[1]], [[2]]], b=[[1], [3]]), fc.GradientDescent(steps=2, stepsize=1e-12)),  # hardly moves
    ],
)
def test_floats_leave_to_rationals_what_rounding_hides(problem, solver) -> None:
    assert QuadraticFixedPoints(FROM_CENTER, problem, solver)._settled_in_floats() is None
    floats, exact = (fc.fixed_point(FROM_CENTER, problem, name, local_solver=solver) for name in ("float", "exact"))
    assert floats.point.tolist() == [float(v) for v in exact.point]
