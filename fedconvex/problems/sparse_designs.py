"""A client of a linear model whose design is a SciPy CSR array, with the interface of `linear_models.Bucket`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import float_array


def of_large_weights(scores: Callable[[Any], Any], W: Any) -> Any:
    """Scores (b, n, C), linear in the weights (b, C, p), also where terms of a sum overflow with both signs.

    What that leaves, NaN or an infinity of either sign, depends on the processor; of smaller weights the right one
    comes out.
    """
    found = scores(W)
    total = found.sum()
    if total - total == 0:  # all entries are finite
        return found
    largest = abs(W).reshape(len(W), -1).max(1)
    largest = getattr(largest, "values", largest)[:, None, None]  # of torch, without the places
    wrong = found - found != 0
    found[wrong] = (scores(W / (largest + (largest == 0))) * largest)[wrong]
    return found


@final
@dataclass(frozen=True, eq=False)
class SparseBucket:
    """One client; arrays have a first axis of length 1, as those of a bucket with several clients have one."""

    members: np.ndarray  # (1,) the client's index
    A: Any  # CSR (n, p)
    y: np.ndarray  # (1, n)
    shares: np.ndarray  # (1, n)

    @staticmethod
    def of_client(k: int, design: Any, labels: np.ndarray, sums: bool) -> "SparseBucket":
        """Client k, whose function is the sum over its samples, or their mean."""
        n = design.shape[0]
        return SparseBucket(np.array([k]), design, float_array(labels)[None], np.full((1, n), 1.0 if sums else 1 / n))

    def of(self, place: np.ndarray) -> "SparseBucket | None":
        """The client renumbered to place[k]; None where that is negative."""
        kept = place[self.members]
        return SparseBucket(kept, self.A, self.y, self.shares) if kept[0] >= 0 else None

    @property
    def features(self) -> int:
        """The number of features p."""
        return int(self.A.shape[1])

    @property
    def index(self) -> np.ndarray:
        """`members`."""
        return self.members

    def scores(self, W: np.ndarray) -> np.ndarray:
        """The scores (1, n, C) of all samples, for weights (1, C, p)."""
        found: np.ndarray = of_large_weights(lambda W: np.asarray(self.A @ W[0].T)[None], W)
        return found

    def repeated_scores(self, outputs: int) -> Callable[[np.ndarray], np.ndarray]:
        """`scores`, for many weights."""
        return self.scores

    def transposed(self, weighted: np.ndarray) -> np.ndarray:
        """Σ_i weighted_i ⊗ a_i, (1, C, p), for (1, n, C)."""
        return np.asarray(self.A.T @ weighted[0]).T[None]

    def squares(self, weights: np.ndarray) -> np.ndarray:
        """Σ_i weights_i a_i a_iᵀ, (1, p, p), for (1, n)."""
        return np.asarray((self.A.T @ (self.A * weights[0][:, None])).toarray())[None]
