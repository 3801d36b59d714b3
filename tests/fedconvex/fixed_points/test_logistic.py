"""Fixed points on logistic losses: fixed by a round, enclosed around the 50-digit fixed point, attracting or not."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from high_precision import encloses, fifty_digits, length, minimiser, vector
from high_precision import fixed_point as refined
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_makers import few, logistics, multinomials

import fedconvex as fc
from fedconvex.methods.base import State
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

fewer = settings(few, max_examples=8)
BINARY = fc.Logistic(
    A=[[[1, 2], [3, -1], [0, 1]], [[0, 1]], [[1, 1], [2, -1], [-1, Fraction(1, 2)], [1, 0], [0, -3]]],
    y=[[1, -1, 1], [1], [1, 1, -1, -1, 1]],
    ridge=Fraction(1, 10),
    weights=[1, 3, 2],
)
CLASSES = fc.MultinomialLogistic(A=[[[1], [-1], [2]], [[0], [3]]], y=[[0, 1, 2], [2, 0]], num_classes=3, ridge=0.5)
NO_RIDGE = fc.Logistic(A=[[[1, 2], [1, 2], [0, 1]], [[2, 1], [2, 1], [1, -1], [1, -1]]], y=[[1, -1, 1], [1, -1, 1, -1]])
MEMORYLESS = [
    fc.FedGD(stepsize=Fraction(1, 4), local_steps=1),
    fc.FedGD(stepsize=0.25, local_steps=4),
    fc.FedProx(mu=2),
]
METHODS = [*MEMORYLESS, fc.FedSplit(stepsize=1)]


def after_one_round(method, problem, point: np.ndarray) -> np.ndarray:
    """The server's point after a round from `point`; for FedSplit with the memories of its paper's (13)."""
    if not isinstance(method, fc.FedSplit):
        return fc.simulate(method, problem, rounds=1, x0=point).points[1]
    scale = problem.num_clients * problem.weights[:, None]
    memory = point - float(method.stepsize) * scale * problem.client_gradients(point)
    return rounds_of(method, problem, "float").advance(State(point, memory={"z": memory})).server


@pytest.mark.sample(1)
@pytest.mark.parametrize("problem", [BINARY, CLASSES, NO_RIDGE], ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_point_is_fixed_and_reached(method, problem) -> None:
    stop = fc.fixed_point(method, problem)
    assert stop.certainty is fc.Certainty.NUMERIC
    assert abs(after_one_round(method, problem, stop.point) - stop.point).max() < 1e-12
    assert abs(after_one_round(method, problem, stop.point + 0.1) - stop.point - 0.1).max() > 1e-4  # others move
    run = fc.simulate(method, problem, rounds=700, x0=np.full(problem.dim, 0.5)).points
    assert abs(run[-1] - stop.point).max() < 1e-9
    torch = fc.fixed_point(method, problem, "torch").point
    assert abs(np.asarray(torch) - stop.point).max() < 1e-12


@pytest.mark.sample(1)
@pytest.mark.parametrize("problem", [BINARY, CLASSES], ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_balls_enclose_the_fixed_point(method, problem) -> None:
    stop = fc.fixed_point(method, problem, "ball")
    assert stop.certainty is fc.Certainty.ENCLOSED
    assert (stop.unique, stop.attracting) == (True, True)
    assert max(float(ball.rad()) for ball in stop.point) < 1e-12
    with fifty_digits():
        optimum = minimiser(problem)
        exact = optimum if isinstance(method, fc.FedSplit) else refined(method, problem, optimum)
        assert encloses(stop.point, exact)
        assert encloses(stop.bias, exact - optimum)
        biased = length(exact - optimum)
        assert not encloses(stop.point, exact + Decimal("1e-11"))
        if isinstance(method, fc.FedSplit) or getattr(method, "local_steps", 0) == 1:
            assert biased < 1e-35  # Proposition 3, and Proposition 1 with e = 1
        else:
            assert biased > 1e-3
            assert not encloses(stop.point, optimum)
            assert stop.bias_norm > 1e-3
            assert stop.gap > 0


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_enclosures_without_a_ridge(method) -> None:
    """No strong convexity, but one minimiser."""
    stop = fc.fixed_point(method, NO_RIDGE, "ball")
    assert stop.unique is True
    assert stop.attracting is not False
    assert max(float(ball.rad()) for ball in stop.point) < 1e-12
    with fifty_digits():
        optimum = minimiser(NO_RIDGE)
        exact = optimum if isinstance(method, fc.FedSplit) else refined(method, NO_RIDGE, optimum)
        assert encloses(stop.point, exact)
        assert not encloses(stop.point, exact + Decimal("1e-11"))


@pytest.mark.parametrize("stepsize", [Fraction(1, 20), Fraction(1, 5)])
def test_fedprox_with_gradient_steps(stepsize) -> None:
    """Between FedProx and the clients' own gradient steps: another fixed point, enclosed all the same."""
    solver = fc.GradientDescent(steps=3, stepsize=stepsize)
    stop = fc.fixed_point(fc.FedProx(mu=2), BINARY, "ball", local_solver=solver)
    assert stop.attracting is not False
    limit = fc.simulate(fc.FedProx(mu=2), BINARY, rounds=1500, local_solver=solver).points[-1]
    exact = fc.fixed_point(fc.FedProx(mu=2), BINARY).point
    for ball, reached, other in zip(stop.point, limit, exact, strict=True):
        assert float(ball.rad()) < 1e-12
        assert abs(float(ball.mid()) - reached) < 1e-12
        assert abs(float(ball.mid()) - other) > 1e-6


