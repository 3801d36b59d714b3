"""Measurements at the current point and at the minimiser enclose values in rationals and in mpmath."""

from fractions import Fraction
from typing import Any

import flint
import high_precision as precise
import numpy as np
import pytest
from bound_makers import (
    as_seen_by,
    gradient,
    gradients,
    least_eigenvalue,
    mean,
    mean_square,
    minimiser,
    size_of,
    square,
    starts,
    strongly_convex,
    value,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from instance_makers import METHODS, PAIR, PROBLEMS, QUARTER, encloses, near, squared
from problem_makers import (
    ball_contains,
    few,
    fractions,
    inverse,
    least_squares,
    logistics,
    multinomials,
    quadratics,
    terms_of,
    weighted,
)

import fedconvex as fc
from fedconvex.statements.instance import Instance, Unmeasured


@few
@given(st.data(), PROBLEMS, METHODS)
def test_gradients_at_the_point(data: Any, problem: Any, method: Any) -> None:
    x = data.draw(starts(problem))
    terms, instance = as_seen_by(method, problem), Instance(problem, method, point=x)
    g, whole = gradients(terms, x), gradient(terms, x)
    assert all(encloses(b, v) for b, v in zip(instance.gradients.ravel(), np.concatenate(g), strict=True))
    assert encloses(instance.square, square(whole))
    assert encloses(instance.mean_square, mean_square(terms, x))
    assert encloses(squared(instance.client_gradient), max(map(square, g)))
    assert encloses(squared(instance.gradient), square(whole))
    assert encloses(instance.gradient_variance, mean_square(terms, x) - square(whole))
    if square(whole) > 0:
        assert encloses(squared(instance.dissimilarity), mean_square(terms, x) / square(whole))
    else:
        with pytest.raises(Unmeasured, match="gradient is not 0"):
            instance.measure("dissimilarity")


@few
@given(st.data(), quadratics(), METHODS)
def test_value_at_the_point(data: Any, problem: Any, method: Any) -> None:
    x = data.draw(starts(problem))
    assert encloses(Instance(problem, method, point=x).value, value(terms_of(problem), x))


@few
@given(st.data(), least_squares())
def test_value_of_least_squares(data: Any, problem: Any) -> None:
    x = data.draw(starts(problem))
    residuals = [square(fractions(A) @ x - fractions(b)) / 2 for A, b in zip(problem.A, problem.b, strict=True)]
    assert encloses(Instance(problem, fc.FedProx(mu=1), point=x).value, weighted(problem.exact_weights, residuals))


@few
@given(st.data(), strongly_convex())
def test_points_of_floats(data: Any, problem: Any) -> None:
    """A float point is the dyadic rational that it is."""
    x = data.draw(starts(problem)).astype(float)
    instance = Instance(problem, fc.FedProx(mu=1), point=x)
    assert encloses(instance.square, square(gradient(terms_of(problem), fractions(x))))


@few
@given(st.data(), strongly_convex(), METHODS)
def test_distances_to_the_minimiser(data: Any, problem: Any, method: Any) -> None:
    x, terms = data.draw(starts(problem)), as_seen_by(method, problem)
    instance, solution = Instance(problem, method, point=x), minimiser(terms)
    m = problem.num_clients
    averaged = [Fraction(1, m)] * m if method.plain else problem.exact_weights
    for ball, exact in [
        (instance.squared_distance, square(x - solution)),
        (squared(instance.distance), square(x - solution)),
        (instance.sigma_star2, weighted(averaged, [square(g) for g in gradients(terms, solution)])),
        (instance.initial_gap, value(terms, x) - value(terms, solution)),
        *zip(instance.minimizer, solution, strict=True),
    ]:
        assert ball_contains(ball, exact)
        assert float(ball.rad()) <= 1e-9 * (1 + abs(float(exact)))


@few
@given(st.data(), strongly_convex())
def test_spread_of_the_devices_minimisers(data: Any, problem: Any) -> None:
    x, method = data.draw(starts(problem)), fc.FedDyn(alpha=1)
    terms = as_seen_by(method, problem)
    own = [inverse(H) @ c for H, c in zip(terms.H, terms.c, strict=True)]
    assert encloses(Instance(problem, method, point=x).spread, mean(square(theta - x) for theta in own))


@few
@given(st.data(), strongly_convex())
def test_stacked_distance_is_where_fedsplit_goes(data: Any, problem: Any) -> None:
    x, terms = data.draw(starts(problem)), terms_of(problem).as_a_sum()
    mu, L = min(map(least_eigenvalue, terms.H)), max(map(size_of, terms.H))
    method = fc.FedSplit(stepsize=(s := 1 / np.sqrt(mu * L)))
    rounds = 10 + int(20 * np.sqrt(L / mu))  # its factor is below exp(−2√(μ/L))
    z = fc.simulate(method, problem, rounds, x0=x).state.memory["z"]
    measured = Instance(problem, method, point=x).stacked_distance
    assert near(measured, float(np.linalg.norm(z - x.astype(float))), 1e-7)
    solution = minimiser(terms)
    rest = [solution - fractions(s)[()] * g for g in gradients(terms, solution)]
    assert ball_contains(squared(measured), sum(square(row - x) for row in rest))


def test_many_minimisers_do_for_a_distance() -> None:
    """f = (x₁ + x₂ − 2)²/2: from 0 the distance to the nearest minimiser (1, 1) is √2."""
    problem = fc.LeastSquares([[[1, 1]]], [[2]])
    instance = Instance(problem, fc.FedDyn(alpha=1))
    assert ball_contains(instance.squared_distance, Fraction(2))
    assert ball_contains(instance.initial_gap, Fraction(2))


@pytest.mark.slow
@few
@given(st.data(), logistics() | multinomials())
def test_logistic_losses(data: Any, problem: Any) -> None:
    x = data.draw(starts(problem)).astype(float)
    instance = Instance(problem, fc.FedProx(mu=1), point=x)
    with precise.fifty_digits():
        at, weights = precise.vector(x), [precise.number(w) for w in problem.exact_weights]
        f, g, _ = precise.objective(problem, at)
        clients = [precise.client(problem, k, at)[1] for k in range(problem.num_clients)]
        second = sum(w * precise.length(g_k) ** 2 for w, g_k in zip(weights, clients, strict=True))
        best = precise.minimiser(problem)
        balls = [instance.value, instance.square, instance.mean_square, instance.gradient_variance]
        numbers = [f, precise.length(g) ** 2, second, second - precise.length(g) ** 2]
        balls += [instance.squared_distance, instance.initial_gap, *instance.minimizer]
        numbers += [precise.length(at - best) ** 2, f - precise.objective(problem, best)[0], *best]
        widened = [b + flint.arb(0, 1e-30) for b in balls]  # 50 digits' own error
        assert precise.encloses(widened, numbers)
        assert max(float(b.rad()) for b in balls) < 1e-9
    with pytest.raises(Unmeasured, match="own functions are not enclosed"):
        instance.measure("spread")


def test_stationary_points_and_single_clients() -> None:
    """∇f(1/4) = 0 though ∇f_k are not; with one client B = 1 and nothing varies."""
    there = Instance(PAIR, fc.FedProx(mu=1), point=[QUARTER])
    assert there.square == 0
    assert encloses(there.gradient_variance, Fraction(9, 16))
    solved = Instance(fc.Quadratic([[[2]], [[4]]], [[2], [4]]), fc.FedProx(mu=1), point=[1])
    assert solved.client_gradient == 0
    assert solved.gradient == 0
    alone = Instance(fc.Quadratic([[[2]]], [[1]]), fc.FedDyn(alpha=1))
    assert encloses(alone.dissimilarity, Fraction(1))
    assert encloses(alone.gradient_variance, Fraction(0))
    assert encloses(alone.sigma_star2, Fraction(0))


@few
@given(strongly_convex())
def test_measuring_twice_is_the_same_ball(problem: Any) -> None:
    """Assumptions recognise a measured constant by identity."""
    assume(square(gradient(terms_of(problem), fractions([0] * problem.dim))) > 0)
    instance = Instance(problem, fc.FedDyn(alpha=1))
    for name in ("dissimilarity", "gradient_variance", "spread", "square"):
        assert instance.measure(name) is instance.measure(name)
