"""Classification with integer labels: softmax regression whose parameters lie as those of torch.nn.Linear do.

`MultinomialLogistic` has a row of parameters for each class, its bias last; torch's parameters, joined to one vector,
are the whole weight and then the biases. Exact local solutions have no closed form, so clients take gradient steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.logistic import MultinomialLogistic
from fedconvex.problems.losses import SoftmaxLoss
from fedconvex.problems.samples import Samples, concatenated
from fedconvex.validation import read_only


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class CrossEntropy(Problem):
    """f_k(x) = (1/n_k) Σ_i (log Σ_c exp(z_ic) − z_{i b_i}), z_i = W a_i + v, x = (W row by row, then v).

    It is what torch.nn.CrossEntropyLoss() computes of torch.nn.Linear(p, C) with weight W (C, p) and bias v (C,).
    """

    A: Sequence[np.ndarray]  # (n_k, p)
    b: Sequence[np.ndarray]  # (n_k,) int64, labels 0, …, C − 1
    num_classes: int
    exact_weights: tuple[Fraction, ...]
    has_samples = True

    def __init__(self, A: Any, b: Any, num_classes: int, weights: Any = None) -> None:
        checked = MultinomialLogistic(A=A, y=b, num_classes=num_classes, weights=weights)
        features = tuple(
            read_only(np.ascontiguousarray(A_k[:, :-1])) for A_k in checked.A
        )  # without the column of ones
        labels = tuple(read_only(float_array(y_k).astype(np.int64)) for y_k in checked.y)
        object.__setattr__(self, "A", features)
        object.__setattr__(self, "b", labels)
        object.__setattr__(self, "num_classes", checked.num_classes)
        object.__setattr__(self, "exact_weights", checked.exact_weights)
        object.__setattr__(self, "_rows", checked)

    _rows: MultinomialLogistic  # the same functions, the parameters in another order

    def __repr__(self) -> str:
        return f"CrossEntropy(m={self.num_clients}, d={self.dim}, classes={self.num_classes})"

    @property
    def dim(self) -> int:
        return self._rows.dim

    @property
    def L(self) -> np.ndarray:
        return self._rows.L

    @property
    def mu(self) -> np.ndarray:
        return self._rows.mu

    def smoothness_bound(self, k: int) -> Scalar:
        return self._rows.smoothness_bound(k)

    def strong_convexity_bound(self, k: int) -> Scalar:
        return self._rows.strong_convexity_bound(k)

    @property
    def is_convex(self) -> bool:
        return True

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        factors = arithmetic.array(list(scale))
        A, b, first, count = concatenated(arithmetic, self.A, self.b)
        return SoftmaxClients(SoftmaxSamples(arithmetic, A, b, first, count, factors, self.num_classes))


@final
@dataclass(frozen=True, eq=False)
class SoftmaxSamples(Samples):
    """Samples with gradients scale_k · mean_{i∈B} (softmax(z_i) − e_{b_i}) ⊗ (a_i, 1), in floats or balls."""

    arithmetic: Arithmetic
    A: Array  # (N, p)
    b: Array  # (N,)
    first: np.ndarray  # (K,)
    count: np.ndarray  # (K,)
    scale: Array  # (K,)
    num_classes: int
    disturb: Callable[[Array, Array], Array] | None = None  # (X, gradients) -> gradients, where rounding is simulated

    def subset(self, members: np.ndarray) -> "SoftmaxSamples":
        return replace(self, first=self.first[members], count=self.count[members], scale=self.scale[members])

    def values(self, clients: np.ndarray, X: Array, rows: np.ndarray, shares: Array) -> Array:
        """The values at X_j on batches, (b,), with the arguments of `gradients`."""
        losses = self._each(self._scores(X, rows), self.b[rows], _value_in_balls, SoftmaxLoss().values)
        return self.scale[clients] * (losses * shares).sum(-1)

    def gradients(self, clients: np.ndarray, X: Array, rows: np.ndarray, shares: Array) -> Array:
        scores, labels = self._scores(X, rows), self.b[rows]
        derivatives = self._each(scores, labels, _derivatives_in_balls, SoftmaxLoss().derivatives) * shares[..., None]
        of_weight = (derivatives[..., None] * self.A[rows][:, :, None, :]).sum(1).reshape(len(X), -1)
        found = self.scale[clients][:, None] * np.concatenate([of_weight, derivatives.sum(1)], axis=1)
        return found if self.disturb is None else self.disturb(X, found)

    def _scores(self, X: Array, rows: np.ndarray) -> Array:
        """z_i of every client's rows, (b, B, C)."""
        A, C = self.A[rows], self.num_classes
        weight, bias = X[:, : C * A.shape[-1]].reshape(len(X), C, -1), X[:, C * A.shape[-1] :]
        # sums of products instead of @: object arrays of balls need nothing else
        return (A[:, :, None, :] * weight[:, None, :, :]).sum(-1) + bias[:, None, :]

    def _each(
        self, scores: Array, labels: Array, in_balls: Callable[..., Any], in_floats: Callable[..., Array]
    ) -> Array:
        if self.arithmetic.name == "float":
            return in_floats(np, scores, labels)
        each = [in_balls(scores[place].tolist(), labels[place]) for place in np.ndindex(*labels.shape)]
        return np.array(each, dtype=object).reshape(*labels.shape, *np.shape(each[0]))


