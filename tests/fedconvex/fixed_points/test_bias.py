"""How far fixed points are from the minimiser: bias, its norm, whether it is exactly 0, and the gap."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import (
    POSITIVE,
    Terms,
    ball_contains,
    fedgd_equation,
    fedprox_equation,
    few,
    floats,
    inverse,
    least_norm,
    least_squares,
    proximal_weight_suffices,
    quadratics,
    terms_of,
)

import fedconvex as fc

# heterogeneous and well conditioned
TWO = fc.LeastSquares(A=[[[1, 0], [0, 2]], [[2, 1], [0, 1], [1, 1]]], b=[[1, 2], [0, 3, -1]], weights=[1, 2])
BIASED = [fc.FedGD(stepsize=Fraction(1, 10), local_steps=2), fc.FedProx(mu=2)]


def value(terms: Terms, x: np.ndarray) -> Fraction:
    H, c = terms.summed()
    return x @ H @ x / 2 - c @ x


def minimiser_exists(terms: Terms) -> bool:
    H, c = terms.summed()
    return least_norm(H, c) is not None and np.linalg.eigvalsh(floats(H))[0] > -1e-12


@few
@given(problem=st.one_of(least_squares(), quadratics()), s=POSITIVE)
def test_one_local_step_and_fedsplit_are_unbiased(problem, s) -> None:
    """The fixed points of gradient descent on the objective are the stationary points, whatever the clients."""
    terms = terms_of(problem)
    assume(minimiser_exists(terms))
    solvable = proximal_weight_suffices(terms.as_a_sum(), 1 / s)
    for method in (fc.FedGD(stepsize=s, local_steps=1), *[fc.FedSplit(stepsize=s)] * solvable):
        stop = fc.fixed_point(method, problem, "exact")
        assert (stop.bias_is_zero, stop.bias_norm, stop.gap) == (True, 0, 0)


@few
@given(problem=least_squares(), e=st.integers(1, 4), mu=POSITIVE, copies=st.integers(1, 3))
def test_equal_clients_are_unbiased(problem, e, mu, copies) -> None:
    """Section 2.2: where all clients share a minimiser, every method keeps it (s = 1/10⁴ makes FedGD's Φ regular)."""
    same = fc.LeastSquares([problem.A[0]] * copies, [problem.b[0]] * copies)
    for method in (fc.FedGD(stepsize=Fraction(1, 10**4), local_steps=e), fc.FedProx(mu=mu), fc.FedSplit(stepsize=mu)):
        stop = fc.fixed_point(method, same, "exact")
        assert stop.bias_is_zero
        gradient = same.A[0].T @ (same.A[0] @ stop.point - same.b[0])
        assert not gradient.any()


@pytest.mark.parametrize("method", BIASED, ids=repr)
def test_unequal_clients_are_biased_by_what_the_formulas_say(method) -> None:
    """The must-reject example of the tests above."""
    terms = terms_of(TWO)
    H, c = terms.summed()
    if isinstance(method, fc.FedGD):
        phi, q = fedgd_equation(terms, method.stepsize, method.local_steps)
    else:
        phi, q = fedprox_equation(terms, method.mu)
    point, minimiser = inverse(phi) @ q, inverse(H) @ c
    bias, gap = point - minimiser, value(terms, point) - value(terms, minimiser)
    assert bias.any()
    assert gap > 0

    exact = fc.fixed_point(method, TWO, "exact")
    assert np.array_equal(exact.minimizer, minimiser)
    assert np.array_equal(exact.bias, bias)
    assert exact.bias_norm == pytest.approx(float(bias @ bias) ** 0.5, rel=1e-15)
    assert exact.bias_is_zero is False
    assert exact.gap == gap
    assert type(exact.gap) is Fraction

    balls = fc.fixed_point(method, TWO, "ball")
    assert all(ball_contains(ball, entry) for ball, entry in zip(balls.bias, bias, strict=True))
    assert ball_contains(balls.gap, gap)
    with flint.ctx.workprec(4000):
        assert (balls.bias_norm * balls.bias_norm).contains(
            flint.fmpq((bias @ bias).numerator, (bias @ bias).denominator)
        )
    assert balls.bias_norm > 0
    assert not ball_contains(balls.gap, gap + Fraction(1, 10**15))

    for arithmetic in ("float", "torch"):
        numeric = fc.fixed_point(method, TWO, arithmetic)
        assert abs(np.asarray(numeric.bias) - floats(bias)).max() < 1e-14
        assert float(numeric.bias_norm) == pytest.approx(exact.bias_norm, rel=1e-12)
        assert float(numeric.gap) == pytest.approx(float(gap), rel=1e-12)


@pytest.mark.parametrize("arithmetic", ["float", "ball", "torch"])
def test_only_rationals_can_tell_that_a_bias_is_zero(arithmetic) -> None:
    stop = fc.fixed_point(fc.FedSplit(stepsize=1), TWO, arithmetic)
    with pytest.raises(fc.InvalidInput, match=r"arithmetic='exact'"):
        _ = stop.bias_is_zero


@pytest.mark.parametrize("arithmetic", ["exact", "float", "ball", "torch"])
def test_bias_is_measured_to_the_nearest_minimiser(arithmetic) -> None:
    """H_1 + H_2 = diag(2, 0): every (0, t) is a minimiser, and FedProx stops at (0, 1)."""
    problem = fc.Quadratic([np.eye(2, dtype=int), np.diag([1, -1])], [[0, 1], [0, -1]])
    phi, q = fedprox_equation(terms_of(problem), Fraction(2))
    assert (inverse(phi) @ q).tolist() == [0, 1]
    stop = fc.fixed_point(fc.FedProx(mu=2), problem, arithmetic)
    rounding = 0 if arithmetic == "exact" else 1e-15
    assert [float(entry) for entry in stop.point] == pytest.approx([0, 1], abs=rounding)
    assert [float(entry) for entry in stop.minimizer] == pytest.approx([0, 1], abs=rounding)
    assert float(stop.bias_norm) == pytest.approx(0, abs=rounding)


@pytest.mark.parametrize("arithmetic", ["exact", "float", "ball", "torch"])
def test_no_bias_where_there_is_no_minimiser(arithmetic) -> None:
    """The objective has curvature −1/2: its stationary point 1 is fixed, but minimises nothing."""
    problem = fc.Quadratic([[[1]], [[-2]]], [[1], [-2]])
    stop = fc.fixed_point(fc.FedGD(stepsize=1), problem, arithmetic)
    assert float(stop.point[0]) == 1
    assert stop.attracting is False
    with pytest.raises(fc.NoMinimizer) as caught:
        _ = stop.bias
    assert caught.value.witness[0] != 0
