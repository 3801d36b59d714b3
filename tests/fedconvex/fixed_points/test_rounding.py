"""Float fixed points that rounding endangers: maps close to the identity, and stiff subproblems."""

from fractions import Fraction

import numpy as np
import pytest
from problem_makers import ball_contains

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.fixed_points import equations
from fedconvex.fixed_points.equations import QuadraticFixedPoints

WIDE = fc.LeastSquares(A=[[[1, 2, 3]], [[3, -1, 2]]], b=[[1], [2]])  # rank 2 of 3
SQUARE = fc.Quadratic(H=[[[2, 1], [1, 3]], [[1, 0], [0, 4]]], c=[[1, 0], [2, 1]])
RIDGED = fc.Logistic(A=[[[1, 2], [3, -1], [0, 1]], [[0, 1]]], y=[[1, -1, 1], [1]], ridge=Fraction(1, 10))


def scaled(problem: fc.Quadratic, factor: Fraction) -> fc.Quadratic:
    return fc.Quadratic(H=[factor * H for H in problem.H], c=[factor * c for c in problem.c])


def stiff(large: int) -> fc.LeastSquares:
    """Clients with the curvatures 1 and `large`·1.25 in different directions."""
    return fc.LeastSquares(A=[[[large, large // 2], [0, 1]], [[1, 1], [large, -large]]], b=[[1, 2], [3, -1]])


def off(method, problem, **options) -> float:
    """How far the float point is from the exact one, relative to its length."""
    exact = fc.fixed_point(method, problem, "exact", **options).point.astype(float)
    floats = fc.fixed_point(method, problem, "float", **options).point
    return float(np.linalg.norm(floats - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("problem", [SQUARE, WIDE], ids=["square", "wide"])
@pytest.mark.parametrize(
    "method",
    [
        *(fc.FedProx(mu=mu) for mu in (10**7, 10**10, 10**12, 10**15, 10**17)),
        *(fc.FedGD(stepsize=s, local_steps=3) for s in (1e-7, 1e-12, 1e-17)),
    ],
    ids=repr,
)
def test_rounds_that_hardly_move_anything(method, problem) -> None:
    assert off(method, problem) < 1e-7


@pytest.mark.parametrize("flat", [10**6, 10**12, 10**17])
@pytest.mark.parametrize("method", [fc.FedProx(mu=1), fc.FedGD(stepsize=1, local_steps=1)], ids=repr)
def test_flat_clients(method, flat) -> None:
    assert off(method, scaled(SQUARE, Fraction(1, flat))) < 1e-7


@pytest.mark.parametrize("large", [10**2, 10**4, 10**6, 10**7])
@pytest.mark.parametrize("mu", [Fraction(1, 100), 1])
def test_stiff_subproblems(large, mu) -> None:
    """(H + μI)⁻¹ in floats is off by the condition number: a well-conditioned Φ does not show it."""
    problem = stiff(large)
    assert off(fc.FedProx(mu=mu), problem) < 1e-7
    gradient_steps = fc.GradientDescent(steps=20, stepsize=1 / (1 + float(max(problem.L))))
    assert off(fc.FedProx(mu=mu), problem, local_solver=gradient_steps) < 1e-7


def test_a_fixed_point_that_does_not_exist_is_not_invented() -> None:
    flat = Fraction(1, 10**12)
    problem = scaled(fc.Quadratic(H=[[[3, 3], [3, 3]], [[7, 7], [7, 7]]], c=[[1, 0], [0, 2]]), flat)
    for method in (fc.FedProx(mu=1), fc.FedGD(stepsize=1, local_steps=2)):
        for arithmetic in ("exact", "float"):
            with pytest.raises(fc.NoFixedPoint):
                fc.fixed_point(method, problem, arithmetic)


def test_clients_that_cancel() -> None:
    """q is a small difference of large parts."""
    tiny = Fraction(1, 10**13)
    problem = fc.Quadratic(H=[[[2, 1], [1, 3]]] * 2, c=[[1 + tiny, Fraction(1, 3)], [-1, Fraction(-1, 3)]])
    assert off(fc.FedProx(mu=1), problem) < 1e-7


def test_trusted_floats_would_be_wrong(monkeypatch) -> None:
    """What the guard is for: without it these points are visibly off."""
    monkeypatch.setattr(equations, "SAFE_CONDITION", float("inf"))
    assert off(fc.FedProx(mu=10**12), SQUARE) > 1e-6
    assert off(fc.FedProx(mu=Fraction(1, 100)), stiff(10**7)) > 1e-6


@pytest.mark.parametrize(
    ("method", "solver"),
    [
        (fc.FedProx(mu=Fraction(1, 1000)), None),
        (fc.FedProx(mu=10**6), None),
        (fc.FedProx(mu=1), fc.GradientDescent(steps=7, stepsize=Fraction(1, 10))),
        (fc.FedGD(stepsize=Fraction(1, 5), local_steps=9), None),
        (fc.FedGD(stepsize=Fraction(1, 10**6), local_steps=9), None),
        (fc.FedGD(stepsize=1, local_steps=9), None),  # grows
    ],
    ids=repr,
)
@pytest.mark.parametrize("problem", [SQUARE, stiff(1000)], ids=["square", "stiff"])
def test_the_declared_errors_cover_the_real_ones(method, solver, problem) -> None:
    """Φ and q in floats against the rationals."""
    points = QuadraticFixedPoints(method, problem, solver or method.local_solver)
    floats, exact = (points.equation(arithmetics.get(name)) for name in ("float", "exact"))
    unit = 8 * np.finfo(float).eps
    d = range(problem.dim)
    phi = np.array([[float(Fraction(str(exact.phi[i, j])) - Fraction(floats.phi[i, j])) for j in d] for i in d])
    q = np.array([float(Fraction(str(exact.q[i])) - Fraction(floats.q[i])) for i in d])
    assert np.linalg.norm(phi) <= unit * floats.phi_size
    assert np.linalg.norm(q) <= unit * floats.q_size


def test_ordinary_problems_stay_in_floats(monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("balls")

    monkeypatch.setattr(equations, "_solve_in_balls", refuse)
    problem = fc.data.diabetes(clients=10)
    L = float(max(problem.L))
    for method in (
        *(fc.FedProx(mu=L * factor) for factor in (1e-4, 1, 100)),
        *(fc.FedGD(stepsize=0.9 / L, local_steps=steps) for steps in (1, 10, 1000)),
        fc.FedSplit(stepsize=1 / L),
    ):
        assert np.isfinite(fc.fixed_point(method, problem).bias_norm)


@pytest.mark.parametrize("method", [fc.FedProx(mu=1e12), fc.FedGD(stepsize=1e-12, local_steps=3)], ids=repr)
def test_rounding_is_not_reported_as_bias_on_logistic_losses(method) -> None:
    with pytest.raises(fc.NotConverged, match="lost in rounding"):
        fc.fixed_point(method, RIDGED)
    balls = fc.fixed_point(method, RIDGED, "ball")  # says how little is known
    assert balls.bias_norm.upper() < 1e-2
    assert balls.unique


def test_the_bias_shrinks_with_one_over_mu_as_long_as_floats_see_it() -> None:
    """Second route: bias · mu tends to a constant, known from a mu at which nothing is lost."""
    limit = 1e4 * fc.fixed_point(fc.FedProx(mu=1e4), RIDGED).bias_norm
    assert limit > 0
    for mu in (1e5, 1e6):
        assert mu * fc.fixed_point(fc.FedProx(mu=mu), RIDGED).bias_norm == pytest.approx(limit, rel=1e-2)


@pytest.mark.parametrize("factor", [Fraction(10) ** -300, Fraction(10) ** -200, 1, Fraction(10) ** 200])
def test_bias_norms_of_any_size(factor) -> None:
    """‖(3, 4)‖ = 5, whose square is no float."""
    problem = fc.Quadratic(H=[[[1, 0], [0, 1]]] * 2, c=[[0, 0], [0, 0]])
    stop = fc.fixed_point(fc.FedProx(mu=1), problem, "exact")
    moved = type(stop)(
        np.array([3 * factor, 4 * factor], dtype=object) + stop.point,
        stop.method,
        problem,
        stop.arithmetic,
        stop.analysis,
    )
    assert moved.bias_norm == pytest.approx(float(5 * factor), rel=1e-15)
    assert stop.bias_norm == 0.0


def test_the_nearest_of_many_minimisers_in_balls_is_as_sharp_as_the_point() -> None:
    """12 unknowns, 6 samples: the kernel's part of the point is a ball that no conditioning may magnify."""
    rng = np.random.default_rng(1)
    A = [rng.standard_normal((2, 12)) for _ in range(3)]
    problem = fc.LeastSquares(A=A, b=[rng.standard_normal(2) for _ in A])
    for method in (fc.FedGD(stepsize=Fraction(1, 200), local_steps=1), fc.FedProx(mu=1)):
        balls = fc.fixed_point(method, problem, "ball")
        exact = fc.fixed_point(method, problem, "exact")
        assert float(balls.bias_norm.rad()) < 1e-15
        for ball, value in zip(balls.minimizer, exact.minimizer, strict=True):
            assert ball_contains(ball, value)
        assert not ball_contains(balls.minimizer[0], exact.minimizer[0] + Fraction(1, 10**15))
