"""Three exact rounds of each method against its paper's pseudo-code; float, torch and balls against the exact ones."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import (
    ENTRIES,
    POSITIVE,
    Terms,
    ball_contains,
    few,
    floats,
    fractions,
    least_squares,
    prox,
    proximal_weight_suffices,
    quadratics,
    terms_of,
    weighted,
)

import fedconvex as fc

PROBLEMS = st.one_of(least_squares(), quadratics())
X0 = st.lists(ENTRIES, min_size=3, max_size=3)
T = 3
UNEQUAL = fc.Quadratic(
    H=[[[2, 1], [1, 3]], [[1, 0], [0, 0]], [[5, -1], [-1, 1]]],
    c=[[1, 2], [Fraction(1, 3), 0], [-1, 4]],
    weights=[1, 2, Fraction(1, 2)],
)
METHODS = [
    fc.FedGD(stepsize=Fraction(1, 7), local_steps=3),
    fc.FedProx(mu=Fraction(5, 3)),
    fc.FedSplit(stepsize=Fraction(2, 5)),
]


def plain_mean(rows: list[np.ndarray]) -> np.ndarray:
    return sum(rows, 0 * rows[0]) / Fraction(len(rows))


def fedgd(terms: Terms, s: Fraction, e: int, x: np.ndarray) -> np.ndarray:
    """FedSplit paper, (3), (4)."""
    points = [x]
    for _ in range(T):
        answers = []
        for H, c in zip(terms.H, terms.c, strict=True):
            theta = points[-1]
            for _ in range(e):
                theta = theta - s * (H @ theta - c)
            answers.append(theta)
        points.append(weighted(terms.w, answers))
    return np.stack(points)


def fedprox(terms: Terms, mu: Fraction, x: np.ndarray, average: Callable | None = None) -> np.ndarray:
    """FedSplit paper, (6), with s = 1/mu and the problem's weights."""
    points = [x]
    for _ in range(T):
        answers = [prox(H, c, 1 / mu, points[-1]) for H, c in zip(terms.H, terms.c, strict=True)]
        points.append(weighted(terms.w, answers) if average is None else average(answers))
    return np.stack(points)


def fedsplit(terms: Terms, s: Fraction, x: np.ndarray, centering: int = 2) -> np.ndarray:
    """FedSplit paper, Algorithm 1, on the clients m·w_k·f_k."""
    terms = terms.as_a_sum()
    points, z = [x], [x] * len(terms.w)
    for _ in range(T):
        x = points[-1]
        half = [prox(H, c, s, 2 * x - z_j) for H, c, z_j in zip(terms.H, terms.c, z, strict=True)]
        z = [z_j + centering * (h - x) for z_j, h in zip(z, half, strict=True)]
        points.append(plain_mean(z))
    return np.stack(points)


def transcribed(method: object, terms: Terms, x0: np.ndarray) -> np.ndarray:
    if isinstance(method, fc.FedGD):
        return fedgd(terms, method.stepsize, method.local_steps, x0)
    return fedprox(terms, method.mu, x0) if isinstance(method, fc.FedProx) else fedsplit(terms, method.stepsize, x0)


def run(method, problem, arithmetic: str, x0=None):
    return fc.simulate(method, problem, rounds=T, x0=x0, arithmetic=arithmetic).points


@few
@given(problem=PROBLEMS, x0=X0, s=POSITIVE, e=st.integers(1, 7))
def test_fedgd_exactly(problem, x0, s, e) -> None:
    x0 = fractions(x0)[: problem.dim]
    points = run(fc.FedGD(stepsize=s, local_steps=e), problem, "exact", x0)
    assert np.array_equal(points, fedgd(terms_of(problem), s, e, x0))
    assert all(type(entry) is Fraction for entry in points.ravel())


@few
@given(problem=PROBLEMS, x0=X0, extra=POSITIVE)
def test_fedprox_exactly(problem, x0, extra) -> None:
    x0, mu = fractions(x0)[: problem.dim], extra + (5 if isinstance(problem, fc.Quadratic) else 0)
    terms = terms_of(problem)
    if proximal_weight_suffices(terms, mu):
        assert np.array_equal(run(fc.FedProx(mu=mu), problem, "exact", x0), fedprox(terms, mu, x0))


@few
@given(problem=PROBLEMS, x0=X0, s=POSITIVE)
def test_fedsplit_exactly(problem, x0, s) -> None:
    x0, s = fractions(x0)[: problem.dim], s / (15 if isinstance(problem, fc.Quadratic) else 1)
    terms = terms_of(problem)
    if proximal_weight_suffices(terms.as_a_sum(), 1 / s):
        assert np.array_equal(run(fc.FedSplit(stepsize=s), problem, "exact", x0), fedsplit(terms, s, x0))


