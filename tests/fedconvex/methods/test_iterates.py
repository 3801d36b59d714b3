"""Every method in every arithmetic against its exact rounds, which `test_pseudo_code.py` checks against the papers."""

from fractions import Fraction

import numpy as np
import pseudo_code
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import ENTRIES, ball_contains, few, floats, fractions, least_squares, terms_of
from round_cases import PARTIAL, UNEQUAL
from run_makers import instance

import fedconvex as fc
from fedconvex.local_solvers import Exact
from fedconvex.methods import METHODS, Method

X0 = st.lists(ENTRIES, min_size=3, max_size=3)
T = 3
SOME = fc.participation.Schedule(PARTIAL)


OTHERS = {"FedAvg", *(name for name, kind in METHODS.items() if kind.takes_square_roots)}  # FedAvg draws mini-batches
DETERMINISTIC = [instance(name) for name in METHODS if name not in OTHERS]
DETERMINISTIC += [
    fc.FedGD(stepsize=Fraction(1, 7), local_steps=3),
    fc.Scaffold(stepsize=Fraction(1, 7), local_steps=2, option=1),
    fc.FedSplit(stepsize=Fraction(2, 5), start="warm", server="active"),
]


def run(method: Method, problem: object, arithmetic: str, x0=None, participation=None, local_solver=None):
    return fc.simulate(
        method, problem, T, participation, x0=x0, arithmetic=arithmetic, local_solver=local_solver
    ).points


def test_no_method_is_left_out() -> None:
    assert {type(method).__name__ for method in DETERMINISTIC} | OTHERS == set(METHODS)
    assert sorted(OTHERS) == [
        "FedAdagrad",
        "FedAdam",
        "FedAvg",
        "FedYogi",
    ]  # adaptive ones in test_server_optimizers.py


def changes_of_the_loss(problem, points) -> np.ndarray:
    """f(w_{t+1}) − f(w_t), exactly."""
    H, c = terms_of(problem).summed()
    return np.diff([x @ H @ x / 2 - c @ x for x in points])


@pytest.mark.sample(4)
@pytest.mark.parametrize("participation", [None, SOME], ids=["everyone", "some"])
@pytest.mark.parametrize("method", DETERMINISTIC, ids=repr)
@few
@given(problem=least_squares(full_rank=True), x0=X0)
def test_other_arithmetics_agree_with_the_exact_rounds(method, participation, problem, x0) -> None:
    x0 = x0[: problem.dim]
    schedule = None
    if participation is not None:
        schedule = fc.participation.Schedule([[k for k in row if k < problem.num_clients] for row in SOME.clients])
    exact = run(method, problem, "exact", fractions(x0), schedule)
    assert all(type(entry) is Fraction for entry in exact.ravel())
    size = 1 + abs(floats(exact)).max()
    if not isinstance(method, fc.AdaptiveFedProx):  # balls that overlap cannot decide whether the loss rose
        balls = run(method, problem, "ball", x0, schedule)
        assert all(ball_contains(ball, value) for ball, value in zip(balls.ravel(), exact.ravel(), strict=True))
        assert max(float(ball.rad()) for ball in balls.ravel()) < 1e-20 * size
    elif min(abs(changes_of_the_loss(problem, exact))) < 1e-10:
        return  # rounded, an equal loss rises or falls
    for arithmetic in ("float", "torch"):
        points = np.asarray(run(method, problem, arithmetic, x0, schedule))
        assert points.dtype == np.float64
        assert abs(points - floats(exact)).max() <= 1e-11 * size


@pytest.mark.parametrize("method", DETERMINISTIC, ids=repr)
def test_balls_reject_a_neighbour(method) -> None:
    exact, balls = run(method, UNEQUAL, "exact"), run(method, UNEQUAL, "ball")
    tiny = Fraction(1, 10**20)
    assert all(ball_contains(ball, value) for ball, value in zip(balls[-1], exact[-1], strict=True))
    assert not any(ball_contains(ball, value + tiny) for ball, value in zip(balls[-1], exact[-1], strict=True))


@pytest.mark.parametrize("method", DETERMINISTIC, ids=repr)
def test_zero_rounds_give_the_start_and_another_start_another_run(method) -> None:
    trajectory = fc.simulate(method, UNEQUAL, rounds=0, x0=[1, Fraction(1, 3)], arithmetic="exact")
    assert trajectory.points.tolist() == [[1, Fraction(1, 3)]]
    if not isinstance(method.local_solver, Exact):  # exact proximal steps may forget the start
        assert not np.array_equal(run(method, UNEQUAL, "exact"), run(method, UNEQUAL, "exact", [1, -2]))


@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
@pytest.mark.parametrize("method", DETERMINISTIC, ids=repr)
def test_runs_are_deterministic(method, arithmetic) -> None:
    first, again = (run(method, UNEQUAL, arithmetic, [1, -2], SOME) for _ in range(2))
    assert np.array_equal(np.asarray(first), np.asarray(again))
    rebuilt = fc.Quadratic(UNEQUAL.H, UNEQUAL.c, UNEQUAL.exact_weights)
    assert np.array_equal(np.asarray(first), np.asarray(run(method, rebuilt, arithmetic, [1, -2], SOME)))


def test_floats_are_the_dyadic_rationals_that_they_are() -> None:
    problem = fc.LeastSquares(A=[[[0.1, 2.5]], [[1.0, 0.3], [0.7, 0.2]]], b=[[0.6], [0.1, 0.2]], weights=[0.3, 0.9])
    terms = terms_of(problem)
    assert terms.w == [Fraction(0.3) / (Fraction(0.3) + Fraction(0.9)), Fraction(0.9) / (Fraction(0.3) + Fraction(0.9))]
    points = run(fc.FedGD(stepsize=0.1, local_steps=2), problem, "exact", [0.1, -0.7])
    x0, everyone = fractions([0.1, -0.7]), [[0, 1]] * T
    assert np.array_equal(points, pseudo_code.fedavg(terms, x0, everyone, s=Fraction(0.1), e=2))
    assert not np.array_equal(points, pseudo_code.fedavg(terms, x0, everyone, s=Fraction(1, 10), e=2))
