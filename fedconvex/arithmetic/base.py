"""The interface of an arithmetic: numbers, arrays, and linear algebra on a batch of matrices, one per client."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.certainty import Certainty

Matrix = Any  # one (d, e) matrix of the arithmetic: ndarray, tensor, fmpq_mat or arb_mat
Batch = Any  # m matrices of equal shape: an (m, d, e) array, or a list of flint matrices
FEWER = "use fewer features or samples"


class Arithmetic(ABC):
    """Numbers, `(m, d)` arrays for methods, and matrices (single ones, or a batch of one per client) for problems.

    Methods need `+ − * /` on arrays and `average`; the rest serves problems, local solvers and fixed points.
    """

    name: str
    certainty: Certainty
    settings: tuple[Any, ...] = ()  # distinguishes arithmetics of the same name: precision, device …
    bytes_per_number: int = 8  # when it is communicated

    def context(self) -> AbstractContextManager[Any]:
        """The context in which to compute; it sets the working precision of balls, and one thread for floats."""
        return nullcontext()

    def require_room(self, rows: int, columns: int, copies: int = 1) -> None:
        """Raises TooLarge unless `copies` matrices of that shape can be allocated."""
        shape = f"an array of shape {(rows, columns)}"
        memory.require(rows * columns * copies * memory.NUMBER, "data", shape, "as floats, it", FEWER)

    @abstractmethod
    def scalar(self, value: Any) -> Scalar:
        """The number in this arithmetic: exact, enclosed (balls), or rounded to nearest (floats)."""

    def key(self, scalar: Scalar) -> Any:
        """A hashable value, equal for two scalars only if they are the same number (the same ball)."""
        return scalar

    @abstractmethod
    def array(self, values: Any) -> Array:
        """An array of the same shape, each entry converted as by `scalar`."""

    @abstractmethod
    def publish(self, values: Array) -> Array:
        """The array in the types that users receive: Fractions instead of fmpq."""

    def publish_scalar(self, value: Scalar) -> Scalar:
        """The number in the type that users receive."""
        return value

    @abstractmethod
    def matrix(self, values: Any) -> Matrix:
        """A matrix from a 2-d array of numbers."""

    @abstractmethod
    def identity(self, size: int) -> Matrix: ...

    @abstractmethod
    def product(self, left: Matrix, right: Matrix) -> Matrix: ...

    @abstractmethod
    def transpose(self, matrix: Matrix) -> Matrix: ...

    @abstractmethod
    def inverse(self, matrix: Matrix) -> Matrix:
        """The inverse; ZeroDivisionError where the matrix is singular, or (balls) may be singular."""

    @abstractmethod
    def solve(self, matrix: Matrix, right: Array) -> Array:
        """x with matrix · x = right, for a 1-d right-hand side; ZeroDivisionError as in `inverse`."""

    @abstractmethod
    def apply(self, matrix: Matrix, vector: Array) -> Array:
        """matrix · vector, 1-d."""

    @abstractmethod
    def stack(self, matrices: Sequence[Matrix]) -> Batch: ...

    @abstractmethod
    def matvec(self, batch: Batch, vectors: Array) -> Array:
        """Row k is batch_k · vectors_k: (m, d, e) and (m, e) give (m, d)."""

    @abstractmethod
    def weighted_sum(self, weights: Array, batch: Batch) -> Matrix:
        """Σ_k weights_k batch_k."""

    def shifted(self, batch: Batch, scalar: Scalar) -> Batch:
        """batch_k + scalar · I."""
        shift = self.identity(self.size(batch[0])) * self.scalar(scalar)
        return self.stack([matrix + shift for matrix in batch])

    def scaled(self, batch: Batch, scalar: Scalar) -> Batch:
        """scalar · batch_k."""
        factor = self.scalar(scalar)
        return self.stack([matrix * factor for matrix in batch])

    def inverses(self, batch: Batch) -> Batch:
        return self.stack([self.inverse(matrix) for matrix in batch])

    def products(self, left: Batch, right: Batch) -> Batch:
        """left_k · right_k."""
        return self.stack([self.product(a, b) for a, b in zip(left, right, strict=True)])

    @abstractmethod
    def size(self, matrix: Matrix) -> int:
        """The number of rows."""

    @abstractmethod
    def average(self, weights: Array, stack: Array) -> Array:
        """Σ_k weights_k stack_k over the client axis of an (m, d) array."""

    @abstractmethod
    def rows(self, arrays: Sequence[Array]) -> Array:
        """One array from arrays (or numbers) of equal shape, along a new first axis."""

    @abstractmethod
    def repeat(self, vector: Array, times: int) -> Array:
        """The (d,) vector as every row of a (times, d) array."""

    @abstractmethod
    def where(self, mask: np.ndarray, chosen: Array, other: Array) -> Array:
        """Row k is chosen_k where mask_k, else other_k; the mask is a NumPy array of truth values."""

    @abstractmethod
    def square_root(self, values: Array) -> Array:
        """The roots of entries that are known not to be negative; rationals have none."""

    @abstractmethod
    def sign(self, values: Array) -> Array:
        """−1, 0 or 1, entry by entry; for a ball around 0, a ball that contains the possible ones."""

    @abstractmethod
    def maximum(self, left: Array, right: Array) -> Array:
        """The larger number, entry by entry, of two arrays of one shape; of balls, one that contains it."""

    @abstractmethod
    def to_float(self, values: Array) -> Array:
        """The entries (of balls, the midpoints) rounded to nearest, as a float64 NumPy array."""
