"""Logistic losses on wide, huge and infinite balls, against mpmath: the enclosures stay valid."""

import math

import flint
import numpy as np
import pytest
from high_precision import encloses
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from problem_makers import ball_contains, fraction

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.ground_truths.certificates import certify
from fedconvex.problems.linear_models_in_balls import WIDE, bell, sigmoid, softplus

BITS = [53, 128]
UNKNOWN = [flint.arb("nan"), flint.arb("inf"), flint.arb("-inf"), flint.arb(0, "inf")]
SLOPES = {
    "sigmoid": (sigmoid, lambda t: 1 / (1 + mp.exp(-t)) if t > 0 else mp.exp(t) / (1 + mp.exp(t))),
    "bell": (bell, lambda t: mp.exp(-abs(t)) / (1 + mp.exp(-abs(t))) ** 2),
}
ROUNDING = 1e-8  # radii have 30 bits
DIGITS = 700  # so that 1/2 + t and 1e300 − t are exact for every float t
middles = st.one_of(st.floats(-50, 50), st.sampled_from([0.0, 1e3, -1e3, 1e39, -1e39, 1e300, -1e300]))
radii = st.one_of(st.floats(0, 60), st.sampled_from([0.0, 1e-30, 1e20, 1e39, 1e300]))


def ends(middle: float, radius: float) -> list:
    return [mpf(middle) - mpf(radius), mpf(middle), mpf(middle) + mpf(radius)]


def holds(ball: flint.arb, exact) -> bool:
    """Whether the ball contains it; numbers below 1e-1000 are too long for rationals, and may as well be 0."""
    if exact < mpf(10) ** -1000:
        return bool(ball.lower() < 1e-300 and ball.upper() >= 0)
    return ball_contains(ball, fraction(exact))


def highest(name: str, radius: float) -> float:
    """What the enclosure may reach.

    1 for the sigmoid, and 1/4 for the bell, whose wide balls are evaluated at endpoints. A ball of radius r < `WIDE`
    goes through the formula: exp(−|t|) becomes d(1 ± ε) with d ≤ 1 and ε = exp(r) − 1, its successor's square
    (1 + d)² ± (2(1 + d)dε + d²ε²), and the quotient reaches d(1 + ε)/((1 + d)² − 2(1 + d)dε − d²ε²), which increases up
    to d = 1.
    """
    if name == "sigmoid":
        return 1.0
    epsilon = math.expm1(radius) if radius < WIDE else 0.0
    return (1 + epsilon) / (4 - 4 * epsilon - epsilon**2)


@settings(max_examples=200, deadline=None)
@example(middle=0.0, radius=0.0625, bits=53, name="bell")  # reaches 0.288
@given(middle=middles, radius=radii, bits=st.sampled_from(BITS), name=st.sampled_from(sorted(SLOPES)))
def test_slopes_are_enclosed_and_bounded(middle, radius, bits, name) -> None:
    function, exactly = SLOPES[name]
    with flint.ctx.workprec(bits):
        ball = function(flint.arb(middle, radius))
    with mp.workdps(DIGITS):
        for t in ends(middle, radius):
            assert holds(ball, exactly(t))
        assert ball.is_finite()
        assert float(ball.lower()) >= -ROUNDING
        assert float(ball.upper()) <= highest(name, radius) + ROUNDING
        if abs(middle) <= 50 and radius <= 1e-30:
            assert float(ball.rad()) < 1e-13


@settings(max_examples=100, deadline=None)
@given(middle=middles, radius=radii, bits=st.sampled_from(BITS))
def test_losses_are_enclosed(middle, radius, bits) -> None:
    with flint.ctx.workprec(bits):
        ball = softplus(flint.arb(middle, radius))
    with mp.workdps(DIGITS):
        for t in ends(middle, radius):
            assert holds(ball, max(t, mpf(0)) + mp.log1p(mp.exp(-abs(t))))
    assert ball.is_finite()


@pytest.mark.parametrize("unknown", UNKNOWN, ids=str)
def test_of_a_score_that_is_not_known_only_the_range_is(unknown) -> None:
    assert all(sigmoid(unknown).contains(v) for v in (0, 0.5, 1))
    assert all(bell(unknown).contains(v) for v in (0, 0.125, 0.25))
    assert not softplus(unknown).is_finite()
    assert softplus(unknown).contains(10**9)


HUGE = [fc.Logistic([[[1.0, 0.3], [1.0, -0.7], [1.0, 1.1], [-big, 1.0]]], [[-1, -1, 1, 1]], ridge=1e-3)
        for big in (1e30, 1e39, 1e45)]  # fmt: skip
SOFTMAX = fc.MultinomialLogistic([[[1.0], [1.0], [-1e39]]], [[0, 1, 2]], num_classes=3, ridge=1e-3)


def gradient(problem: fc.Logistic, x: np.ndarray) -> list:
    """∇f at a float point, in mpmath, one client."""
    x = [mpf(float(v)) for v in x]
    total = [mpf(float(problem.ridge)) * v for v in x]
    for row, y in zip(problem.A[0], problem.y[0], strict=True):
        a = [mpf(float(v)) for v in row]
        share = SLOPES["sigmoid"][1](-int(y) * sum(p * q for p, q in zip(a, x, strict=True))) / len(problem.y[0])
        total = [g - int(y) * share * v for g, v in zip(total, a, strict=True)]
    return total


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("solver", ["cvxpy", "newton"])
@pytest.mark.parametrize("problem", HUGE, ids=["1e30", "1e39", "1e45"])
def test_huge_scores_are_not_certified_as_stationary(problem, solver) -> None:
    """exp of a score near 1e39 is beyond balls of 128 bits; the gradient there is none the less not 0."""
    truth = fc.ground_truth(problem, solver=solver)
    for found in (truth, certify(problem, np.array([-5.3, 7.1]), "none")):
        with mp.workdps(120):
            size = mp.sqrt(sum(g * g for g in gradient(problem, found.point)))
            assert 0 < size <= found.gradient_bound
            assert size / (mpf(problem.L[0]) * 2) <= found.distance_bound
        assert found.distance_bound > 0
    assert truth.distance_bound < 1e-9


@pytest.mark.parametrize("precision", [53, 128])
@pytest.mark.parametrize("problem", HUGE, ids=["1e30", "1e39", "1e45"])
def test_fixed_points_at_huge_scores(problem, precision) -> None:
    """One client: FedProx stops at the minimiser, whichever way that is enclosed."""
    stop = fc.fixed_point(fc.FedProx(mu=1), problem, arithmetic="ball", precision=precision)
    truth = fc.ground_truth(problem).enclosure()
    assert all(x.rad() > 0 and x.overlaps(y) for x, y in zip(stop.point, truth, strict=True))


def test_softmax_probabilities_at_huge_scores() -> None:
    balls = arithmetics.get("ball", precision=53)
    with balls.context():
        point = [flint.arb(v, 0.5) for v in (3, 1, -1, 0, 2, 1)]
        clients = SOFTMAX.clients(balls)
        found, values = clients.gradients(balls.array(point))[0], clients.values(balls.array(point))
    with mp.workdps(60):
        for shift in (-0.5, 0.0, 0.5):
            x = [mpf(v) + shift for v in (3, 1, -1, 0, 2, 1)]
            value, exact = softmax_client(x)
            assert encloses(found, map(fraction, exact))
            assert encloses(values, [fraction(value)])
    assert values[0].is_finite()
    assert all(entry.is_finite() for entry in found)


def softmax_client(x: list) -> tuple:
    """f and ∇f of SOFTMAX's one client."""
    ridge = mpf(1e-3)
    value, exact = ridge / 2 * sum(v * v for v in x), [ridge * v for v in x]
    for row, y in zip(SOFTMAX.A[0], SOFTMAX.y[0], strict=True):
        a = [mpf(float(v)) for v in row]
        z = [sum(a[j] * x[2 * c + j] for j in range(2)) for c in range(3)]
        powers = [mp.exp(v - max(z)) for v in z]
        value += (mp.log(sum(powers)) + max(z) - z[int(y)]) / 3
        for c in range(3):
            for j in range(2):
                exact[2 * c + j] += (powers[c] / sum(powers) - (c == y)) * a[j] / 3
    return value, exact
