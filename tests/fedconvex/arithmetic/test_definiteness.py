"""Signs of eigenvalues: against an exact congruence to diagonal form, done in Fractions."""

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from problem_makers import ends, fractions, identity, signs

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.definiteness import (
    certifies_negative_direction,
    certifies_positive_definite,
    inertia,
    is_positive_definite,
    is_positive_semidefinite,
    largest_eigenvalue_bound,
    null_space,
    rank,
    smallest_eigenvalue_bound,
)
from fedconvex.arithmetic.rationals import float_array, to_fraction

TINY = Fraction(1, 10**30)
EXACT, BALLS = arithmetics.get("exact"), arithmetics.get("ball")
small = st.integers(-4, 4)


@st.composite
def symmetric(draw: st.DrawFn) -> np.ndarray:
    """Integer symmetric matrices; often singular or semidefinite, being BDBᵀ with a small D."""
    n, inner = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    B = np.array([[draw(small) for _ in range(inner)] for _ in range(n)])
    middle = np.diag([draw(st.sampled_from([1, 1, 1, -1])) for _ in range(inner)])
    return fractions(B @ middle @ B.T)


@st.composite
def with_spectrum(draw: st.DrawFn) -> tuple[np.ndarray, list[Fraction]]:
    """(M, its eigenvalues): a rational reflection of a diagonal matrix."""
    n = draw(st.integers(1, 5))
    eigenvalues = [Fraction(draw(st.integers(-5, 9)), draw(st.integers(1, 4))) for _ in range(n)]
    v = fractions([[draw(small) for _ in range(n)]])[0]
    assume(any(v))
    reflection = identity(n) - 2 * np.outer(v, v) / np.dot(v, v)
    return reflection.dot(fractions(np.diag(eigenvalues))).dot(reflection), eigenvalues


def decisions(M: np.ndarray) -> tuple[Any, ...]:
    return inertia(EXACT.matrix(M)), is_positive_definite(M), is_positive_semidefinite(M), rank(M)


def expected(counts: tuple[int, int, int]) -> tuple[Any, ...]:
    negative, zero, positive = counts
    return counts, negative == zero == 0, negative == 0, negative + positive


@given(M=symmetric(), shift=st.sampled_from([Fraction(0), TINY, -TINY, Fraction(1), Fraction(-1, 3)]))
@settings(max_examples=150, deadline=None)
def test_signs_against_congruence(M: np.ndarray, shift: Fraction) -> None:
    M = M + shift * identity(len(M))
    assert decisions(M) == expected(signs(M))
    assert is_positive_definite(lambda numbers: numbers.matrix(M)) == is_positive_definite(M)


@given(case=with_spectrum(), near=st.sampled_from([TINY, -TINY, Fraction(0)]))
@settings(max_examples=100, deadline=None)
def test_signs_against_a_known_spectrum(case: Any, near: Fraction) -> None:
    """Shifted so that some eigenvalue is 0, 10⁻³⁰ or −10⁻³⁰."""
    M, eigenvalues = case
    shifted = [value - min(eigenvalues) + near for value in eigenvalues]
    M = M + (near - min(eigenvalues)) * identity(len(M))
    counts = sum(v < 0 for v in shifted), sum(v == 0 for v in shifted), sum(v > 0 for v in shifted)
    assert decisions(M) == expected(counts)
    assert decisions(-M) == expected(counts[::-1])


@pytest.mark.parametrize("scale", [Fraction(1, 10**400), Fraction(1, 10**200), Fraction(10**200), Fraction(10**400)])
def test_scales_beyond_floats(scale: Fraction) -> None:
    good, bad = fractions([[2, 1], [1, 2]]) * scale, fractions([[1, 2], [2, 1]]) * scale
    assert decisions(good) == expected((0, 0, 2))
    assert decisions(bad) == expected((1, 0, 1))


@pytest.mark.parametrize(
    ("matrix", "counts"),
    [
        ([[0]], (0, 1, 0)), ([[-1]], (1, 0, 0)), ([[5e-324]], (0, 0, 1)), ([[-5e-324]], (1, 0, 0)),
        ([[0, 1], [1, 0]], (1, 0, 1)), ([[0, 0], [0, 0]], (0, 2, 0)), ([[1.0, 1.0], [1.0, 1.0]], (0, 1, 1)),
        ([[1.0, 1 - 2**-53], [1 - 2**-53, 1.0]], (0, 0, 2)), ([[1, 1 + 2**-52], [1 + 2**-52, 1]], (1, 0, 1)),
    ],
)  # fmt: skip
def test_small_cases(matrix: Any, counts: tuple[int, int, int]) -> None:
    assert decisions(np.array(matrix)) == expected(counts) == expected(signs(matrix))


def test_tenths_are_not_tenths() -> None:
    """As floats, 0.1 · 0.9 is not 0.3², and the determinant decides; as rationals the matrix is singular."""
    floats = np.array([[0.1, 0.3], [0.3, 0.9]])
    rationals = fractions([[1, 3], [3, 9]]) / 10
    assert signs(floats) != signs(rationals) == (0, 1, 1)
    assert [decisions(M) for M in (floats, rationals)] == [expected(signs(M)) for M in (floats, rationals)]


@given(M=symmetric())
@settings(max_examples=80, deadline=None)
def test_null_space_is_a_basis_of_the_kernel(M: np.ndarray) -> None:
    basis = null_space(EXACT.matrix(M))
    assert len(basis) == signs(M)[1]
    for v in basis:
        assert not any(M.dot([to_fraction(entry) for entry in v]))
    if basis:
        V = fractions([[to_fraction(entry) for entry in v] for v in basis])
        assert signs(V.dot(V.T)) == (0, 0, len(basis))  # linearly independent


def bounds(M: np.ndarray, low: float, high: float) -> tuple[Any, Any]:
    def build(numbers: Arithmetic) -> Any:
        return numbers.matrix(M)

    return smallest_eigenvalue_bound(build, low), largest_eigenvalue_bound(build, high)


@given(M=symmetric(), shift=st.sampled_from([Fraction(0), TINY, Fraction(1, 3)]))
@settings(max_examples=80, deadline=None)
def test_eigenvalue_bounds_are_on_the_right_side_and_close(M: np.ndarray, shift: Fraction) -> None:
    M = M + shift * identity(len(M))
    eigenvalues = np.linalg.eigvalsh(float_array(M))
    low, high = bounds(M, eigenvalues[0], eigenvalues[-1])
    below, above = ends(low)[1], ends(high)[0]
    assert signs(M - below * identity(len(M)))[0] == 0
    assert signs(above * identity(len(M)) - M)[0] == 0
    slack = Fraction(1e-6) * Fraction(float(max(abs(eigenvalues)))) + 2 * TINY
    assert signs(M - (ends(low)[0] + slack) * identity(len(M)))[0] > 0
    assert signs((ends(high)[1] - slack) * identity(len(M)) - M)[0] > 0


@given(M=symmetric(), guess=st.floats(-100, 100))
@settings(max_examples=80, deadline=None)
def test_a_wrong_guess_is_not_trusted(M: np.ndarray, guess: float) -> None:
    low, high = bounds(M, guess, -guess)
    assert signs(M - ends(low)[1] * identity(len(M)))[0] == 0
    assert signs(ends(high)[0] * identity(len(M)) - M)[0] == 0


def test_semidefinite_matrices_get_the_bound_zero() -> None:
    ones = fractions([[1, 1], [1, 1]])
    assert bounds(ones, 1e-17, 2.0)[0] == 0
    assert bounds(-ones, -2.0, -1e-17)[1] == 0
    assert bounds(ones - TINY * identity(2), 1e-17, 2.0)[0] < 0  # and one that is not gets none


@given(case=with_spectrum(), tiny=st.sampled_from([TINY, Fraction(1, 10**9), Fraction(1)]), wide=st.booleans())
@settings(max_examples=100, deadline=None)
def test_no_certificate_for_a_planted_wrong_sign(case: Any, tiny: Fraction, wide: bool) -> None:
    M, eigenvalues = case
    n = len(M)
    with BALLS.context():
        not_definite = BALLS.matrix(M - (min(eigenvalues) + tiny) * identity(n))
        semidefinite = BALLS.matrix(M - min(eigenvalues) * identity(n))
        assert not certifies_positive_definite(not_definite)
        assert not certifies_positive_definite(semidefinite)
        assert not certifies_negative_direction(semidefinite)
        if wide:  # positive definite in the middle, but the balls also hold a matrix that is not
            definite = M - (min(eigenvalues) - 1) * identity(n)
            balls = [flint.arb(0, float(i == j) * 1.01) for i in range(n) for j in range(n)]
            assert not certifies_positive_definite(BALLS.matrix(definite) + flint.arb_mat(n, n, balls))
            assert certifies_positive_definite(BALLS.matrix(definite))
            negative = M - (min(eigenvalues) + 1) * identity(n)
            assert certifies_negative_direction(BALLS.matrix(negative))
            assert not certifies_negative_direction(BALLS.matrix(negative) + flint.arb_mat(n, n, balls))
    assert not is_positive_definite(M - (min(eigenvalues) + tiny) * identity(n))
    assert is_positive_definite(M - (min(eigenvalues) - tiny) * identity(n))


def test_the_check_of_this_file_is_right_on_known_spectra() -> None:
    assert signs([[2, 1], [1, 2]]) == (0, 0, 2)
    assert signs([[0, 1, 0], [1, 0, 0], [0, 0, 0]]) == (1, 1, 1)
    assert signs(np.diag([3, -1, 0, -2])) == (2, 1, 1)
