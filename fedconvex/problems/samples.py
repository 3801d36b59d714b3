"""The clients' samples below one another, and the gradients of their functions on mini-batches of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, float_array
from fedconvex.certainty import Certainty

if TYPE_CHECKING:
    from fedconvex.local_solvers.descent import Descent


class SampleLoss(ABC):
    """A loss of C linear scores of one sample."""

    name: ClassVar[Literal["softmax", "logistic", "squares"]]

    @abstractmethod
    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        """∂loss/∂Z for scores Z (…, C) and targets y (…), shape (…, C)."""


@final
class HalfSquare(SampleLoss):
    """½(z − y)², one score."""

    name = "squares"

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return Z - y[..., None]


class Samples(ABC):
    """The samples of which the clients' functions are means or sums; a batch's mean gradient is ∇F_k's expectation."""

    arithmetic: Arithmetic
    first: np.ndarray  # (K,) the row of the first sample of every client
    count: np.ndarray  # (K,)

    @abstractmethod
    def subset(self, members: np.ndarray) -> "Samples":
        """The samples of some clients."""

    @abstractmethod
    def gradients(self, clients: np.ndarray, X: Array, rows: np.ndarray, shares: Array) -> Array:
        """The gradients of the clients numbered `clients` (b,) at X (b, d), each on its own batch.

        rows: (b, B) rows of samples; shares: (b, B) weights of the samples, 0 for padding.
        """

    def descend(self, descent: "Descent") -> Array:
        """Local SGD of all clients; (K, d)."""
        return descent.in_any_arithmetic(self)


@final
@dataclass(frozen=True, eq=False)
class LinearSamples(Samples):
    """F_k's gradient on a batch B of client k's samples: factor_k · mean_{i∈B} loss'(Θa_i, y_i) ⊗ a_i + ridge_k θ.

    Its mean over random batches is ∇F_k(θ). Θ is θ as a (C, p) matrix; client k's samples are the rows
    first_k, …, first_k + count_k − 1 of A (N, p) and y (N,).
    """

    arithmetic: Arithmetic
    loss: SampleLoss
    A: Array
    y: Array
    first: np.ndarray  # (K,)
    count: np.ndarray  # (K,)
    factor: Array  # (K,)
    ridge: Array  # (K,)

    def subset(self, members: np.ndarray) -> "LinearSamples":
        """A and y stay whole."""
        return replace(
            self,
            first=self.first[members],
            count=self.count[members],
            factor=self.factor[members],
            ridge=self.ridge[members],
        )

    def gradients(self, clients: np.ndarray, X: Array, rows: np.ndarray, shares: Array) -> Array:
        A = self.A[rows]
        features = A.shape[-1]
        Theta = X.reshape(len(X), -1, features)
        scores = (A[:, :, None, :] * Theta[:, None, :, :]).sum(-1)  # plain products: any arithmetic can
        xp = getattr(self.arithmetic, "xp", np)
        weighted = self.loss.derivatives(xp, scores, self.y[rows]) * shares[..., None]
        batch = (weighted[..., None] * A[:, :, None, :]).sum(1).reshape(len(X), -1)
        return self.factor[clients][:, None] * batch + self.ridge[clients][:, None] * X

    def descend(self, descent: "Descent") -> Array:
        return descent.compiled(self) if self.arithmetic.name == "float" else super().descend(descent)


def below_one_another(
    arithmetic: Arithmetic, blocks: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """A (N, p), y (N,), and the first row and number of rows of every client."""
    count = np.array([len(block) for block in blocks], dtype=np.int64)
    first = np.cumsum(count) - count

    def joined(parts: Sequence[np.ndarray]) -> Array:
        if arithmetic.certainty is Certainty.NUMERIC:
            return arithmetic.array(np.concatenate([float_array(part) for part in parts]))
        # as objects: joined with floats, long integers would become floats
        return arithmetic.array(np.concatenate([np.asarray(part).astype(object) for part in parts]))

    return joined(blocks), joined(targets), first, count


def sum_factor(factors: Array, count: np.ndarray, arithmetic: Arithmetic) -> Array:
    """The factors of losses that are summed over the samples, where batches are averaged."""
    numbers: Array = arithmetic.array(count)
    return factors * numbers