def _not_needed(*given: Any, **named: Any) -> Any:
    raise NotImplementedError("the check takes gradient steps on cross-entropies, and refuses what needs more")


@final
class SoftmaxClients(Clients):
    """Clients that take gradient steps, which is all that is checked of them."""

    def __init__(self, given: SoftmaxSamples) -> None:
        self.given, self.arithmetic, self.num_clients = given, given.arithmetic, len(given.count)
        self.dim = given.num_classes * (given.A.shape[1] + 1)

    def gradients(self, X: Array) -> Array:
        everyone, (rows, shares) = np.arange(self.num_clients), self._all_rows
        return self.given.gradients(everyone, self.rows(X), rows, shares)

    def samples(self) -> SoftmaxSamples:
        return self.given

    def disturbed(self, disturb: Callable[[Array, Array], Array]) -> "SoftmaxClients":
        """The same clients, each of whose gradients passes through `disturb`."""
        return SoftmaxClients(replace(self.given, disturb=disturb))

    def subset(self, members: np.ndarray) -> "SoftmaxClients":
        return SoftmaxClients(self.given.subset(members))

    @cached_property
    def _all_rows(self) -> tuple[np.ndarray, Array]:
        """Every client's rows, padded with its last one to one width, and the samples' weights in the mean."""
        columns, count = np.arange(self.given.count.max()), self.given.count[:, None]
        rows = self.given.first[:, None] + np.minimum(columns, count - 1)
        array = self.arithmetic.array
        return rows, array((columns < count).astype(int)) / array(count[:, 0])[:, None]

    def values(self, X: Array) -> Array:
        everyone, (rows, shares) = np.arange(self.num_clients), self._all_rows
        return self.given.values(everyone, self.rows(X), rows, shares)

    differences = hessians = hessian_products = minimise = _not_needed


def softmax_gradients(A: np.ndarray, labels: np.ndarray, X: np.ndarray) -> np.ndarray:
    """The gradients of the mean cross-entropy of these samples at X (E, d), in floats."""
    p, size = A.shape[1], len(X)
    classes = X.shape[1] // (p + 1)
    weight, bias = X[:, : classes * p].reshape(size, classes, p), X[:, classes * p :]
    error = SoftmaxLoss().derivatives(np, np.einsum("np,ecp->enc", A, weight) + bias[:, None], labels[None]) / len(A)
    return np.concatenate([np.einsum("enc,np->ecp", error, A).reshape(size, -1), error.sum(1)], axis=1)


def _derivatives_in_balls(scores: list[Any], label: Any) -> list[Any]:
    from fedconvex.problems.linear_models_in_balls import softmax  # late: it loads flint

    return [p - int(label == c) for c, p in enumerate(softmax(scores))]


def _value_in_balls(scores: list[Any], label: Any) -> Any:
    from fedconvex.problems.linear_models_in_balls import log_sum_exp

    return log_sum_exp(scores) - scores[int(float(label))]
