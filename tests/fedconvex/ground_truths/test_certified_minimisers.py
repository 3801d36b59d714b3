"""Certified minimisers against 50-digit Newton and Gaussian elimination; other points get no certificate."""

from fractions import Fraction

import numpy as np
import pytest
from high_precision import encloses, fifty_digits, length, minimiser, number, objective, vector
from hypothesis import given, settings
from hypothesis import strategies as st
from problem_makers import (
    few,
    floats,
    fractions,
    inverse,
    kernel,
    least_norm,
    least_squares,
    logistics,
    multinomials,
    quadratics,
    rank,
    terms_of,
)

import fedconvex as fc
from fedconvex.ground_truths.certificates import certify

fewer = settings(few, max_examples=10)
SMOOTH = st.one_of(logistics(), multinomials())


@fewer
@given(problem=SMOOTH, solver=st.sampled_from(["cvxpy", "newton"]))
def test_logistic_certificates_hold(problem, solver) -> None:
    truth = fc.ground_truth(problem, solver=solver)
    with fifty_digits():
        exact = minimiser(problem)
        distance = length(vector(truth.point) - exact)
        gap = objective(problem, vector(truth.point))[0] - objective(problem, exact)[0]
        assert distance <= truth.distance_bound <= 1e-12
        assert gap <= truth.gap_bound <= 1e-20
        assert length(objective(problem, vector(truth.point))[1]) <= truth.gradient_bound
        assert abs(number(truth.value) - objective(problem, exact)[0]) < 1e-14
        assert encloses(truth.enclosure(), exact)
    assert truth.certainty is fc.Certainty.ENCLOSED


@pytest.mark.parametrize("ridge", [Fraction(1, 10), Fraction(7, 10), 0.1, Fraction(1, 2)])
def test_strong_convexity_is_a_lower_bound(ridge) -> None:
    """The float 0.1 is above 1/10."""
    truth = fc.ground_truth(fc.Logistic([[[1], [2]]], [[1, -1]], ridge=ridge))
    assert (1 - 1e-12) * ridge < Fraction(truth.strong_convexity) <= ridge


@fewer
@given(problem=SMOOTH, size=st.sampled_from([1e-3, -1e-6, 10.0]))
def test_a_perturbed_optimum_is_not_certified(problem, size) -> None:
    truth = fc.ground_truth(problem)
    moved = certify(problem, truth.point + size, "none")
    with fifty_digits():
        exact = minimiser(problem)
        distance = length(vector(moved.point) - exact)
        assert float(distance) > 0.999 * abs(size) * problem.dim**0.5
        assert distance <= moved.distance_bound
        assert objective(problem, vector(moved.point))[0] - objective(problem, exact)[0] <= moved.gap_bound
        assert distance > truth.distance_bound  # the optimum's own certificate would be false there
        assert not encloses(truth.enclosure(), vector(moved.point))


@few
@given(problem=least_squares(full_rank=True), solver=st.sampled_from(["cvxpy", "newton"]))
def test_least_squares_with_one_minimiser(problem, solver) -> None:
    H, c = terms_of(problem).summed()
    check_quadratic(problem, solver, inverse(H) @ c)


@few
@given(problem=least_squares(), solver=st.sampled_from(["cvxpy", "newton"]))
def test_least_squares_with_many_minimisers(problem, solver) -> None:
    check_quadratic(problem, solver, least_norm(*terms_of(problem).summed()))


def check_quadratic(problem, solver: str, exact: np.ndarray) -> None:
    H, c = terms_of(problem).summed()
    truth = fc.ground_truth(problem, solver=solver)
    assert np.array_equal(truth.exact_point, exact)
    for found in (truth, certify(problem, truth.point + 1e-3, "none")):
        error = fractions(found.point) - exact
        for v in kernel(H):
            assert found is not truth or abs(float(v @ error)) < 1e-12
        assert np.isinf(found.distance_bound) or error @ error <= Fraction(found.distance_bound) ** 2
        assert np.isinf(found.gap_bound) or error @ H @ error / 2 <= Fraction(found.gap_bound)
        gradient = H @ fractions(found.point) - c
        assert gradient @ gradient <= Fraction(found.gradient_bound) ** 2
    assert truth.distance_bound < 1e-10 * (1 + max(abs(floats(exact))))
    assert truth.gap_bound < 1e-20 * (1 + max(abs(floats(exact))) ** 2) * (1 + abs(floats(H)).max())
    perturbed = certify(problem, truth.point + 1e-3, "none")
    if rank(H) == problem.dim:
        assert perturbed.distance_bound > 0.999e-3 * problem.dim**0.5


