"""Products of floats with balls by integers of few bits: against rationals, and against flint's own matrix product."""

from fractions import Fraction
from unittest.mock import patch

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import ball_contains, few, fraction

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic import exact_products
from fedconvex.arithmetic.exact_products import SplitMatrix
from fedconvex.ground_truths.certificates import certify

numbers = st.floats(-1e9, 1e9, allow_subnormal=False).map(lambda v: v if abs(v) > 1e-9 else 0.0)
sizes = st.integers(1, 4)
quotients = st.builds(Fraction, st.integers(-(10**12), 10**12), st.integers(1, 10**6))


@st.composite
def factors(draw):
    n, p, C = draw(sizes), draw(sizes), draw(sizes)
    A = np.array(draw(st.lists(numbers, min_size=n * p, max_size=n * p))).reshape(n, p)
    middles = draw(st.lists(quotients, min_size=p * C, max_size=p * C))
    radii = draw(st.lists(st.sampled_from([0.0, 1e-30, 0.5, 1e20]), min_size=p * C, max_size=p * C))
    return A, middles, radii, (p, C)


@few
@given(given=factors(), precision=st.sampled_from([53, 128, 300]))
def test_products_enclose_and_are_as_narrow_as_flints(given, precision) -> None:
    A, middles, radii, shape = given
    with flint.ctx.workprec(precision):
        V = np.empty(shape, dtype=object)
        V.ravel()[:] = [flint.arb(flint.fmpq(m.numerator, m.denominator)) for m in middles]
        V.ravel()[:] = [flint.arb(v.mid(), r) for v, r in zip(V.ravel(), radii, strict=True)]
        found = SplitMatrix.of(A).times(V)
        by_flint = flint.arb_mat(*A.shape, A.ravel().tolist()) * flint.arb_mat(*shape, V.ravel().tolist())
    size = Fraction(float(abs(A).max())) * max(map(abs, middles)) * shape[0] + Fraction(1, 10**9)
    for i in range(len(A)):
        for j in range(shape[1]):
            # every number in the balls, the extreme ones above all
            for sign in (-1, 0, 1):
                terms = [
                    Fraction(float(a)) * (fraction(v.mid()) + sign * (1 if a > 0 else -1) * Fraction(r))
                    for a, v, r in zip(A[i], V[:, j], np.array(radii).reshape(shape)[:, j], strict=True)
                ]
                assert ball_contains(found[i, j], sum(terms))
            assert found[i, j].overlaps(by_flint[i, j])
            narrow = Fraction(float(by_flint[i, j].rad())) * (1 + Fraction(1, 10**6)) + size * Fraction(
                16, 2**precision
            )
            assert Fraction(float(found[i, j].rad())) <= narrow


def test_parts_that_are_too_long_are_noticed(monkeypatch) -> None:
    """With 64 exact bits, which floats do not have, products would round: the test above could tell."""
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((40, 30)), rng.standard_normal(30)
    V = np.array([flint.arb(v) for v in x.tolist()], dtype=object)[:, None]

    def misses() -> int:
        with flint.ctx.workprec(128):
            found = SplitMatrix.of(A).times(V)[:, 0]
        by_hand = [sum(Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True)) for row in A.tolist()]
        return sum(not ball_contains(ball, value) for ball, value in zip(found, by_hand, strict=True))

    assert misses() == 0
    monkeypatch.setattr(exact_products, "EXACT_BITS", 64)
    assert misses() > 0


@pytest.mark.parametrize(
    "A",
    [
        np.array([[Fraction(1, 3)]], dtype=object),
        np.array([[1.0, np.nan]]),
        np.array([[1e300]]),
        np.array([[1.0, 1e-200]]),
    ],
    ids=["rational", "NaN", "huge", "very different sizes"],
)
def test_other_matrices_are_left_to_flint(A) -> None:
    assert SplitMatrix.of(A) is None


@pytest.mark.parametrize("ball", [flint.arb(0, "inf"), flint.arb("nan"), flint.arb(2) ** 5000, flint.arb(0, 1e300)])
def test_other_balls_are_left_to_flint(ball) -> None:
    assert SplitMatrix.of(np.ones((1, 1))).times(np.array([[ball]], dtype=object)) is None


@pytest.mark.parametrize("outputs", [1, 3])
def test_gradients_agree_with_flints(outputs) -> None:
    rng = np.random.default_rng(outputs)
    A = [rng.standard_normal((n, 4)) * [1, 1e-6, 1e6, 0] for n in (5, 9)]
    problem = (
        fc.Logistic(A=A, y=[rng.choice([-1, 1], n) for n in (5, 9)], ridge=0.25)
        if outputs == 1
        else fc.MultinomialLogistic(A=A, y=[rng.integers(0, 3, n) for n in (5, 9)], num_classes=3, ridge=0.25)
    )
    balls = arithmetics.get("ball")
    with balls.context():
        x = balls.array(1e-4 * rng.standard_normal(problem.dim))
        here = problem.client_gradients(x)
        with patch.object(SplitMatrix, "of", return_value=None):
            by_flint = fc.problems.base.Problem.client_gradients(_again(problem), x)
    for one, other in zip(here.ravel(), by_flint.ravel(), strict=True):
        assert one.overlaps(other)
        assert float(one.rad()) <= 2 * float(other.rad()) + 1e-28


def _again(problem):
    """The same problem without anything computed."""
    if isinstance(problem, fc.Logistic):
        return fc.Logistic(A=problem.A, y=problem.y, ridge=problem.ridge)
    designs = [A[:, :-1] for A in problem.A]  # without the column of ones
    return fc.MultinomialLogistic(A=designs, y=problem.y, num_classes=problem.num_classes, ridge=problem.ridge)


def test_certificates_of_both_routes() -> None:
    """Newton's candidate, CVXPY's, and flint's own products agree; a moved point gets no small bound from any."""
    rng = np.random.default_rng(4)
    A, y = [(rng.random((60, 12)) < 0.3) * 1.0 for _ in range(5)], [rng.choice([-1, 1], 60) for _ in range(5)]
    problem = fc.Logistic(A=A, y=y, ridge=1e-3)
    newton, conic = fc.ground_truth(problem), fc.ground_truth(problem, solver="cvxpy")
    assert (newton.solver, conic.solver) == ("newton", "cvxpy, then newton")
    assert np.linalg.norm(newton.point - conic.point) <= newton.distance_bound + conic.distance_bound <= 1e-11
    with patch.object(SplitMatrix, "of", return_value=None):
        by_flint = certify(_again(problem), newton.point, "newton")
    assert newton.distance_bound == pytest.approx(by_flint.distance_bound, rel=1e-9)
    moved = certify(problem, newton.point + 1e-6, "newton")
    assert moved.distance_bound >= 1e-6 * problem.dim**0.5 - newton.distance_bound
