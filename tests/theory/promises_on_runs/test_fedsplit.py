"""FedSplit: exact runs keep Theorem 1, which is attained; gradient steps in place of exact ones break it."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bound_makers import minimiser, square, starts, strongly_convex, upper
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, terms_of
from promises import Asked, at_most, promised

import fedconvex as fc
from fedconvex.statements.instance import Instance
from fedconvex.theory.bounds import Applies

HALF = Fraction(1, 2)


@few
@given(strongly_convex(), st.data(), st.sampled_from([Fraction(1, 10), HALF, Fraction(1), Fraction(3)]))
def test_fedsplit_contracts_as_theorem1_says(problem: Any, data: Any, s: Fraction) -> None:
    x0, solution = data.draw(starts(problem)), minimiser(terms_of(problem))
    points = fc.simulate(fc.FedSplit(stepsize=s), problem, 3, x0=x0, arithmetic="exact").points
    for t in (1, 2, 3):
        bounds = Asked(fc.FedSplit(stepsize=s), problem, x0=x0, rounds=t)
        assert at_most(square(points[t] - solution), promised(bounds, "fedsplit.theorem1") ** 2)
        assert promised(bounds, "fedsplit.equation16").overlaps(promised(bounds, "fedsplit.theorem1"))


@few
@given(strongly_convex(), st.data())
def test_fedsplit_with_the_best_stepsize_in_the_long_run(problem: Any, data: Any) -> None:
    x0 = data.draw(starts(problem)).astype(float)
    instance = Instance(problem, fc.FedSplit(stepsize=1))
    method = fc.FedSplit(stepsize=float((instance.mu * instance.smoothness).rsqrt()))
    solution = minimiser(terms_of(problem)).astype(float)
    distances = np.linalg.norm(fc.simulate(method, problem, 40, x0=x0).points - solution, axis=1)
    for t in (1, 5, 20, 40):
        bound = float(promised(Asked(method, problem, x0=x0, rounds=t), "fedsplit.theorem1"))
        assert distances[t] <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("s", [Fraction(1, 8), Fraction(1), Fraction(2)])
def test_theorem1_is_attained(s: Fraction) -> None:
    """On ½x² every round multiplies the error by (1 − s)/(1 + s): the bound, and nothing less."""
    problem, rounds = fc.Quadratic([[[1]]], [[0]]), 4
    points = fc.simulate(fc.FedSplit(stepsize=s), problem, rounds, x0=[1], arithmetic="exact").points
    bound = promised(Asked(fc.FedSplit(stepsize=s), problem, x0=[1], rounds=rounds), "fedsplit.theorem1")
    assert abs(points[rounds][0]) == abs((1 - s) / (1 + s)) ** rounds <= upper(bound)
    if s != 1:
        assert abs(points[rounds][0]) > Fraction(999, 1000) * upper(bound)


def test_fedsplit_with_gradient_steps_breaks_theorem1() -> None:
    problem, method = fc.Quadratic([[[1]], [[9]]], [[0], [90]]), fc.FedSplit(stepsize=Fraction(1, 3))
    solver = fc.GradientDescent(steps=1, stepsize=Fraction(1, 20))
    distance = abs(fc.simulate(method, problem, 60, None, solver, [0.0]).points[60][0] - 9)
    assert distance > 10 * float(promised(Asked(method, problem, rounds=60), "fedsplit.theorem1"))
    assert not isinstance(Asked(method, problem, solver=solver, rounds=60)["fedsplit.theorem1"], Applies)
