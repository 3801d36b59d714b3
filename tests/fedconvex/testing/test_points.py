"""assert_minimizer and assert_fixed_point, against Gaussian elimination in Fractions and exact rounds."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import fedgd_equation, fedprox_equation, kernel, least_norm, terms_of
from run_makers import assert_refused

import fedconvex as fc
from fedconvex import strategies
from fedconvex.methods.averaging import Averaging
from fedconvex.testing import NotDecided, assert_fixed_point, assert_minimizer

LINE = fc.Quadratic([[[2]], [[1]]], [[1], [5]])  # minimiser 2
FLAT = fc.LeastSquares([[[1, 0]]], [[1]])  # every (1, t)
UNBOUNDED = fc.Quadratic([[[0]]], [[1]])
LOGISTIC = fc.Logistic([[[1]], [[2], [-1]]], [[1], [1, -1]], ridge=Fraction(1, 10))


@given(strategies.least_squares_problems(), st.data())
def test_exact_minimisers_pass_and_moved_ones_fail(problem: Any, data: Any) -> None:
    H, c = terms_of(problem).summed()
    x = least_norm(H, c)
    assert x is not None
    assert_minimizer(problem, x)
    along = data.draw(st.sampled_from([*kernel(H), 0 * x]))
    assert_minimizer(problem, x + 7 * along)
    away = H @ np.array(data.draw(st.lists(st.integers(-2, 2), min_size=len(x), max_size=len(x))), dtype=object)
    if any(away):  # orthogonal to the minimisers
        with pytest.raises(AssertionError, match="is not a minimiser"):
            assert_minimizer(problem, x + away / Fraction(10**40))


def test_the_tolerance_is_exact() -> None:
    third = Fraction(1, 3)
    assert_minimizer(LINE, [2 + third], third)
    with pytest.raises(AssertionError):
        assert_minimizer(LINE, [2 + third], third - Fraction(1, 10**40))
    assert_minimizer(LINE, [2.0])
    with pytest.raises(AssertionError, match=r"distance"):
        assert_minimizer(LINE, [np.nextafter(2.0, 3)])
    assert_minimizer(LINE, [np.nextafter(2.0, 3)], 1e-15)


def test_the_nearest_of_many_counts() -> None:
    assert_minimizer(FLAT, [1, 10**6])
    assert_minimizer(FLAT, [1 + Fraction(1, 100), 5], Fraction(1, 100))
    with pytest.raises(AssertionError):
        assert_minimizer(FLAT, [1 + Fraction(1, 99), 5], Fraction(1, 100))


def test_the_message_shows_the_numbers() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_minimizer(LINE, [Fraction(5, 2)], Fraction(1, 4))
    message = str(failure.value)
    for shown in ("5/2", "[2]", "0.5", "1/4", "gradient at x", "[0.75]"):
        assert shown in message
    with pytest.raises(AssertionError, match="there is none"):
        assert_minimizer(UNBOUNDED, [0])


@given(strategies.logistic_problems(max_dim=1), st.sampled_from([1e-3, 1e-8]))
def test_logistic_minimisers_are_enclosed(problem: Any, tolerance: float) -> None:
    """The second route: where the gradient changes its sign, there is the minimiser."""
    x = float(fc.ground_truth(problem).point[0])
    assert_minimizer(problem, [x], tolerance)
    low, high = (float(problem.gradient(np.array([x + side]))[0]) for side in (-tolerance, tolerance))
    assert low < 0 < high
    with pytest.raises(AssertionError):
        assert_minimizer(problem, [x + 2 * tolerance], tolerance)


def test_too_wide_an_enclosure_is_no_answer() -> None:
    x = fc.ground_truth(LOGISTIC).point
    with pytest.raises(NotDecided, match="not decided"):
        assert_minimizer(LOGISTIC, x, 1e-300)


@given(strategies.least_squares_problems(full_rank=True), st.integers(1, 3))
def test_fixed_points_by_the_papers_formulas(problem: Any, local_steps: int) -> None:
    terms = terms_of(problem)
    gradient_steps = fc.FedGD(stepsize=Fraction(1, 100), local_steps=local_steps)
    for method, equation in (
        (fc.FedProx(mu=Fraction(1, 2)), fedprox_equation(terms, Fraction(1, 2))),
        (gradient_steps, fedgd_equation(terms, Fraction(1, 100), local_steps)),
    ):
        x = least_norm(*equation)
        assert x is not None
        assert_fixed_point(method, problem, x)
        with pytest.raises(AssertionError, match="not a fixed point"):
            assert_fixed_point(method, problem, x + 1)
    x = least_norm(*terms.summed())
    assert x is not None
    assert_fixed_point(fc.FedSplit(stepsize=1), problem, x)
    assert_fixed_point(fc.FedDyn(alpha=2), problem, x)


@given(
    strategies.quadratic_problems(mu=1, L=4, positive_weights=True),
    st.sampled_from([fc.FedProx(mu=1), fc.FedGD(stepsize=1)]),
)
def test_what_passes_stays_where_it_is(problem: Any, method: Any) -> None:
    x = fc.fixed_point(method, problem, arithmetic="exact").point
    assert_fixed_point(method, problem, x)
    after = fc.simulate(method, problem, 1, x0=x, arithmetic="exact", progress=False).points[1]
    assert (after == x).all()


def test_the_minimiser_is_not_where_fedprox_stops() -> None:
    two = fc.Quadratic([[[1]], [[2]]], [[1], [-2]])
    assert_minimizer(two, [Fraction(-1, 3)])
    with pytest.raises(AssertionError, match="not a fixed point of FedProx"):
        assert_fixed_point(fc.FedProx(mu=1), two, [Fraction(-1, 3)])
    assert_fixed_point(fc.FedProx(mu=1), two, [Fraction(-1, 3)], Fraction(1, 2))
    assert_fixed_point(fc.FedSplit(stepsize=1), two, [Fraction(-1, 3)])


@final
@dataclass(frozen=True, kw_only=True)
class Shortened(Averaging):
    """FedGD with a fault: the server goes only half of the way and a little beside it."""

    stepsize: Any
    local_steps: int = 1

    @property
    def local_solver(self) -> Any:
        return fc.GradientDescent(steps=1, stepsize=self.stepsize)

    def update(self, state: Any, cohort: Any, answers: Any) -> Any:
        moved = super().update(state, cohort, answers)
        return type(state)((moved.server + state.server) / 2 + 1)


def test_the_fixed_point_is_that_of_the_methods_own_rounds() -> None:
    method, rest = Shortened(stepsize=Fraction(1, 2)), [Fraction(14, 3)]
    with pytest.raises(AssertionError, match="not a fixed point"):
        assert_fixed_point(method, LINE, [2])
    assert_fixed_point(method, LINE, rest)
    assert fc.simulate(method, LINE, 1, x0=rest, arithmetic="exact", progress=False).points[1].tolist() == rest
    assert_fixed_point(fc.FedGD(stepsize=Fraction(1, 2)), LINE, [2])


def test_logistic_fixed_points_and_none_at_all() -> None:
    stop = fc.fixed_point(fc.FedProx(mu=1), LOGISTIC)
    assert_fixed_point(fc.FedProx(mu=1), LOGISTIC, stop.point, 1e-9)
    with pytest.raises(AssertionError, match="not a fixed point"):
        assert_fixed_point(fc.FedProx(mu=1), LOGISTIC, stop.point + 1e-3, 1e-9)
    with pytest.raises(AssertionError, match="there is none"):
        assert_fixed_point(fc.FedGD(stepsize=1), UNBOUNDED, [0])


def test_memory_that_chooses_among_many_is_not_decided() -> None:
    flat, steps = fc.Quadratic([[[0]], [[0]]], [[0], [0]]), fc.GradientDescent(steps=1, stepsize=1)
    with pytest.raises(NotDecided, match="many fixed points"):
        assert_fixed_point(fc.FedSplit(stepsize=1), flat, [0], local_solver=steps)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: assert_minimizer("problem", [0]), "problem"),
        (lambda: assert_minimizer(LINE, [0, 1]), "x"),
        (lambda: assert_minimizer(LINE, [np.nan]), "x[0]"),
        (lambda: assert_minimizer(LINE, [0], -1), "tolerance"),
        (lambda: assert_minimizer(LOGISTIC, [0]), "tolerance"),
        (lambda: assert_minimizer(LINE, fc.fixed_point(fc.FedProx(mu=1), LINE, arithmetic="ball").point), "x"),
        (lambda: assert_fixed_point("method", LINE, [0]), "method"),
    ],
)
def test_bad_input(call: Any, named: str) -> None:
    assert assert_refused(call).argument == named