@pytest.mark.parametrize("solver", ["cvxpy", "newton"])
def test_conditioning_beyond_floats(solver) -> None:
    """A 12 × 12 Hilbert matrix, condition number 1e16: no float point is near the minimiser by luck."""
    H = [[Fraction(1, i + j + 1) for j in range(12)] for i in range(12)]
    problem = fc.Quadratic([H], [[1] * 12])
    exact = inverse(fractions(H)) @ fractions([1] * 12)
    truth = fc.ground_truth(problem, solver=solver)
    error = fractions(truth.point) - exact
    assert np.array_equal(truth.exact_point, exact)
    assert error @ error <= Fraction(truth.distance_bound) ** 2 < 10**12 * (error @ error + 1)
    assert error @ fractions(H) @ error / 2 <= Fraction(truth.gap_bound)


@few
@given(problem=quadratics())
def test_quadratics_have_a_minimiser_or_a_witness(problem) -> None:
    H, c = terms_of(problem).summed()
    try:
        truth = fc.ground_truth(problem)
    except fc.NoMinimizer as refusal:
        v = refusal.witness
        assert v @ H @ v < 0 or (not (H @ v).any() and c @ v > 0)
        assert all(type(entry) is Fraction for entry in v)
    else:
        assert np.linalg.eigvalsh(floats(H))[0] > -1e-12
        assert np.array_equal(truth.exact_point, least_norm(H, c))


@pytest.mark.parametrize("depth", [Fraction(1), Fraction(1, 10**9), Fraction(1, 10**40)])
def test_the_witness_of_a_negative_eigenvalue_is_found_however_small_it_is(depth) -> None:
    """Curvature 10 along (1, 3) and −depth·10 along (3, −1)."""
    H = fractions([[1, 3], [3, 9]]) - depth * fractions([[9, -3], [-3, 1]])
    with pytest.raises(fc.NoMinimizer, match="witness") as caught:
        fc.ground_truth(fc.Quadratic([H], [[0, 0]]))
    v = caught.value.witness
    assert v is not None
    assert v @ H @ v < 0


def test_exact_points_are_for_quadratics_only() -> None:
    truth = fc.ground_truth(fc.Logistic([[[1], [2]]], [[1, -1]], ridge=1))
    with pytest.raises(fc.InvalidInput, match="has no rational minimiser"):
        _ = truth.exact_point


@pytest.mark.parametrize("solver", ["cvxpy", "newton"])
@pytest.mark.parametrize("A", [[[1], [1], [2]], [[1, 0], [1, 0], [2, 0]], [[1, 1], [1, 1], [2, 2]]], ids=str)
def test_without_ridge_nothing_is_claimed_about_the_distance(A, solver) -> None:
    """Not separable, so there is a minimiser; without strong convexity no bound follows from the gradient."""
    truth = fc.ground_truth(fc.Logistic([A], [[1, -1, 1]]), solver=solver)
    assert truth.distance_bound == np.inf
    assert truth.gap_bound == np.inf
    assert truth.certainty is fc.Certainty.NUMERIC
    assert truth.gradient_bound < 1e-12
    # (1/3)(log(1 + e^{-t}) + log(1 + e^t) + log(1 + e^{-2t})) is least where 1 + 2σ(−2t)·… has slope 0
    t = float(np.asarray(A[0]) @ truth.point)
    assert abs(np.tanh(t / 2) - 2 / (1 + np.exp(2 * t))) < 1e-12


def test_unknown_solver() -> None:
    with pytest.raises(fc.InvalidInput, match=r"solver = gurobi: is unknown; give one of newton, cvxpy"):
        fc.ground_truth(fc.LeastSquares([[[1]]], [[1]]), solver="gurobi")
