"""Exact rationals and rigorous balls by flint: object arrays for methods, flint matrices for problems.

FLINT aborts the process where it gets no memory: matrices are estimated before they are created.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, final

import flint
import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.balls import square_root_upper
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.interruptible import interruptible
from fedconvex.arithmetic.rationals import (
    Array,
    Scalar,
    float_array,
    fraction_array,
    is_exactly_typed,
    to_fmpq,
    to_fraction,
)
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least

COPIES = 8  # of a ball matrix, measured: FLINT's inverse takes 7.9, its product 5.2
CURE = "use arithmetic='float', or fewer features or samples"


class FlintArithmetic(Arithmetic):
    """The operations that rationals and balls share; `number` and `matrix_type` are flint's types."""

    number: Any
    matrix_type: Any
    entry_bytes: int  # of a matrix's entry; rationals of many digits take more

    def array(self, values: Any) -> Array:
        values = np.asarray(values)
        self._require(values.size * memory.OBJECT, values.shape)
        return _entries(values, self.scalar)

    def require_room(self, rows: int, columns: int, copies: int = 1) -> None:
        """Raises TooLarge unless `copies` such matrices can be allocated, and the list of one's entries."""
        self._require(rows * columns * (copies * self.entry_bytes + memory.OBJECT), (rows, columns))

    def _require(self, needed: int, shape: tuple[int, ...]) -> None:
        if needed > memory.FREE:  # the usual few numbers need no words
            memory.require(needed, "data", _shown(shape), f"as {self.name} numbers, it", CURE)

    def identity(self, size: int) -> Matrix:
        self.require_room(size, size)
        return self.matrix_type(size, size, [int(i == j) for i in range(size) for j in range(size)])

    def product(self, left: Matrix, right: Matrix) -> Matrix:
        self.require_room(left.nrows(), right.ncols(), COPIES)
        return left * right

    def transpose(self, matrix: Matrix) -> Matrix:
        self.require_room(matrix.ncols(), matrix.nrows())
        return matrix.transpose()

    def inverse(self, matrix: Matrix) -> Matrix:
        self.require_room(matrix.nrows(), matrix.ncols(), COPIES)
        return matrix.inv()

    def solve(self, matrix: Matrix, right: Array) -> Array:
        self.require_room(matrix.nrows(), matrix.ncols(), COPIES)
        return _vector(matrix.solve(self._column(right)))

    def apply(self, matrix: Matrix, vector: Array) -> Array:
        return _vector(matrix * self._column(vector))

    def stack(self, matrices: Sequence[Matrix]) -> Batch:
        return list(matrices)

    def matvec(self, batch: Batch, vectors: Array) -> Array:
        result = np.empty((len(batch), batch[0].nrows()), dtype=object)
        for k, (matrix, vector) in enumerate(zip(batch, vectors, strict=True)):
            result[k] = (matrix * self._column(vector)).entries()
        return result

    def weighted_sum(self, weights: Array, batch: Batch) -> Matrix:
        self.require_room(batch[0].nrows(), batch[0].ncols(), COPIES)
        alike = all(weight == weights[0] for weight in weights)
        parts = list(batch) if alike else [matrix * weight for weight, matrix in zip(weights, batch, strict=True)]
        while len(parts) > 1:  # sums of few rationals are shorter: two by two
            parts = [sum(parts[i + 1 : i + 2], start=part) for i, part in enumerate(parts) if i % 2 == 0]
        return parts[0] * weights[0] if alike else parts[0]

    def size(self, matrix: Matrix) -> int:
        return int(matrix.nrows())

    def average(self, weights: Array, stack: Array) -> Array:
        return np.dot(weights, stack)

    def rows(self, arrays: Sequence[Array]) -> Array:
        return np.array(arrays, dtype=object)

    def repeat(self, vector: Array, times: int) -> Array:
        return np.repeat(vector[None], times, axis=0)

    def where(self, mask: np.ndarray, chosen: Array, other: Array) -> Array:
        return np.where(mask[:, None], chosen, other)

    def to_float(self, values: Array) -> Array:
        return float_array(values)

    def _column(self, vector: Array) -> Matrix:
        return self.matrix_type(len(vector), 1, list(vector))