def test_floats_are_the_dyadic_rationals_that_they_are() -> None:
    problem = fc.LeastSquares(A=[[[0.1, 2.5]], [[1.0, 0.3], [0.7, 0.2]]], b=[[0.6], [0.1, 0.2]], weights=[0.3, 0.9])
    terms = terms_of(problem)
    assert terms.w == [Fraction(0.3) / (Fraction(0.3) + Fraction(0.9)), Fraction(0.9) / (Fraction(0.3) + Fraction(0.9))]
    x0 = fractions([0.1, -0.7])
    assert np.array_equal(
        run(fc.FedGD(stepsize=0.1, local_steps=2), problem, "exact", [0.1, -0.7]), fedgd(terms, Fraction(0.1), 2, x0)
    )
    assert not np.array_equal(
        run(fc.FedGD(stepsize=0.1, local_steps=2), problem, "exact", [0.1, -0.7]), fedgd(terms, Fraction(1, 10), 2, x0)
    )


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_zero_rounds_give_the_start(method) -> None:
    trajectory = fc.simulate(method, UNEQUAL, rounds=0, x0=[1, Fraction(1, 3)], arithmetic="exact")
    assert trajectory.points.tolist() == [[1, Fraction(1, 3)]]


@few
@given(problem=least_squares(), x0=X0, method=st.sampled_from(METHODS))
def test_other_arithmetics_agree_with_the_exact_rounds(problem, x0, method) -> None:
    x0 = x0[: problem.dim]
    exact = transcribed(method, terms_of(problem), fractions(x0))
    balls = run(method, problem, "ball", x0)
    assert all(ball_contains(ball, value) for ball, value in zip(balls.ravel(), exact.ravel(), strict=True))
    assert max(float(ball.rad()) for ball in balls.ravel()) < 1e-25 * (1 + abs(floats(exact)).max())
    for arithmetic in ("float", "torch"):
        points = np.asarray(run(method, problem, arithmetic, x0))
        assert points.dtype == np.float64
        assert abs(points - floats(exact)).max() <= 1e-12 * (1 + abs(floats(exact)).max())


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_balls_reject_a_neighbour(method) -> None:
    exact, balls = run(method, UNEQUAL, "exact"), run(method, UNEQUAL, "ball")
    tiny = Fraction(1, 10**20)
    assert all(ball_contains(ball, value) for ball, value in zip(balls[-1], exact[-1], strict=True))
    assert not any(ball_contains(ball, value + tiny) for ball, value in zip(balls[-1], exact[-1], strict=True))


@pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_runs_are_deterministic(method, arithmetic) -> None:
    first, again = (run(method, UNEQUAL, arithmetic, [1, -2]) for _ in range(2))
    assert np.array_equal(np.asarray(first), np.asarray(again))
    rebuilt = fc.Quadratic(UNEQUAL.H, UNEQUAL.c, UNEQUAL.exact_weights)
    assert np.array_equal(np.asarray(first), np.asarray(run(method, rebuilt, arithmetic, [1, -2])))


class TestThatTheComparisonRejects:
    """Each planted fault gives other points on a weighted problem, so the comparisons above can fail."""

    terms, x0 = terms_of(UNEQUAL), fractions([1, -2])

    def test_a_halved_centering_step(self) -> None:
        points = run(fc.FedSplit(stepsize=Fraction(2, 5)), UNEQUAL, "exact", self.x0)
        assert np.array_equal(points, fedsplit(self.terms, Fraction(2, 5), self.x0))
        assert not np.array_equal(points, fedsplit(self.terms, Fraction(2, 5), self.x0, centering=1))

    def test_fedsplit_without_the_weights(self) -> None:
        points = run(fc.FedSplit(stepsize=Fraction(2, 5)), UNEQUAL, "exact", self.x0)
        equal = Terms(self.terms.H, self.terms.c, [Fraction(1, 3)] * 3)
        assert not np.array_equal(points, fedsplit(equal, Fraction(2, 5), self.x0))

    def test_a_plain_mean_in_fedprox(self) -> None:
        points = run(fc.FedProx(mu=1), UNEQUAL, "exact", self.x0)
        assert np.array_equal(points, fedprox(self.terms, Fraction(1), self.x0))
        assert not np.array_equal(points, fedprox(self.terms, Fraction(1), self.x0, average=plain_mean))

    def test_one_local_step_too_few(self) -> None:
        points = run(fc.FedGD(stepsize=Fraction(1, 9), local_steps=3), UNEQUAL, "exact", self.x0)
        assert np.array_equal(points, fedgd(self.terms, Fraction(1, 9), 3, self.x0))
        assert not np.array_equal(points, fedgd(self.terms, Fraction(1, 9), 2, self.x0))

    def test_another_start(self) -> None:
        points = run(fc.FedProx(mu=1), UNEQUAL, "exact")
        assert not np.array_equal(points, fedprox(self.terms, Fraction(1), self.x0))