@pytest.mark.slow
@fewer
@given(problem=st.one_of(logistics(), multinomials()), method=st.sampled_from(METHODS))
def test_random_problems(problem, method) -> None:
    stop = fc.fixed_point(method, problem)
    assert abs(after_one_round(method, problem, stop.point) - stop.point).max() < 1e-12
    balls = fc.fixed_point(method, problem, "ball").point
    assert max(float(ball.rad()) for ball in balls) < 1e-9
    with fifty_digits():
        exact = minimiser(problem)
        if not isinstance(method, fc.FedSplit):
            exact = refined(method, problem, vector(stop.point))
        assert encloses(balls, exact)
    stepsize_is_safe = not isinstance(method, fc.FedGD) or max(problem.L) < 2 / float(method.stepsize)
    if stepsize_is_safe and min(problem.weights) > 0:
        assert stop.attracting is True
    assert stop.attracting is not False or not stepsize_is_safe


@pytest.mark.parametrize("problem", [BINARY, CLASSES], ids=repr)
@pytest.mark.parametrize("local_steps", [1, 2, 3])
def test_a_much_too_large_stepsize_repels(problem, local_steps) -> None:
    method = fc.FedGD(stepsize=30, local_steps=local_steps)
    stop = fc.fixed_point(method, problem)
    assert stop.attracting is False
    assert stop.unique is not False
    nearby = fc.simulate(method, problem, rounds=60, x0=stop.point + 1e-9).points
    assert abs(nearby[-1] - stop.point).max() > 1e-3
    small = fc.FedGD(stepsize=Fraction(1, 50), local_steps=local_steps)
    assert fc.fixed_point(small, problem).attracting is True


@pytest.mark.parametrize(("stepsize", "local_steps"), [(5, 2), (5, 5), (20, 5), (8, 4)])
def test_a_repelling_point_is_still_a_fixed_point(stepsize, local_steps) -> None:
    """One exists (far out, a round is nearly a linear map without the eigenvalue 1); a point that moves is none."""
    problem = fc.Logistic([[[1, 2], [3, -1]], [[0, 1], [1, 1], [2, -1]]], [[1, -1], [1, 1, -1]], ridge=0.5)
    method = fc.FedGD(stepsize=stepsize, local_steps=local_steps)
    point = fc.fixed_point(method, problem).point
    moved = abs(after_one_round(method, problem, point) - point).max()
    expansion = (1 + stepsize * max(problem.L)) ** local_steps  # of rounding errors
    assert moved < 1e-15 * expansion


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_equal_clients_have_no_bias(method) -> None:
    """Section 2.2 of the FedSplit paper: a shared minimiser is kept by every method."""
    A, y = [[1, 2], [3, -1], [0, 1]], [1, -1, -1]
    problem = fc.Logistic([A, A, A], [y, y, y], ridge=Fraction(1, 5), weights=[1, 2, 4])
    stop = fc.fixed_point(method, problem, "ball")
    assert all(ball.contains(0) for ball in stop.bias)
    assert stop.bias_norm < 1e-12
    assert abs(fc.fixed_point(method, problem).bias).max() < 1e-12


