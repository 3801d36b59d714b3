"""Logistic regression clients: `Logistic` (two classes) and `MultinomialLogistic` (softmax over C classes)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.definiteness import largest_eigenvalue_bound
from fedconvex.arithmetic.rationals import Scalar, float_array, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.once import Once
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.designs import design_and_targets, design_arrays, smaller_gram
from fedconvex.sparse import occupied, with_ones
from fedconvex.validation import (
    index_of_client,
    integer_at_least,
    non_negative,
    normalised_weights,
    read_only,
)


class LinearModel(Problem):
    """f_k(x) = (1/n_k) Σ_i loss(scores of sample i) + (ridge/2)‖x‖²: what both classes of this file share."""

    A: Sequence[np.ndarray]  # (n_k, p) designs; the multinomial model's include the column of ones
    y: Sequence[np.ndarray]
    ridge: Any
    outputs: int  # C, the number of scores of a sample
    curvature_bound: Fraction  # the supremum of the loss's curvature along unit directions of the scores
    has_samples = True

    @property
    def dim(self) -> int:
        return self.outputs * int(self.A[0].shape[1])

    @cached_property
    def L(self) -> np.ndarray:
        largest = [squared_norm(A) / A.shape[0] for A in self.A]
        return read_only(np.array(largest) * float(self.curvature_bound) + float(self.ridge))

    @property
    def mu(self) -> np.ndarray:
        # no more: the loss's curvature vanishes as the scores grow
        return np.full(self.num_clients, float(self.ridge))

    def smoothness_bound(self, k: int) -> Scalar:
        import flint

        A = self.A[index_of_client(k, self.num_clients)]
        # squared_norm is a float estimate; the function certifies an upper bound near it
        largest = largest_eigenvalue_bound(lambda numbers: smaller_gram(A, numbers), squared_norm(A))
        bound = largest * flint.arb(to_fmpq(self.curvature_bound)) / A.shape[0]
        return bound + self.strong_convexity_bound(k)

    def strong_convexity_bound(self, k: int) -> Scalar:
        import flint

        index_of_client(k, self.num_clients)
        return flint.arb(to_fmpq(self.ridge))

    @property
    def is_convex(self) -> bool:
        return True

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        from fedconvex.problems.linear_models import LinearModelClients
        from fedconvex.problems.losses import LogisticLoss, SoftmaxLoss

        ridge = to_fraction(self.ridge)
        if arithmetic.name == "exact":
            raise InvalidInput(
                "arithmetic", "exact", "is impossible for logistic losses: exp is not rational", "use arithmetic='ball'"
            )
        if arithmetic.name == "ball":
            from fedconvex.problems.linear_models_in_balls import BallLinearModelClients

            floats = Once(lambda: self.clients("float", scale))
            factors = [arithmetic.scalar(s) for s in scale]
            return BallLinearModelClients(arithmetic, self.A, self.y, self.outputs, ridge, factors, floats)
        loss = LogisticLoss() if self.outputs == 1 else SoftmaxLoss()
        return LinearModelClients.of(arithmetic, loss, self.A, self.y, self.outputs, ridge, scale)


def squared_norm(A: np.ndarray) -> float:
    """λ_max(AᵀA) in floating point."""
    with arithmetics.get("float").context():
        return float(np.linalg.norm(float_array(occupied(A)[1]), 2) ** 2)


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Logistic(LinearModel):
    """Binary logistic regression: f_k(x) = (1/n_k) Σ_i log(1 + exp(−y_i a_iᵀx)) + (ridge/2)‖x‖².

    Use it for classification into two classes. With ridge = 0 and separable data there is no minimiser. There is no
    intercept: append a column of ones to A for one. Runs in floats, torch and balls; exp rules out exact arithmetic.

    Convention: f_k is the mean over the client's samples, so that weights n_k/n give the mean over all samples.
    L_k = λ_max(A_kᵀA_k)/(4 n_k) + ridge, attained at x = 0, and mu_k = ridge.

    Args:
        A: one (n_k, d) array per client, n_k >= 1.
        y: one (n_k,) array per client with entries −1 and +1.
        ridge: >= 0, also the strong convexity constant.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each.

    Raises:
        InvalidInput: ragged shapes, NaN, an empty client, labels outside {−1, +1}, a negative ridge, bad weights.
    """

    A: Sequence[np.ndarray]
    y: Sequence[np.ndarray]
    ridge: Any
    exact_weights: tuple[Fraction, ...]
    outputs = 1
    curvature_bound = Fraction(1, 4)  # the maximum of σ(1 − σ)

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

    @classmethod
    def from_frame(
        cls, frame: Any, client: str | None = None, target: str | None = None, **preparation: Any
    ) -> "Logistic":
        """Logistic regression on a table: `fedconvex.data.from_frame` with the task binary.

        Any two labels will do, such as 0 and 1, or no and yes: the smaller one becomes −1.
        frame, client, target, preparation: see there. Raises UntidyTable, InvalidInput.
        """
        from fedconvex.data.frames import from_frame

        return cast(Logistic, from_frame(frame, client, target, "binary", model="logistic", **preparation))

    def __repr__(self) -> str:
        samples = sum(map(len, self.y))
        return f"Logistic(m={self.num_clients}, d={self.dim}, samples={samples}, ridge={short_text(self.ridge)})"


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class MultinomialLogistic(LinearModel):
    """Softmax regression over C classes: the mean cross-entropy of a client's samples plus (ridge/2)‖x‖².

    Use it for classification into two or more classes; for two, `Logistic` has half as many unknowns. With ridge = 0
    the minimiser is never unique: adding a vector to all rows of x changes nothing.

    f_k(x) = (1/n_k) Σ_i (log Σ_c exp(z_ic) − z_{i y_i}) + (ridge/2)‖x‖² with scores z_i = X [a_i; 1], where X is x as a
    (C, d_features + 1) matrix, so d = C·(d_features + 1). The class appends the column of ones to every A_k; the last
    column of X is the bias, which the ridge penalises too. Runs in floats, torch and balls.
    L_k = λ_max([A_k 1]ᵀ[A_k 1])/(2 n_k) + ridge: the softmax Hessian diag(p) − ppᵀ has norm at most 1/2, reached when
    two classes share the probability, which the biases can bring about for all samples at once. mu_k = ridge.

    Args:
        A: one (n_k, d_features) array per client, n_k >= 1, without the column of ones.
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
    curvature_bound = Fraction(1, 2)  # the supremum of ‖diag(p) − ppᵀ‖

    def __init__(self, A: Any, y: Any, num_classes: int, ridge: Any = 0.0, weights: Any = None) -> None:
        raw = design_arrays(A)
        design_and_targets(raw, y, "y")  # before the column of ones is added: errors show the shapes as given
        designs, labels = design_and_targets([with_ones(A_k) for A_k in raw], y, "y")
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

    @classmethod
    def from_frame(
        cls, frame: Any, client: str | None = None, target: str | None = None, **preparation: Any
    ) -> "MultinomialLogistic":
        """Softmax regression on a table: `fedconvex.data.from_frame` with the task multiclass.

        The target's labels, texts or whole numbers, are numbered from 0 in sorted order.
        frame, client, target, preparation: see there. Raises UntidyTable, InvalidInput.
        """
        from fedconvex.data.frames import from_frame

        problem = from_frame(frame, client, target, "multiclass", model="multinomial", **preparation)
        return cast(MultinomialLogistic, problem)

    def __repr__(self) -> str:
        samples = sum(map(len, self.y))
        return f"MultinomialLogistic(m={self.num_clients}, d={self.dim}, classes={self.num_classes}, samples={samples})"
