"""Fixed points of methods with client memory: general theorems against the exact map of one round."""

from contextlib import suppress
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, least_squares

import fedconvex as fc
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.fixed_points.one_round import OneRoundMap
from fedconvex.methods import Method
from fedconvex.runs.rounds import rounds_of

STEPS = fc.GradientDescent(steps=2, stepsize=Fraction(1, 40))
RIGHT = [
    fc.FedDyn(alpha=2),
    fc.FedPD(eta=Fraction(1, 2)),
    fc.DANE(mu=3),
    fc.FedDANE(mu=3),
    fc.Scaffold(stepsize=1, local_steps=1),
    fc.Scaffold(stepsize=1, local_steps=1, option=1),
    fc.FedSplit(stepsize=Fraction(1, 2), start="server"),
    fc.FedSplit(stepsize=Fraction(1, 2), start="warm"),
]
BIASED = [
    fc.FedGD(stepsize=1),
    fc.FedProx(mu=1),
    fc.FedNova(stepsize=1),
    fc.FedSplit(stepsize=Fraction(1, 2), start="center"),
]
CLASH = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]], weights=[1, 2])


def is_stationary(method: Method, solver, problem) -> bool:
    return QuadraticFixedPoints(method, problem, solver).pull == 0


def one_round(method: Method, problem, solver=STEPS) -> OneRoundMap:
    return OneRoundMap.of(rounds_of(method, problem, "exact", solver))


@pytest.mark.parametrize("method", RIGHT, ids=repr)
def test_steps_that_may_climb_prove_nothing(method) -> None:
    assert is_stationary(method, STEPS, CLASH)
    assert not is_stationary(method, fc.GradientDescent(steps=2, stepsize=1), CLASH)


@few
@given(problem=least_squares(), method=st.sampled_from(RIGHT), stepsize=st.sampled_from([1, Fraction(5, 2), 9]))
def test_a_single_step_of_any_length_rests_at_stationary_points_alone(problem, method, stepsize) -> None:
    """By the formulas, and by the exact map of one round."""
    one = fc.GradientDescent(steps=1, stepsize=stepsize)
    assert is_stationary(method, one, problem)
    found = one_round(method, problem, one)
    with suppress(fc.errors.NoFixedPoint):
        server = np.array(found.fixed_state[: problem.dim])
        assert not any(problem.gradient(server))


def test_descent_is_decided_at_its_limit() -> None:
    problem = fc.LeastSquares(A=[[[2]], [[1]]], b=[[1], [3]])  # L = 4, 1
    below, at = (fc.GradientDescent(steps=2, stepsize=Fraction(2, 7) - gap) for gap in (Fraction(1, 10**9), 0))
    assert below.descends(problem, None, 3)
    assert not at.descends(problem, None, 3)
    assert not below.descends(problem, (Fraction(2), Fraction(1)), 3)


def test_at_that_limit_two_steps_lead_back() -> None:
    """x ↦ −x twice: any point is its own answer, so that FedDyn rests anywhere."""
    problem = fc.LeastSquares(A=[[[2]], [[2]]], b=[[1], [3]])
    there_and_back = fc.GradientDescent(steps=2, stepsize=Fraction(2, 7))
    stop = fc.fixed_point(fc.FedDyn(alpha=3), problem, "exact", local_solver=there_and_back)
    assert not is_stationary(fc.FedDyn(alpha=3), there_and_back, problem)
    assert stop.unique is False


@few
@given(
    problem=least_squares(),
    method=st.sampled_from([*RIGHT, *BIASED]),
    steps=st.integers(1, 3),
    stepsize=st.sampled_from([Fraction(1, 40), Fraction(1, 8), Fraction(1, 3)]),
)
def test_lyapunov_and_schur_agree(problem, method, steps, stepsize) -> None:
    here = one_round(method, problem, fc.GradientDescent(steps=steps, stepsize=stepsize))
    with patch.object(OneRoundMap, "_contracts", False):
        decided = one_round(method, problem, fc.GradientDescent(steps=steps, stepsize=stepsize)).attracting
    assert decided is not None
    assert here.attracting is decided
    if here.unique and here._contracts:
        assert decided  # a proof of convergence where eigenvalues say otherwise would be wrong


@pytest.mark.sample(4)
@pytest.mark.beyond_core
@pytest.mark.parametrize("method", RIGHT, ids=repr)
def test_larger_problems_are_decided_in_time(method) -> None:
    rng = np.random.default_rng(5)
    problem = fc.LeastSquares(A=[rng.standard_normal((6, 5)) for _ in range(4)], b=rng.standard_normal((4, 6)))
    stop = fc.fixed_point(method, problem, local_solver=fc.GradientDescent(steps=2, stepsize=0.01))
    assert (stop.unique, stop.bias_norm < 1e-10) == (True, True)
    assert stop.attracting is True
    run = fc.simulate(method, problem, 3000, x0=np.ones(5), local_solver=fc.GradientDescent(steps=2, stepsize=0.01))
    assert abs(run.points[-1] - stop.point).max() < 1e-6 * abs(run.points[0] - stop.point).max()


@few
@given(problem=least_squares(), alpha=st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(3)]))
def test_what_never_grows_under_feddyn(problem, alpha) -> None:
    """α mean‖θ_k − x*‖² + (1/α) mean‖g_k − ∇F_k(x*)‖², on which its convergence rests, for any minimiser x*."""
    goal = fc.fixed_point(fc.FedDyn(alpha=alpha), problem, "exact").point
    rounds = rounds_of(fc.FedDyn(alpha=alpha), problem, "exact")
    state = rounds.start(rounds.arithmetic.array(np.zeros(problem.dim)))
    scale = np.array([problem.num_clients * weight for weight in problem.exact_weights], dtype=object)[:, None]
    last = None
    for _ in range(4):
        played = rounds.play(state)
        state = played.state
        answers, gradients = (
            rounds.arithmetic.publish(stack) for stack in (played.answers.points, state.memory["gradient"])
        )
        size = alpha * ((answers - goal) ** 2).sum()
        size += ((gradients - scale * problem.client_gradients(goal)) ** 2).sum() / alpha
        assert last is None or size <= last
        last = size