def test_exact_arithmetic_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="impossible for logistic losses"):
        fc.fixed_point(fc.FedProx(mu=1), BINARY, "exact")
    with pytest.raises(fc.InvalidInput, match="impossible for logistic losses"):
        fc.simulate(fc.FedProx(mu=1), BINARY, rounds=1, arithmetic="exact")


@pytest.mark.parametrize("arithmetic", ["float", "ball"])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_separable_data_without_ridge(method, arithmetic) -> None:
    """All methods go off to infinity: no fixed point to report."""
    separable = fc.Logistic([[[1, 0], [2, 1]], [[-1, 3]]], [[1, 1], [-1]])
    with pytest.raises((fc.NoFixedPoint, fc.NoMinimizer), match="ridge") as caught:
        fc.fixed_point(method, separable, arithmetic)
    margins = [
        y * (a @ caught.value.witness)
        for A, Y in zip(separable.A, separable.y, strict=True)
        for a, y in zip(A, Y, strict=True)
    ]
    assert min(margins) >= 0
    assert max(margins) > 0


def test_inexact_local_steps_do_not_get_the_exact_methods_enclosure() -> None:
    """FedSplit with one gradient step stops elsewhere than at the minimiser (its paper's (16), b > 0)."""
    method, solver = fc.FedSplit(stepsize=1), fc.GradientDescent(steps=1, stepsize=Fraction(1, 10))
    run = fc.simulate(method, BINARY, rounds=4000, local_solver=solver).points
    assert abs(run[-1] - run[-2]).max() < 1e-14
    assert abs(run[-1] - fc.ground_truth(BINARY).point).max() > 1e-4
    try:
        balls = fc.fixed_point(method, BINARY, "ball", local_solver=solver).point
    except fc.InvalidInput:
        return  # as in floats: not known
    assert all(
        float(ball.lower()) - 1e-9 <= v <= float(ball.upper()) + 1e-9 for ball, v in zip(balls, run[-1], strict=True)
    )


@pytest.mark.parametrize("radius", [0, -3, float("nan"), "small"])
def test_a_target_radius_that_no_ball_reaches_is_refused(radius) -> None:
    with pytest.raises(fc.InvalidInput, match="target_radius"):
        fc.fixed_point(fc.FedProx(mu=1), fc.LeastSquares([[[1]]], [[1]]), "ball", target_radius=radius)


def test_without_a_ridge_krawczyks_theorem_encloses() -> None:
    """No contraction is known, the data are not separable: the enclosed point is proved to be the only one."""
    problem = fc.Logistic([[[1], [-1], [2]], [[1], [3]]], [[1, 1, -1], [-1, 1]])
    for method in (fc.FedProx(mu=Fraction(1, 3)), fc.FedGD(stepsize=Fraction(1, 2), local_steps=3)):
        stop = fc.fixed_point(method, problem, "ball")
        assert stop.unique
        assert stop.attracting
        assert max(float(ball.rad()) for ball in stop.point) < 1e-12
        with fifty_digits():
            assert encloses(stop.point, refined(method, problem, vector(fc.fixed_point(method, problem).point)))
    unsafe = fc.fixed_point(fc.FedGD(stepsize=4, local_steps=3), problem, "ball")
    assert unsafe.unique is None  # no averaged map: another fixed point is not excluded
