"""Logistic regression clients: `Logistic` (two classes) and `MultinomialLogistic` (softmax over C classes)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.definiteness import largest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Scalar, float_array, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.designs import design_and_targets
from fedconvex.validation import client_list, integer_at_least, non_negative, normalised_weights, numbers, read_only


class LinearModel(Problem):
    """f_k(x) = (1/n_k) Σ_i loss of the linear scores of sample i, plus (ridge/2)‖x‖²."""

    A: Sequence[np.ndarray]  # (n_k, p) designs as the scores use them
    y: Sequence[np.ndarray]
    ridge: Any
    outputs: int
    curvature_bound: Fraction  # the supremum of the loss's curvature in one direction of the scores
    has_samples = True

    @property
    def dim(self) -> int:
        return self.outputs * int(self.A[0].shape[1])

    @cached_property
    def L(self) -> np.ndarray:
        largest = [squared_norm(A) / len(A) for A in self.A]
        return read_only(np.array(largest) * float(self.curvature_bound) + float(self.ridge))

    @property
    def mu(self) -> np.ndarray:
        return np.full(self.num_clients, float(self.ridge))

    def smoothness_bound(self, k: int) -> Scalar:
        import flint

        A = self.A[k]
        largest = largest_eigenvalue_bound(
            lambda numbers: numbers.product(numbers.transpose(numbers.matrix(A)), numbers.matrix(A)),
            squared_norm(A),
        )
        return largest * flint.arb(to_fmpq(self.curvature_bound)) / len(A) + self.strong_convexity_bound(k)

    def strong_convexity_bound(self, k: int) -> Scalar:
        import flint

        return flint.arb(to_fmpq(self.ridge))

    @property
    def is_convex(self) -> bool:
        return True

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        from fedconvex.problems.linear_models import LinearModelClients, LogisticLoss, SoftmaxLoss

        ridge = to_fraction(self.ridge)
        if arithmetic.name == "exact":
            raise InvalidInput(
                "arithmetic", "exact", "is impossible for logistic losses: exp is not rational", "use arithmetic='ball'"
            )
        if arithmetic.name == "ball":
            from fedconvex.problems.linear_models_in_balls import BallLinearModelClients

            return BallLinearModelClients(arithmetic, self, ridge, scale)
        loss = LogisticLoss() if self.outputs == 1 else SoftmaxLoss()
        return LinearModelClients.of(arithmetic, loss, self.A, self.y, self.outputs, ridge, scale)


def squared_norm(A: np.ndarray) -> float:
    """λ_max(AᵀA), in floats."""
    with arithmetics.get("float").context():
        return float(np.linalg.norm(float_array(A), 2) ** 2)


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Logistic(LinearModel):
    """f_k(x) = (1/n_k) Σ_i log(1 + exp(−y_i a_iᵀx)) + (ridge/2)‖x‖² (a mean over samples).

    L_k = λ_max(A_kᵀA_k)/(4 n_k) + ridge, attained at x = 0, and mu_k = ridge.

    Args:
        A: one (n_k, d) array per client.
        y: one (n_k,) array per client with entries −1 and +1.
        ridge: >= 0.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each.

    Raises:
        InvalidInput: ragged shapes, NaN, an empty client, labels outside {−1, +1}, a negative ridge, bad weights.
    """

    A: Sequence[np.ndarray]
    y: Sequence[np.ndarray]
    ridge: Any
    exact_weights: tuple[Fraction, ...]
    outputs = 1
    curvature_bound = Fraction(1, 4)

    def __init__(self, A: Any, y: Any, ridge: Any = 0.0, weights: Any = None) -> None:
        designs, labels = design_and_targets(A, y, "y")
        for k, y_k in enumerate(labels):
            for i in np.flatnonzero((y_k != 1) & (y_k != -1))[:1]:
                raise InvalidInput(
                    f"y[{k}][{i}]", y_k[i], "is not a label in {−1, +1}", "map the two classes to −1 and +1"
                )
        object.__setattr__(self, "A", designs)
        object.__setattr__(self, "y", labels)
        object.__setattr__(self, "ridge", non_negative(ridge, "ridge"))
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(designs)))

    def __repr__(self) -> str:
        samples = sum(map(len, self.y))
        return f"Logistic(m={self.num_clients}, d={self.dim}, samples={samples}, ridge={self.ridge})"


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class MultinomialLogistic(LinearModel):
    """Softmax cross-entropy, mean over samples, plus (ridge/2)‖x‖²; x is the flattened (C, d_features + 1) matrix.

    A column of ones is appended to every A_k (the last column of the matrix is the bias; the ridge covers it too).
    L_k = λ_max([A_k 1]ᵀ[A_k 1])/(2 n_k) + ridge: the softmax Hessian diag(p) − ppᵀ has norm at most 1/2, reached when
    two classes share the probability, which the biases can bring about for all samples at once. mu_k = ridge.

    Args:
        A: one (n_k, d_features) array per client, without the column of ones.
        y: one (n_k,) array per client with integers 0, …, C − 1.
        num_classes: C >= 2.
        ridge: >= 0.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each.

    Raises:
        InvalidInput: ragged shapes, NaN, an empty client, a label outside 0..C−1, a negative ridge, bad weights.
    """

    A: Sequence[np.ndarray]
    y: Sequence[np.ndarray]
    num_classes: int
    ridge: Any
    exact_weights: tuple[Fraction, ...]
    curvature_bound = Fraction(1, 2)

    def __init__(self, A: Any, y: Any, num_classes: int, ridge: Any = 0.0, weights: Any = None) -> None:
        raw = [numbers(A_k, f"A[{k}]", 2) for k, A_k in enumerate(client_list(A, "A"))]
        design_and_targets(raw, y, "y")  # refuses what does not fit before the column of ones is added
        designs, labels = design_and_targets(
            [np.hstack([A_k, np.ones((len(A_k), 1), A_k.dtype)]) for A_k in raw], y, "y"
        )
        num_classes = integer_at_least(num_classes, 2, "num_classes")
        for k, y_k in enumerate(labels):
            for i in np.flatnonzero((y_k < 0) | (y_k >= num_classes) | (y_k != np.floor(float_array(y_k))))[:1]:
                raise InvalidInput(
                    f"y[{k}][{i}]", y_k[i], f"is not a label 0, …, {num_classes - 1}", "number the classes from 0"
                )
        object.__setattr__(self, "A", designs)
        object.__setattr__(self, "y", labels)
        object.__setattr__(self, "num_classes", num_classes)
        object.__setattr__(self, "ridge", non_negative(ridge, "ridge"))
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(designs)))

    @property
    def outputs(self) -> int:  # type: ignore[override]
        return self.num_classes

    def __repr__(self) -> str:
        samples = sum(map(len, self.y))
        return f"MultinomialLogistic(m={self.num_clients}, d={self.dim}, classes={self.num_classes}, samples={samples})"
