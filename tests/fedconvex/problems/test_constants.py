"""L, mu and their certified bounds: against eigenvalues in 60 digits, sampled Hessians, and exact definiteness."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from problem_makers import ends, fractions, identity, real, signs

import fedconvex as fc

DIGITS = mpmath.workdps(60)
RNG_SEEDS = [0, 1, 2]
SIZES = [1, 30, 4, 2, 9]


def eigenvalues(matrix: Any) -> list[Any]:
    return sorted(mp.eigsy(mp.matrix([[*map(real, row)] for row in np.asarray(matrix).tolist()]), eigvals_only=True))


def gram(A: np.ndarray) -> np.ndarray:
    return fractions(A).T.dot(fractions(A))


def designs(seed: int, sizes: list[int] = SIZES, p: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-9, 10, (n, p)) / 8 for n in sizes]


def with_ones(A: np.ndarray) -> np.ndarray:
    return np.column_stack([A, np.ones(len(A))])


def near(computed: Any, expected: list[Any], rtol: float = 1e-13) -> bool:
    return all(abs(mp.mpf(float(c)) - e) <= rtol * abs(e) for c, e in zip(computed, expected, strict=True))


@pytest.mark.parametrize("seed", RNG_SEEDS)
@DIGITS
def test_least_squares(seed: int) -> None:
    A = designs(seed)
    problem = fc.LeastSquares(A=A, b=[np.zeros(len(a)) for a in A])
    spectra = [eigenvalues(gram(a)) for a in A]
    assert near(problem.L, [s[-1] for s in spectra])
    full = [k for k, a in enumerate(A) if len(a) >= 3]
    assert near(problem.mu[full], [spectra[k][0] for k in full], rtol=1e-11)
    assert [problem.mu[k] for k in range(len(A)) if k not in full] == [0.0, 0.0]  # fewer samples than unknowns
    assert not near(problem.L * (1 + 1e-12), [s[-1] for s in spectra])


@pytest.mark.parametrize("seed", RNG_SEEDS)
@DIGITS
def test_quadratic(seed: int) -> None:
    H = [a.T @ a - shift * np.eye(3) for a, shift in zip(designs(seed, [5, 5, 5]), (0, 2, 50), strict=True)]
    problem = fc.Quadratic(H=H, c=[np.zeros(3)] * 3)
    spectra = [eigenvalues(h) for h in H]
    assert near(problem.L, [max(abs(s[0]), abs(s[-1])) for s in spectra])
    assert near(problem.mu, [s[0] for s in spectra], rtol=1e-11)
    assert not problem.is_convex
    assert fc.Quadratic(H=H[:1], c=[np.zeros(3)]).is_convex


@pytest.mark.parametrize("seed", RNG_SEEDS)
@DIGITS
def test_logistic(seed: int) -> None:
    A, rng = designs(seed), np.random.default_rng(seed)
    problem = fc.Logistic(A=A, y=[rng.choice([-1, 1], len(a)) for a in A], ridge=0.125)
    assert near(problem.L, [eigenvalues(gram(a))[-1] / (4 * len(a)) + mp.mpf("0.125") for a in A])
    assert problem.mu.tolist() == [0.125] * len(A)
    at_zero = np.linalg.eigvalsh(problem.client_hessians(np.zeros(3)))
    assert near(at_zero[:, -1], [mp.mpf(v) for v in problem.L])  # attained at 0
    for scale in (0.1, 1.0, 10.0, 1000.0):
        sampled = np.linalg.eigvalsh(problem.client_hessians(scale * rng.standard_normal((len(A), 3))))
        assert (sampled[:, -1] <= problem.L * (1 + 1e-13)).all()
        assert (sampled[:, 0] >= problem.mu * (1 - 1e-12) - 1e-14).all()


@pytest.mark.parametrize("classes", [2, 3, 5])
@DIGITS
def test_multinomial(classes: int) -> None:
    A, rng = designs(classes), np.random.default_rng(classes)
    y = [rng.integers(0, classes, len(a)) for a in A]
    problem = fc.MultinomialLogistic(A=A, y=y, num_classes=classes, ridge=0.125)
    assert near(problem.L, [eigenvalues(gram(with_ones(a)))[-1] / (2 * len(a)) + mp.mpf("0.125") for a in A])
    assert problem.mu.tolist() == [0.125] * len(A)
    for scale in (0.1, 1.0, 10.0):
        sampled = np.linalg.eigvalsh(problem.client_hessians(scale * rng.standard_normal((len(A), problem.dim))))
        assert (sampled[:, -1] <= problem.L * (1 + 1e-13)).all()
        assert (sampled[:, 0] >= problem.mu - 1e-14).all()
    shared = np.zeros((classes, 4))
    shared[2:, -1] = -60  # two classes share the probability
    attained = np.linalg.eigvalsh(problem.client_hessians(shared.ravel()))[:, -1]
    assert near(attained, [mp.mpf(v) for v in problem.L])
    if classes > 2:  # with equal probabilities the curvature is only 1/C
        assert (np.linalg.eigvalsh(problem.client_hessians(np.zeros(problem.dim)))[:, -1] < 0.99 * problem.L).all()


@given(
    B=st.lists(st.lists(st.integers(-6, 6), min_size=4, max_size=4), min_size=1, max_size=6),
    scale=st.sampled_from([1, Fraction(1, 3), 2.0**-40, 2.0**40]),
    repeat=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_mu_is_exactly_zero_where_the_rank_is_deficient(B: Any, scale: Any, repeat: bool) -> None:
    A = np.array(B, dtype=object) * scale
    if repeat:
        A[:, 3] = A[:, 0] - 2 * A[:, 1]
    deficient = not exceeds(0, -gram(A))
    assert deficient or not repeat
    for problem in (fc.LeastSquares(A=[A], b=[np.zeros(len(A))]), fc.Quadratic(H=[gram(A)], c=[np.zeros(4)])):
        assert (problem.mu[0] == 0.0) == deficient
        assert problem.is_convex


def test_nearly_deficient_is_not_deficient() -> None:
    tiny = np.array([[1, 0], [0, Fraction(1, 10**20)]], dtype=object)
    assert fc.LeastSquares(A=[tiny], b=[np.zeros(2)]).mu[0] == pytest.approx(1e-40)
    assert fc.Quadratic(H=[tiny], c=[np.zeros(2)]).mu[0] == pytest.approx(1e-20)
    close = np.array([[1, 1], [1, 1 + Fraction(1, 10**30)]], dtype=object)
    problem = fc.Quadratic(H=[close, -close], c=[np.zeros(2)] * 2)
    assert not problem.is_convex
    assert fc.Quadratic(H=[close], c=[np.zeros(2)]).is_convex


def exceeds(bound: Fraction | int, H: np.ndarray) -> bool:
    """Whether bound·I − H is positive definite, decided exactly."""
    return signs(bound * identity(len(H)) - H)[2] == len(H)


def check_bounds(problem: Any, k: int, H: np.ndarray) -> None:
    """The bounds of client k against the exact Hessian bound H (largest and least eigenvalue are L and mu)."""
    hair = Fraction(1, 10**40)
    low, high = ends(problem.strong_convexity_bound(k)), ends(problem.smoothness_bound(k))
    assert exceeds(high[0] + hair, H)
    assert exceeds(high[0] + hair, -H)
    assert exceeds(hair - low[1], -H)
    assert high[1] >= high[0] >= low[1] >= low[0]
    slack = Fraction(1, 10**6)
    tighter = high[1] * (1 - slack) - hair
    assert not (exceeds(tighter, H) and exceeds(tighter, -H))
    assert not exceeds(-(low[0] + slack * abs(low[0]) + hair), -H)


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_certified_bounds(seed: int) -> None:
    A = designs(seed)
    least_squares = fc.LeastSquares(A=A, b=[np.zeros(len(a)) for a in A])
    shifts = [0, 2, 50, 0.1, Fraction(1, 3)]
    H = [gram(a) - shift * identity(3) for a, shift in zip(A, map(Fraction, shifts), strict=True)]
    quadratic = fc.Quadratic(H=H, c=[np.zeros(3)] * 5)
    for k, a in enumerate(A):
        check_bounds(least_squares, k, gram(a))
        check_bounds(quadratic, k, H[k])


@pytest.mark.parametrize("ridge", [0.1, Fraction(1, 3), 5])
def test_certified_bounds_of_logistic_losses(ridge: Any) -> None:
    A = designs(3)
    logistic = fc.Logistic(A=A, y=[np.ones(len(a)) for a in A], ridge=ridge)
    multinomial = fc.MultinomialLogistic(A=A, y=[np.ones(len(a)) for a in A], num_classes=3, ridge=ridge)
    hair = Fraction(1, 10**40)
    for k, a in enumerate(A):
        for problem, design, share in ((logistic, a, 4), (multinomial, with_ones(a), 2)):
            low, high = ends(problem.strong_convexity_bound(k)), ends(problem.smoothness_bound(k))
            assert low[0] <= Fraction(ridge) <= low[1]
            assert low[1] - low[0] < Fraction(1, 10**12)
            largest = gram(design) / (share * len(a))
            assert exceeds(high[1] - Fraction(ridge) + hair, largest)
            assert not exceeds(high[0] * (1 - Fraction(1, 10**6)) - Fraction(ridge), largest)
