"""The clients' losses on their data (A_k, b_k): squared residuals, summed or averaged, halved or not; cross-entropy."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.conformance.classification import CrossEntropy
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.problems.designs import design_and_targets
from fedconvex.problems.quadratics import KnownSpectra, LeastSquares
from fedconvex.validation import normalised_weights

# name of the loss -> (factor of Σ r², whether it is divided by the number of samples)
LOSSES = {
    "half_sum": (Fraction(1, 2), False),
    "sum": (Fraction(1), False),
    "half_mean": (Fraction(1, 2), True),
    "mean": (Fraction(1), True),
}
CROSS_ENTROPY = "cross_entropy"  # the mean over a client's samples, of labels 0, …, CLASSES − 1
CLASSES = 3


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Squares(KnownSpectra):
    """f_k(x) = factor_k ‖A_k x − b_k‖², factor_k being 1, 1/n_k, ½ or 1/(2 n_k): see `LOSSES`.

    "mean" is what torch.nn.MSELoss computes; "half_sum" is `fedconvex.LeastSquares`.
    """

    A: Sequence[np.ndarray]
    b: Sequence[np.ndarray]
    loss: str
    exact_weights: tuple[Fraction, ...]

    def __init__(self, A: Any, b: Any, loss: str, weights: Any = None) -> None:
        designs, targets = design_and_targets(A, b, "b")
        object.__setattr__(self, "A", designs)
        object.__setattr__(self, "b", targets)
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(designs)))

    def __repr__(self) -> str:
        return f"Squares({self.loss}, m={self.num_clients}, d={self.dim})"

    @property
    def dim(self) -> int:
        return int(self.A[0].shape[1])

    def factor(self, k: int) -> Fraction:
        """factor_k of the class's formula."""
        return factor_of(self.loss, len(self.b[k]))

    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        A, twice = arithmetic.matrix(self.A[k]), arithmetic.scalar(2 * self.factor(k))
        transposed = arithmetic.transpose(A)
        c = arithmetic.apply(transposed, arithmetic.array(self.b[k]))
        return arithmetic.product(transposed, A) * twice, c * twice

    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        A, b = arithmetic.matrix(self.A[k]), arithmetic.array(self.b[k])
        residual = (x @ A.T if x.ndim == 2 else arithmetic.apply(A, x)) - b
        return arithmetic.scalar(self.factor(k)) * (residual * residual).sum(-1)

    @property
    def _spectra(self) -> list[tuple[float, float]]:
        numbers = arithmetics.get("float")
        values = [np.linalg.eigvalsh(self.client_terms(k, numbers)[0]) for k in range(self.num_clients)]
        return [(own[0], own[-1]) for own in values]

    @property
    def is_convex(self) -> bool:
        return True


def factor_of(loss: str, samples: int) -> Fraction:
    """The factor of Σ r² in the loss of a client with this number of samples."""
    factor, averaged = LOSSES[loss]
    return factor / samples if averaged else factor


def problem_of(loss: str, A: Sequence[np.ndarray], b: Sequence[np.ndarray], weights: Any = None) -> Problem:
    """The problem with this loss; for "half_sum" the package's own `LeastSquares`."""
    if loss == CROSS_ENTROPY:
        return CrossEntropy(A, b, CLASSES, weights)
    if loss not in LOSSES:
        raise InvalidInput("loss", loss, "is unknown", f"choose from {', '.join((*LOSSES, CROSS_ENTROPY))}")
    return LeastSquares(A=A, b=b, weights=weights) if loss == "half_sum" else Squares(A, b, loss, weights)
