"""Minimisers of composite objectives: certified, by two routes, exact where they are rational."""

import copy
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.ground_truths.composite import _certified
from fedconvex.ground_truths.rational_composites import exact_solution
from fedconvex.regularizers import L1, Box, GroupLasso, Regularizer

TERMS: dict[str, Regularizer] = {
    "l1": L1([0, 15, 15, 15]),
    "box": Box(F(-1, 10), F(1, 10)),
    "orthant": Box(0, float("inf")),
    "groups": GroupLasso(8, [[0, 1], [2, 3]]),
}


def problem(rows: int = 7, ridge: Any = None) -> Any:
    rng = np.random.default_rng(3)
    A = [rng.integers(-3, 4, (rows, 4)).tolist() for _ in range(3)]
    if ridge is not None:
        return fc.Logistic(A=A, y=[rng.choice([-1, 1], rows).tolist() for _ in range(3)], ridge=ridge)
    return fc.LeastSquares(A=A, b=[rng.integers(-5, 6, rows).tolist() for _ in range(3)], weights=[1, 2, 3])


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("ridge", [None, F(1, 10)])
def test_two_routes_agree_within_the_certified_distances(name: str, ridge: Any) -> None:
    term = TERMS[name]
    if ridge is not None:  # logistic losses have small gradients
        term = replace(term, weight=F(1, 20)) if hasattr(term, "weight") else term
    composite = fc.CompositeProblem(problem(ridge=ridge), term)
    one, other = fc.ground_truth(composite), fc.ground_truth(composite, solver="cvxpy")
    assert 0 <= one.distance_bound < 1e-12
    assert 0 <= other.distance_bound < 1e-12
    assert np.linalg.norm(one.point - other.point) <= one.distance_bound + other.distance_bound + 1e-300
    assert one.value == pytest.approx(float(composite.value(one.point)), abs=1e-15)
    assert one.certainty is fc.Certainty.ENCLOSED


@pytest.mark.parametrize("name", TERMS)
def test_the_certificate_of_another_point_is_not_small(name: str) -> None:
    """The bound holds for every point, and is never below the true distance."""
    composite = fc.CompositeProblem(problem(), TERMS[name])
    truth = fc.ground_truth(composite)
    for scale in (1e-6, 1e-2):
        other = TERMS[name].prox(
            truth.point + scale, 1.0 if name in ("box", "orthant") else 1e-9, arithmetics.get("float")
        )
        found = _certified(composite, other, "no solver")
        assert found.distance_bound >= np.linalg.norm(other - truth.point) - truth.distance_bound
        if not np.array_equal(other, truth.point):
            assert found.distance_bound > 1e-10
            assert found.gap_bound >= float(composite.value(other)) - truth.value - 1e-12


@pytest.mark.parametrize("name", ["l1", "box", "orthant"])
def test_rational_minimisers_are_exact(name: str) -> None:
    composite = fc.CompositeProblem(problem(), TERMS[name])
    truth = fc.ground_truth(composite)
    point = truth.exact_point
    assert all(type(x) is F for x in point)
    exact = arithmetics.get("exact")
    gradient = exact.array(composite.problem.gradient(point))
    assert not any(TERMS[name].shortest(gradient, list(point), exact))  # 0 ∈ ∇f(x) + ∂ψ(x), exactly
    assert np.linalg.norm(point.astype(float) - truth.point) <= truth.distance_bound + 1e-16
    assert all(ball.overlaps(ball_of(x)) for ball, x in zip(truth.enclosure(), point, strict=True))


def test_a_point_outside_the_box_is_not_certified() -> None:
    """Beyond a bound every slope seems to be a subgradient, of a function that is infinite there."""
    composite = fc.CompositeProblem(problem(), TERMS["box"])
    outside = fc.ground_truth(composite).point + 1e-3 * np.sign(fc.ground_truth(composite).point)
    assert _certified(composite, outside, "no solver").distance_bound == np.inf


def ball_of(number: F) -> Any:
    return arithmetics.get("ball").scalar(number)


def test_a_candidate_with_the_wrong_kinks_is_refused() -> None:
    composite = fc.CompositeProblem(problem(), L1(4))
    H, c = composite.problem.weighted_hessian("exact"), composite.problem.weighted_linear_term("exact")
    right = fc.ground_truth(composite).point
    assert 0 < np.count_nonzero(right) < 4
    exact_solution(H, c, composite.regularizer, right)
    for wrong in (np.ones(4), -np.sign(right) * (right != 0)):
        with pytest.raises(fc.NotConverged, match="kinks"):
            exact_solution(H, c, composite.regularizer, wrong)
    box = Box(F(-1, 10), F(1, 10))
    with pytest.raises(fc.NotConverged, match="bounds"):
        exact_solution(H, c, box, np.zeros(4))  # the minimiser without a box is outside it


def test_what_has_no_rational_minimiser_says_so() -> None:
    for composite in (fc.CompositeProblem(problem(), TERMS["groups"]), fc.CompositeProblem(problem(ridge=1), L1(1))):
        with pytest.raises(fc.InvalidInput, match=r"roots|no rational minimiser"):
            _ = fc.ground_truth(composite).exact_point


def test_a_singular_lasso_has_a_minimiser_without_a_certified_distance() -> None:
    wide = fc.LeastSquares(A=[[[1, 2, 3, 4]], [[0, 1, 0, 1]]], b=[[10], [4]])
    truth = fc.ground_truth(fc.CompositeProblem(wide, L1(F(1, 2))))
    assert truth.distance_bound == float("inf")
    assert truth.gradient_bound < 1e-10
    assert truth.certainty is fc.Certainty.NUMERIC


def test_no_minimiser_and_no_convexity_are_said() -> None:
    falls = fc.Quadratic(H=[[[0, 0], [0, 1]]], c=[[3, 0]])
    with pytest.raises(fc.NoMinimizer, match="not known to have a minimiser"):
        fc.ground_truth(fc.CompositeProblem(falls, L1([1, 1])))
    kept = fc.ground_truth(fc.CompositeProblem(falls, Box(-1, 2)))  # the box keeps it
    assert list(kept.point) == [2, 0]
    saddle = fc.Quadratic(H=[[[-1, 0], [0, 1]]], c=[[0, 0]])
    with pytest.raises(fc.InvalidInput, match="is not convex"):
        fc.ground_truth(fc.CompositeProblem(saddle, Box(-1, 1)))


def test_a_composite_problem_can_be_copied_and_keeps_its_values() -> None:
    composite = fc.CompositeProblem(problem(), TERMS["groups"])
    again = copy.deepcopy(composite)
    x = np.array([1.0, -2.0, 0.0, 3.0])
    assert again.value(x) == composite.value(x)
    assert composite.value(np.zeros(4)) == pytest.approx(float(composite.problem.value(np.zeros(4))))
