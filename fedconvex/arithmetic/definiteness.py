"""Definiteness, rank, kernel and eigenvalue bounds of symmetric matrices, decided or certified.

A matrix is given as a 2-d array of exact numbers, or as a function that builds it in a given arithmetic: a cheap
certificate in balls is tried first, and slow rational arithmetic is used only where that fails.
"""

from collections.abc import Callable
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.interruptible import interruptible

MatrixIn = Callable[[Arithmetic], Matrix]
LONG_IN_BALLS = 3 * 10**8  # multiplications of balls in one product, more than half a second …
FEWEST_ROWS = 100  # … but for fewer rows, FLINT would convert the other factor for longer than it multiplies
COPIES_IN_BALLS = 8  # of a matrix, which FLINT makes in two products
FEWER = "use arithmetic='float', or fewer features"


def is_positive_definite(matrix: "np.ndarray | MatrixIn", precision: int = 128) -> bool:
    """Whether every eigenvalue of the symmetric matrix is positive: True and False are both proved."""
    negative, zero, _ = _signs(matrix, precision)
    return negative == 0 and zero == 0


def is_positive_semidefinite(matrix: "np.ndarray | MatrixIn", precision: int = 128) -> bool:
    """Whether no eigenvalue of the symmetric matrix is negative: True and False are both proved."""
    negative, _, _ = _signs(matrix, precision)
    return negative == 0


def lies_between(matrix: np.ndarray, low: Any, high: Any) -> bool:
    """Whether low·I ≼ matrix ≼ high·I for a symmetric matrix and bounds in rationals, or infinite: decided exactly."""
    if len(matrix) == 1:
        return bool(low <= matrix[0][0] <= high)
    unit = np.eye(len(matrix), dtype=int)
    gaps = (sign * (bound * unit - matrix) for bound, sign in ((low, -1), (high, 1)) if abs(bound) != float("inf"))
    return all(is_positive_semidefinite(gap) for gap in gaps)


def smallest_eigenvalue_bound(build: MatrixIn, guess: float, precision: int = 128, semidefinite: bool = False) -> Any:
    """A lower bound of the smallest eigenvalue, as an exact ball; close to `guess` if the guess is accurate.

    `guess` (from floats) is not trusted: M − tI is certified positive definite for t slightly below it, else for
    smaller and smaller t, down to minus the Frobenius norm, which is always a lower bound. For a singular positive
    semidefinite M the bound is exactly 0.

    Args:
        semidefinite: M is known to be positive semidefinite.
    """
    import flint

    balls = arithmetics.get("ball", precision=precision)
    with balls.context():
        matrix = build(balls)
        identity = balls.identity(balls.size(matrix))
        frobenius = sum((entry * entry for entry in matrix.entries()), flint.arb(0)).upper().sqrt().upper()
        slack = max(abs(guess) * 1e-10, float(frobenius) * 1e-14)  # the accuracy of eigenvalues computed in floats
        if guess <= slack and (semidefinite or is_positive_semidefinite(build)):
            return flint.arb(0)
        for _ in range(8):
            candidate = flint.arb(guess - slack)
            if certifies_positive_definite(matrix - identity * candidate):
                return candidate
            slack *= 100
        return -frobenius  # |λ| <= ‖M‖_F for every eigenvalue


def largest_eigenvalue_bound(build: MatrixIn, guess: float, precision: int = 128) -> Any:
    """An upper bound of the largest eigenvalue, as an exact ball; close to `guess` if the guess is accurate."""
    return -smallest_eigenvalue_bound(lambda numbers: -build(numbers), -guess, precision)


def rank(array: np.ndarray) -> int:
    """The exact rank of a matrix of exact numbers."""
    return int(arithmetics.get("exact").matrix(array).rank())


def null_space(matrix: Matrix) -> list[np.ndarray]:
    """A basis of {v : matrix · v = 0} for an exact (fmpq) matrix, as integer vectors in object arrays."""
    return interruptible(lambda: _null_space(matrix), [matrix])


def _null_space(matrix: Matrix) -> list[np.ndarray]:
    import flint

    rows, size = int(matrix.nrows()), int(matrix.ncols())
    needed = size**2 * memory.NUMBER + size * max(0, size - rows) * memory.OBJECT
    memory.require(needed, "data", f"a matrix of {rows} rows and {size} columns", "its exact kernel", FEWER)
    integers, _ = matrix.numer_denom()
    basis, nullity = integers.nullspace()
    columns = []
    for j in range(nullity):
        column = np.empty(basis.nrows(), dtype=object)
        column[:] = [flint.fmpq(basis[i, j]) for i in range(basis.nrows())]
        columns.append(column)
    return columns


def inertia(matrix: Matrix) -> tuple[int, int, int]:
    """The numbers of (negative, zero, positive) eigenvalues of an exact symmetric matrix.

    All roots of its characteristic polynomial are real, so that Descartes' rule of signs counts them exactly.
    """
    integers, _ = matrix.numer_denom()
    coefficients = [int(c) for c in integers.charpoly().coeffs()]
    size = len(coefficients) - 1
    # the multiplicity of the root 0, then Descartes for positive roots; the rest is negative
    zero = next(i for i, c in enumerate(coefficients) if c != 0)
    positive = _sign_changes(coefficients)
    return size - zero - positive, zero, positive


