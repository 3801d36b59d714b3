"""Clients of linear models (logistic, softmax) in floating point, evaluated in batches of clients.

f_k(x) = (1/n_k) Σ_i loss(X a_i, y_i) + (ridge/2)‖x‖², where X is x as a (C, p) matrix (C scores per sample).
Clients of similar size share one padded array, so that one matrix product serves them all. Padded rows have weight 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.newton import minimise
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.once import Once
from fedconvex.problems.base import Clients
from fedconvex.problems.losses import Loss
from fedconvex.problems.proximal import ProximalFunctions
from fedconvex.problems.samples import LinearSamples, Samples, concatenated, sum_factor
from fedconvex.problems.subproblem import Subproblem
from fedconvex.sparse import dense, is_sparse


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


COPIED = 2**23  # bytes of a design up to which a copy is kept
PADDING = 1.25  # a bucket's largest client has at most this many times the samples of its smallest


@dataclass(frozen=True, eq=False)
class Bucket:
    """Clients of similar size in one padded array; `shares` are 1/n_k on samples and 0 on padded rows."""

    members: np.ndarray  # (b,) client indices
    A: Array  # (b, n, p)
    y: Array  # (b, n)
    shares: Array  # (b, n)

    def of(self, place: np.ndarray) -> "Bucket | None":
        """The clients k with place[k] >= 0, renumbered to place[k]; None if the bucket has none of them."""
        places = place[self.members]
        kept = np.flatnonzero(places >= 0)
        if not len(kept):
            return None
        if len(kept) == len(places):  # all clients stay: share the arrays
            return Bucket(places, self.A, self.y, self.shares)
        return Bucket(places[kept], self.A[kept], self.y[kept], self.shares[kept])

    @property
    def features(self) -> int:
        """The number of features p."""
        return int(self.A.shape[2])

    def scores(self, W: Array) -> Array:
        """The scores (b, n, C) of all samples, for weights (b, C, p)."""
        # each class is contiguous in memory: sums over few classes then run along the samples, several times as fast
        return of_large_weights(lambda W: (W @ self.features_first).swapaxes(1, 2), W)

    def repeated_scores(self, outputs: int) -> Callable[[Array], Array]:
        """`scores` for many weights; each call may overwrite the result of the one before."""
        if not isinstance(self.A, np.ndarray):
            return self.scores
        # fresh arrays of this size cost as much as a tenth of the product: the system hands out cleared pages
        result, design = np.empty((len(self.A), outputs, self.A.shape[1])), self.features_first
        return lambda W: np.matmul(W, design, out=result).swapaxes(1, 2)

    def transposed(self, weighted: Array) -> Array:
        """Σ_i weighted_i ⊗ a_i, (b, C, p), for (b, n, C)."""
        return weighted.swapaxes(1, 2) @ self.A

    def squares(self, weights: Array) -> Array:
        """Σ_i weights_i a_i a_iᵀ, (b, p, p), for (b, n)."""
        return self.A.swapaxes(1, 2) @ (weights[..., None] * self.A)

    @cached_property
    def features_first(self) -> Array:
        """A as a (b, p, n) array; a copy where it is small, since small products of rows take half as long."""
        view = self.A.swapaxes(1, 2)
        return np.ascontiguousarray(view) if isinstance(view, np.ndarray) and view.nbytes <= COPIED else view

    @cached_property
    def index(self) -> Any:
        """`members` as an index for arrays of the same library and device as A."""
        if isinstance(self.A, np.ndarray):
            return self.members
        import torch

        return torch.as_tensor(self.members, device=self.A.device)


@final
class LinearModelClients(Clients):
    """The functions F_k = scale_k · f_k of linear models in floating point (NumPy or torch)."""

    def __init__(
        self,
        arithmetic: Arithmetic,
        loss: Loss,
        outputs: int,
        ridge: Scalar,
        scale: Array,
        buckets: Sequence[Bucket | SparseBucket],
        samples: Callable[[], Samples],
    ) -> None:
        self.arithmetic, self.loss, self.outputs, self.ridge = arithmetic, loss, outputs, ridge
        # `samples` builds the flat arrays for SGD when it is first called: other solvers never need them
        self.scale, self.buckets, self.samples = scale, buckets, samples  # type: ignore[method-assign]
        self.xp: Any = arithmetic.xp  # type: ignore[attr-defined]
        self.num_clients, self.features = len(scale), buckets[0].features
        self.dim = outputs * self.features

    @staticmethod
    def of(
        arithmetic: Arithmetic,
        loss: Loss,
        designs: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        outputs: int,
        ridge: Fraction,
        scale: Sequence[Fraction],
        sums: bool = False,
    ) -> "LinearModelClients":
        """Builds the buckets from the clients' (n_k, p) designs, dense or CSR, and (n_k,) labels.

        sums: f_k is the sum over its samples, not the mean.
        """
        factors, ridge_here = arithmetic.array(np.array(scale, dtype=object)), arithmetic.scalar(ridge)

        def samples() -> Samples:
            A, y, first, count = concatenated(arithmetic, [dense(A, "A") for A in designs], labels)
            factor = sum_factor(factors, count, arithmetic) if sums else factors
            return LinearSamples(arithmetic, loss, A, y, first, count, factor, ridge_here * factors)

        buckets: list[Bucket] | list[SparseBucket]
        if is_sparse(designs[0]) and arithmetic.name == "float":
            buckets = [
                SparseBucket.of_client(k, A, y, sums) for k, (A, y) in enumerate(zip(designs, labels, strict=True))
            ]
        else:
            full = [dense(A, "A") for A in designs]
            buckets = [_bucket(arithmetic, group, full, labels) for group in size_groups([len(A) for A in full])]
        return LinearModelClients(arithmetic, loss, outputs, ridge_here, factors, buckets, Once(samples))

    def subset(self, members: np.ndarray) -> "LinearModelClients":
        place = np.full(self.num_clients, -1)  # the new index of every client, −1 if it is left out
        place[members] = np.arange(len(members))
        buckets = [kept for bucket in self.buckets if (kept := bucket.of(place)) is not None]
        scale, samples = self.scale[members], Once(lambda: self.samples().subset(members))
        chosen = LinearModelClients(self.arithmetic, self.loss, self.outputs, self.ridge, scale, buckets, samples)
        chosen.curvatures = self.curvatures.subset(members)
        return chosen

    def values(self, X: Array) -> Array:
        X = self.rows(X)
        result = self._collect(lambda b, W: (self.loss.values(self.xp, b.scores(W), b.y) * b.shares).sum(-1), X)
        return self.scale * (result + self._penalties(X, X))

    def _penalties(self, X: Array, Y: Array) -> Array:
        """(ridge/2)⟨x_k, y_k⟩; 0 without a ridge, also where the product overflows."""
        return self.ridge / 2 * (X * Y).sum(-1) if self.ridge else 0 * self.scale

    def differences(self, X: Array, reference: Array) -> Array:
        reference = self.rows(reference)
        step = self.rows(X) - reference

        def change(b: Bucket | SparseBucket, W: Array) -> Array:
            V = self._as_matrices(step[b.index])
            return (self.loss.differences(self.xp, b.scores(W), b.scores(V), b.y) * b.shares).sum(-1)

        penalties = self._penalties(2 * reference + step, step)  # (‖r + s‖² − ‖r‖²)/2 without cancellation
        return self.scale * (self._collect(change, reference) + penalties)

    def gradients(self, X: Array) -> Array:
        X = self.rows(X)

        def gradient(b: Bucket | SparseBucket, W: Array) -> Array:
            return self._weighted_sum(b, self.loss.derivatives(self.xp, b.scores(W), b.y))

        return self.scale[:, None] * (self._collect(gradient, X) + self.ridge * X)

    def values_and_gradients(self, points: Array) -> tuple[Array, Array]:
        values, gradients = zip(*(self._values_and_gradients(x) for x in points), strict=True)
        return self.arithmetic.rows(values), self.arithmetic.rows(gradients)

    def _values_and_gradients(self, X: Array) -> tuple[Array, Array]:
        """Both from the same scores, which cost most."""
        X = self.rows(X)

        def both(b: Bucket | SparseBucket, W: Array) -> Array:
            values, derivatives = self.loss.values_and_derivatives(self.xp, b.scores(W), b.y)
            return self.xp.hstack([(values * b.shares).sum(-1)[:, None], self._weighted_sum(b, derivatives)])

        result = self._collect(both, X)
        values = self.scale * (result[:, 0] + self._penalties(X, X))
        return values, self.scale[:, None] * (result[:, 1:] + self.ridge * X)

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.hessian_map(X)(V)

    def hessian_map(self, X: Array) -> Callable[[Array], Array]:
        X = self.rows(X)
        of_samples = {
            b: self.loss.curvature_map(
                self.xp, b.scores(self._as_matrices(X[b.index])), self.scale[b.index][:, None] * b.shares
            )
            for b in self.buckets
        }
        scores = {b: b.repeated_scores(self.outputs) for b in self.buckets}
        flat = (self.scale * self.ridge)[:, None]

        def product(b: Bucket | SparseBucket, directions: Array) -> Array:
            return b.transposed(of_samples[b](scores[b](directions))).reshape(len(b.members), self.dim)

        def products(V: Array) -> Array:
            V = self.rows(V)
            result = self._collect(product, V)
            result += flat * V
            return result

        return products

    @property
    def has_fast_products(self) -> bool:
        # a product reads the samples twice, or the matrices once
        samples = sum(b.y.shape[0] * b.y.shape[-1] for b in self.buckets)
        return bool(2 * samples * self.features < self.num_clients * self.dim**2)

    def hessians(self, X: Array) -> Batch:
        self.arithmetic.require_room(self.num_clients * self.dim, self.dim, copies=3)

        def hessian(b: Bucket | SparseBucket, W: Array) -> Array:
            curvatures = self.loss.curvatures(self.xp, b.scores(W)) * b.shares[..., None, None]
            size, p = len(b.members), self.features
            # the (C·p, C·p) Hessian consists of C × C blocks of size p × p, symmetric in the two classes
            blocks = _empty(b.y, (size, self.outputs, p, self.outputs, p))
            for i in range(self.outputs):
                for j in range(i + 1):
                    block = b.squares(curvatures[..., i, j])
                    blocks[:, i, :, j, :] = block
                    blocks[:, j, :, i, :] = block
            return blocks.reshape(size, self.dim, self.dim)

        hessians = self._collect(hessian, self.rows(X))
        return self.scale[:, None, None] * self.arithmetic.shifted(hessians, self.ridge)

    def minimise(self, subproblem: Subproblem) -> Array:
        guess = subproblem.start if subproblem.guess is None else subproblem.guess
        functions = ProximalFunctions(self, subproblem)
        return minimise(functions, guess, rounding=functions.rounding)

    def _collect(self, compute: Any, X: Array) -> Array:
        """Applies `compute` to every bucket and returns the results in the order of the clients."""
        if len(self.buckets) == 1 and self._in_order:  # one bucket in order: no scatter
            return compute(self.buckets[0], self._as_matrices(X))
        result = None
        for bucket in self.buckets:
            part = compute(bucket, self._as_matrices(X[bucket.index]))
            if result is None:
                result = _empty(part, (self.num_clients, *part.shape[1:]))
            result[bucket.index] = part
        return result

    def _as_matrices(self, X: Array) -> Array:
        """The points (b, d) as (b, C, p) matrices of weights."""
        return X.reshape(len(X), self.outputs, self.features)

    def _weighted_sum(self, bucket: Bucket | SparseBucket, derivatives: Array) -> Array:
        """Σ_i shares_i derivatives_i ⊗ a_i for every client of the bucket, flattened to (b, d)."""
        return bucket.transposed(derivatives * bucket.shares[..., None]).reshape(len(bucket.members), self.dim)

    @cached_property
    def _in_order(self) -> bool:
        return bool((self.buckets[0].members == np.arange(self.num_clients)).all())


def _bucket(
    arithmetic: Arithmetic, group: Sequence[int], designs: Sequence[np.ndarray], labels: Sequence[np.ndarray]
) -> Bucket:
    longest = max(len(designs[k]) for k in group)
    arithmetic.require_room(len(group) * longest, designs[0].shape[1])
    A = np.zeros((len(group), longest, designs[0].shape[1]))
    # padded labels are 1, a valid label of every loss; padded shares are 0
    y, shares = np.ones((len(group), longest)), np.zeros((len(group), longest))
    for row, k in enumerate(group):
        n = len(designs[k])
        A[row, :n], y[row, :n], shares[row, :n] = float_array(designs[k]), float_array(labels[k]), 1 / n
    data = arithmetic.array(A), arithmetic.array(y), arithmetic.array(shares)
    return Bucket(np.array(group), *data)


def _empty(like: Array, shape: tuple[int, ...]) -> Array:
    """An uninitialised array of this shape, of the same library and device as `like`."""
    return np.empty(shape) if isinstance(like, np.ndarray) else like.new_empty(shape)


def size_groups(sizes: Sequence[int]) -> list[list[int]]:
    """Groups the clients by size, so that padding a group to its largest client costs at most a factor PADDING."""
    groups: list[list[int]] = []  # the first client of a group is its largest
    if max(sizes) <= PADDING * min(sizes):
        return [list(range(len(sizes)))]
    for k in sorted(range(len(sizes)), key=lambda k: (-sizes[k], k)):
        if groups and sizes[groups[-1][0]] <= PADDING * sizes[k]:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups
