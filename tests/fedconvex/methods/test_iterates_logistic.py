"""Three rounds on logistic losses against the papers' pseudo-code to 50 digits, in floats, on torch and in balls."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from high_precision import encloses, fifty_digits, three_rounds, vector
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_makers import few, logistics, multinomials

import fedconvex as fc

METHODS = [
    fc.FedGD(stepsize=Fraction(1, 4), local_steps=3),
    fc.FedProx(mu=Fraction(1, 2)),
    fc.FedSplit(stepsize=Fraction(3, 2)),
]


@pytest.mark.slow
@settings(few, max_examples=15)
@given(problem=st.one_of(logistics(), multinomials()), method=st.sampled_from(METHODS), first=st.integers(-2, 2))
def test_three_rounds(problem, method, first) -> None:
    x0 = [first, *[Fraction(1, 3)] * (problem.dim - 1)]
    with fifty_digits():
        expected = three_rounds(method, problem, vector(x0))
        balls = fc.simulate(method, problem, rounds=3, x0=x0, arithmetic="ball").points
        assert all(encloses(ball, exact) for ball, exact in zip(balls, expected, strict=True))
        assert not encloses(balls[-1], expected[-1] + Decimal("1e-9"))
    exact = np.array([[float(v) for v in row] for row in expected])
    for arithmetic in ("float", "torch"):
        points = np.asarray(fc.simulate(method, problem, rounds=3, x0=x0, arithmetic=arithmetic).points)
        assert abs(points - exact).max() < 1e-12


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_another_weight_is_noticed(method) -> None:
    A, y = [[[1, 2], [3, -1]], [[0, 1], [1, 1], [2, -1]]], [[1, -1], [1, 1, -1]]
    problem, other = (fc.Logistic(A, y, ridge=1, weights=[1, w]) for w in (2, 3))
    with fifty_digits():
        expected = np.array([[float(v) for v in row] for row in three_rounds(method, problem, vector([0, 0]))])
    assert abs(fc.simulate(method, problem, rounds=3).points - expected).max() < 1e-13
    assert abs(fc.simulate(method, other, rounds=3).points - expected).max() > 1e-3