def proves_nonsingular(build: MatrixIn) -> bool:
    """Whether balls prove that a square matrix is invertible; False means only that no proof was found."""
    balls = arithmetics.get("ball")
    with balls.context():
        try:
            balls.inverse(build(balls))
        except ZeroDivisionError:
            return False
        return True


def negative_direction(matrix: Matrix) -> np.ndarray | None:
    """An exact v with vᵀMv < 0 for an exact symmetric matrix; None where there is none (M is semidefinite).

    Symmetric Gaussian elimination: each step makes the remaining directions M-orthogonal to a pivot with positive
    value; `form` holds the values of the quadratic form on the remaining directions.
    """
    import flint

    size = matrix.nrows()
    form = np.array(matrix.tolist(), dtype=object)
    directions = np.array([[flint.fmpq(int(i == j)) for j in range(size)] for i in range(size)], dtype=object)
    left = list(range(size))
    while left:
        diagonal = [(form[i, i], i) for i in left]
        lowest, i = min(diagonal)
        if lowest < 0:
            return np.asarray(directions[i])
        pivot = next((i for value, i in diagonal if value > 0), None)
        if pivot is None:  # a zero diagonal: with f_ij ≠ 0, the form has the value ∓2 f_ij < 0 at v_i ∓ v_j
            for i in left:
                for j in left:
                    if form[i, j] != 0:
                        return np.asarray(directions[i] - directions[j] * (1 if form[i, j] > 0 else -1))
            return None
        left.remove(pivot)
        for i in left:
            factor = form[i, pivot] / form[pivot, pivot]
            directions[i] = directions[i] - directions[pivot] * factor
            form[i] = form[i] - form[pivot] * factor
        for i in left:
            form[pivot, i] = form[i, pivot] = flint.fmpq(0)
    return None


def certifies_positive_definite(ball_matrix: Matrix) -> bool:
    """Whether balls prove that M is positive definite: ‖I − X M Xᵀ‖_F < 1, where X ≈ (Cholesky factor)⁻¹ in floats.

    Then X M Xᵀ is positive definite, hence so is M. False means only that no proof was found.
    """
    import flint

    size = int(ball_matrix.nrows())
    needed = size**2 * (2 * memory.OBJECT + COPIES_IN_BALLS * 48)
    memory.require(needed, "data", f"a matrix of size {size}", "the proof that it is positive definite", FEWER)
    middle = _middle(ball_matrix)
    try:
        with arithmetics.get("float").context():
            # halved before the sum, which might overflow
            factor = np.linalg.inv(np.linalg.cholesky(middle / 2 + middle.T / 2))
    except np.linalg.LinAlgError:
        return False
    if not np.isfinite(factor).all():
        return False
    transposed = flint.arb_mat(size, size, factor.T.ravel().tolist())
    total = flint.arb(0)
    rows = max(FEWEST_ROWS, LONG_IN_BALLS // size**2)  # at a time: Ctrl-C waits for the end of a product
    for first in range(0, size, rows):
        part = factor[first : first + rows]
        # calls, since Python handles Ctrl-C after a call, but not between two operators
        half = mul(flint.arb_mat(len(part), size, part.ravel().tolist()), ball_matrix)
        defect = mul(half, transposed)
        for i in range(len(part)):
            for j in range(size):
                entry = defect[i, j] - 1 if first + i == j else defect[i, j]
                total += entry * entry
    return bool(total < 1)


def certifies_negative_direction(ball_matrix: Matrix) -> bool:
    """Whether balls prove that vᵀMv < 0 for some v; False means only that no proof was found."""
    import flint

    middle = _middle(ball_matrix)
    if not np.isfinite(middle).all():
        return False
    with arithmetics.get("float").context():
        direction = np.linalg.eigh(middle / 2 + middle.T / 2)[1][:, 0]
    v = flint.arb_mat(len(direction), 1, direction.tolist())
    return bool((v.transpose() * ball_matrix * v)[0, 0] < 0)


def _signs(matrix: "np.ndarray | MatrixIn", precision: int) -> tuple[int, int, int]:
    """The numbers of (negative, zero, positive) eigenvalues, as far as the callers need them.

    A certificate of a negative direction gives (1, 0, n − 1), though there may be more negative eigenvalues.
    """
    given: Any = matrix
    build: MatrixIn = (lambda arithmetic: arithmetic.matrix(given)) if isinstance(matrix, np.ndarray) else matrix
    balls = arithmetics.get("ball", precision=precision)
    with balls.context():
        enclosed = build(balls)
        size = balls.size(enclosed)
        if certifies_positive_definite(enclosed):
            return 0, 0, size
        if certifies_negative_direction(enclosed):
            return 1, 0, size - 1
    exact = build(arithmetics.get("exact"))
    return interruptible(lambda: inertia(exact), [exact])


def _middle(ball_matrix: Matrix) -> np.ndarray:
    size = ball_matrix.nrows()
    return np.array([float(entry.mid()) for entry in ball_matrix.entries()]).reshape(size, size)


def _sign_changes(coefficients: list[int]) -> int:
    signs = [c > 0 for c in coefficients if c != 0]
    return sum(a != b for a, b in pairwise(signs))
