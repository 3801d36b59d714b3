"""What an arithmetic must offer: numbers, arrays of them, and the linear algebra of a batch of client matrices."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.certainty import Certainty

Matrix = Any  # one (d, e) matrix of the arithmetic: ndarray, tensor, fmpq_mat or arb_mat
Batch = Any  # m matrices of equal shape: an (m, d, e) array, or a list of flint matrices


class Arithmetic(ABC):
    """Numbers, `(m, d)` arrays for the methods, and matrices (one, or a batch of one per client) for the problems."""

    name: str
    certainty: Certainty
    settings: tuple[Any, ...] = ()  # what else tells it from others of its name: precision, device …
    bytes_per_number: int = 8  # of a number that is sent

    def context(self) -> AbstractContextManager[Any]:
        """Everything is computed inside this; balls set their working precision here."""
        return nullcontext()

    @abstractmethod
    def scalar(self, value: Any) -> Scalar:
        """The number in this arithmetic; exactly, or (balls) enclosed, or (floats) rounded to nearest."""

    def key(self, scalar: Scalar) -> Any:
        """A hashable value that is equal only for scalars that are the same number (for balls: the same ball)."""
        return scalar

    @abstractmethod
    def array(self, values: Any) -> Array:
        """An array of the same shape, entry by entry as `scalar`."""

    @abstractmethod
    def publish(self, values: Array) -> Array:
        """The array as users get it."""

    def publish_scalar(self, value: Scalar) -> Scalar:
        """One number as users get it."""
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
        """Raises ZeroDivisionError where the matrix is singular, or (balls) cannot be told from a singular one."""

    @abstractmethod
    def solve(self, matrix: Matrix, right: Array) -> Array:
        """x with matrix · x = right, for a 1-d right-hand side; raises like `inverse`."""

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
    def to_float(self, values: Array) -> Array:
        """float64 NumPy values nearest to the entries (midpoints for balls)."""
