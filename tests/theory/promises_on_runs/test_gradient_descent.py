"""Gradient descent: exact runs keep the textbook's rates, which are attained; more local steps break them."""

from fractions import Fraction
from typing import Any

from bound_makers import gradient, lower, mean, minimiser, square, starts, strongly_convex, upper, value
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, terms_of
from promises import Asked, at_most, promised

import fedconvex as fc
from fedconvex.statements.instance import Instance
from fedconvex.theory import bounds_for, nesterov
from fedconvex.theory.bounds import Applies

HALF = Fraction(1, 2)


@few
@given(strongly_convex(), st.data(), st.sampled_from([Fraction(1, 20), Fraction(1, 5), Fraction(1, 2)]))
def test_gradient_descent_of_any_stepsize(problem: Any, data: Any, s: Fraction) -> None:
    x0, terms, T = data.draw(starts(problem)), terms_of(problem), 3
    solution, method = minimiser(terms), fc.FedGD(stepsize=s)
    points = fc.simulate(method, problem, T, x0=x0, arithmetic="exact").points
    bounds = Asked(method, problem, x0=x0, rounds=T)
    assert at_most(square(points[T] - solution), promised(bounds, "nesterov.gradientstep") ** 2)
    if s * upper(Instance(problem, method).objective_smoothness) < 2:
        slopes = mean(square(gradient(terms, x)) for x in points[:T])
        assert at_most(slopes, promised(bounds, "nesterov.smoothfunctions"))
    else:
        assert not isinstance(bounds["nesterov.smoothfunctions"], Applies)


@few
@given(strongly_convex(), st.data(), st.integers(1, 6))
def test_gradient_descent_with_the_books_stepsizes(problem: Any, data: Any, T: int) -> None:
    x0, terms = data.draw(starts(problem)), terms_of(problem)
    solution = minimiser(terms)
    instance = Instance(problem, fc.FedGD(stepsize=1))
    L = Fraction(int(upper(instance.objective_smoothness) * 100) + 1, 100)
    mu = Fraction(int(lower(instance.objective_convexity) * 100), 100)
    convex, strong = fc.FedGD(stepsize=1 / L), fc.FedGD(stepsize=2 / (mu + L))
    points = fc.simulate(convex, problem, T, x0=x0, arithmetic="exact").points
    bound = promised(Asked(convex, problem, x0=x0, rounds=T, L=L), "nesterov.corollary2_1_2")
    assert at_most(value(terms, points[T]) - value(terms, solution), bound)
    points = fc.simulate(strong, problem, T, x0=x0, arithmetic="exact").points
    bounds = Asked(strong, problem, x0=x0, rounds=T, L=L, mu=mu, kappa=L / mu)
    assert at_most(square(points[T] - solution), promised(bounds, "nesterov.theorem2_1_15") ** 2)


def test_rates_of_gradient_descent_are_attained() -> None:
    """Curvatures 1 and 3, step 1/2: every step halves the error in both directions."""
    problem = fc.Quadratic([[[1, 0], [0, 3]]], [[0, 0]])
    points = fc.simulate(fc.FedGD(stepsize=HALF), problem, 5, x0=[1, 1], arithmetic="exact").points
    bound = promised(Asked(fc.FedGD(stepsize=HALF), problem, x0=[1, 1], rounds=5), "nesterov.gradientstep")
    assert square(points[5]) == Fraction(2, 4**5) <= upper(bound) ** 2
    assert square(points[5]) > (Fraction(999, 1000) * upper(bound)) ** 2


def test_more_local_steps_break_the_rate_of_one() -> None:
    problem = fc.Quadratic([[[1]], [[9]]], [[0], [90]])
    points = fc.simulate(fc.FedGD(stepsize=Fraction(1, 10), local_steps=9), problem, 40).points
    one = Asked(fc.FedGD(stepsize=Fraction(1, 10)), problem, rounds=40)
    assert abs(points[40][0] - 9) > 10 * float(promised(one, "nesterov.gradientstep"))
    several = bounds_for(fc.FedGD(stepsize=Fraction(1, 10), local_steps=9), problem, rounds=40)
    assert not any(e.statement.paper is nesterov.PAPER for e in several.applies)