@final
class ExactArithmetic(FlintArithmetic):
    """Rational numbers without any rounding; results are `fractions.Fraction`.

    Slow: the numbers grow with every operation. Use it on small problems, and where equality has to be decided.
    """

    name = "exact"
    certainty = Certainty.EXACT
    number = flint.fmpq
    matrix_type = flint.fmpq_mat
    entry_bytes = 16

    def scalar(self, value: Any) -> Scalar:
        return to_fmpq(value)

    def inverse(self, matrix: Matrix) -> Matrix:
        size, entry = int(matrix.nrows()), 0
        if size == matrix.ncols() == 1:  # federations on a line have many
            return flint.fmpq_mat(1, 1, [1 / matrix[0, 0]])
        if size**2 * memory.OBJECT > memory.FREE // 16:
            # Hadamard: a determinant of integers of b bits has at most size·(b + log₂√size) bits
            integers, _ = matrix.numer_denom()
            bits = max(abs(int(n)).bit_length() for n in integers.entries())
            entry = 2 * size * (bits + size.bit_length() // 2 + 1) // 8  # numerator and denominator
        if entry:
            memory.require(2 * size**2 * entry, "data", _shown((size, size)), "the inverse in rational numbers", CURE)
        entries = interruptible(lambda: matrix.inv().entries(), [matrix])
        return flint.fmpq_mat(size, size, entries)

    def solve(self, matrix: Matrix, right: Array) -> Array:
        return interruptible(lambda: _vector(matrix.solve(self._column(right))), [matrix])

    def publish(self, values: Array) -> Array:
        return fraction_array(values)

    def publish_scalar(self, value: Scalar) -> Scalar:
        return to_fraction(value)

    def square_root(self, values: Array) -> Array:
        raise InvalidInput(
            "arithmetic", self.name, "has no square roots", "use 'ball', which encloses them, or 'float'"
        )

    def sign(self, values: Array) -> Array:
        return _entries(values, lambda value: flint.fmpq(int(value > 0) - int(value < 0)))

    def maximum(self, left: Array, right: Array) -> Array:
        return np.where(left >= right, left, right)

    def matrix(self, values: Any) -> Matrix:
        values = np.asarray(values)
        rows, columns = values.shape
        self.require_room(rows, columns)
        if values.dtype.kind == "i":
            return flint.fmpq_mat(flint.fmpz_mat(rows, columns, values.ravel().tolist()))
        return flint.fmpq_mat(rows, columns, [to_fmpq(v) for v in values.ravel().tolist()])


@final
class BallArithmetic(FlintArithmetic):
    """flint's `arb` balls at `precision` bits: every result contains the true value.

    Use it where a bound must be rigorous and exact arithmetic is too slow or impossible (roots, exponentials).
    """

    name = "ball"
    certainty = Certainty.ENCLOSED
    number = flint.arb
    matrix_type = flint.arb_mat

    def __init__(self, precision: int = 128) -> None:
        self.precision = integer_at_least(precision, 2, "precision")
        self.settings = (self.precision,)
        self.entry_bytes = 48 + 2 * max(0, self.precision // 8 - 16)  # up to 128 bits are held in the entry itself

    def context(self) -> AbstractContextManager[Any]:
        return flint.ctx.workprec(self.precision)

    def scalar(self, value: Any) -> Scalar:
        return value if isinstance(value, flint.arb) else flint.arb(to_fmpq(value))

    def key(self, scalar: Scalar) -> Any:
        ball = self.scalar(scalar)
        return ball.mid().man_exp(), ball.rad().man_exp()

    def publish(self, values: Array) -> Array:
        return values

    def square_root(self, values: Array) -> Array:
        return _entries(values, square_root_upper)

    def sign(self, values: Array) -> Array:
        return _entries(values, flint.arb.sgn)

    def maximum(self, left: Array, right: Array) -> Array:
        pairs = zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)
        result = np.empty(left.shape, dtype=object)
        result.ravel()[:] = [one.max(other) for one, other in pairs]
        return result

    def matrix(self, values: Any) -> Matrix:
        values = np.asarray(values)
        rows, columns = values.shape
        self.require_room(rows, columns)
        if not is_exactly_typed(values):  # flint converts machine numbers exactly, and fast
            return flint.arb_mat(rows, columns, values.ravel().tolist())
        return flint.arb_mat(rows, columns, [self.scalar(v) for v in values.ravel()])


def _entries(values: Array, function: Callable[[Any], Any]) -> Array:
    """The function of every entry, in an array of the same shape."""
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = [function(value) for value in values.ravel().tolist()]
    return result


def _vector(column: Matrix) -> Array:
    result = np.empty(column.nrows(), dtype=object)
    result[:] = column.entries()
    return result


def _shown(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}"
