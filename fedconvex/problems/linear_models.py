"""Clients whose function is the mean of a loss of linear scores, plus a ridge: floating point, batched.

f_k(x) = (1/n_k) Σ_i loss(X a_i, y_i) + (ridge/2)‖x‖², where X is x as a (C, p) matrix (C scores per sample).
Clients of similar size share one padded array; a padded row has sample weight 0, so it changes nothing.
"""

from abc import abstractmethod
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
from fedconvex.problems.base import Clients, Subproblem
from fedconvex.problems.proximal import ProximalFunctions
from fedconvex.problems.samples import LinearSamples, SampleLoss, Samples, below_one_another

TINY = 1e-250
FAR = 500.0  # exp of more overflows: such steps are subtracted as they are
PADDING = 1.25  # the largest client of a bucket has at most this many times the samples of its smallest


class Loss(SampleLoss):
    """A loss of C linear scores, for arrays of scores Z (…, n, C) and labels y (…, n)."""

    @abstractmethod
    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        """loss(Z_i, y_i), shape (…, n)."""

    def values_and_derivatives(self, xp: Any, Z: Array, y: Array) -> tuple[Array, Array]:
        """Both at once."""
        return self.values(xp, Z, y), self.derivatives(xp, Z, y)

    @abstractmethod
    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        """loss(Z_i + step_i, y_i) − loss(Z_i, y_i) without cancellation, shape (…, n)."""

    @abstractmethod
    def curvatures(self, xp: Any, Z: Array) -> Array:
        """∂²loss/∂Z², shape (…, n, C, C)."""


@final
class LogisticLoss(Loss):
    """log(1 + exp(−y z)), one score, y in {−1, +1}."""

    name = "logistic"

    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        return _softplus(xp, -y * Z[..., 0])

    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        margin, change = -y * Z[..., 0], -y * step[..., 0]
        # counted upwards from the lower of the two margins, every term is positive: nothing cancels
        rise, lower = abs(change), xp.minimum(margin, margin + change)
        near = xp.log1p(_sigmoid(xp, lower) * xp.expm1(xp.clip(rise, 0, FAR)))
        far = _softplus(xp, lower + rise) - _softplus(xp, lower)
        return xp.where(change >= 0, 1.0, -1.0) * xp.where(rise < FAR, near, far)

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return (-y * _sigmoid(xp, -y * Z[..., 0]))[..., None]

    def curvatures(self, xp: Any, Z: Array) -> Array:
        return (_sigmoid(xp, Z) * _sigmoid(xp, -Z))[..., None]


@final
class SoftmaxLoss(Loss):
    """Cross-entropy log Σ_c exp(z_c) − z_y, C scores, y in {0, …, C−1}."""

    name = "softmax"

    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        return self.values_and_derivatives(xp, Z, y)[0]

    def values_and_derivatives(self, xp: Any, Z: Array, y: Array) -> tuple[Array, Array]:
        # relative to the label's score, whose own term is exactly 1: small losses keep their digits
        label = 1.0 * _is_label(xp, Z, y)
        ahead = Z - (Z * label).sum(-1)[..., None]
        highest = xp.amax(ahead, -1)  # >= 0, the label's own being 0
        powers = xp.exp(ahead - highest[..., None])
        others = (powers * (1.0 - label)).sum(-1)
        values = xp.where(highest > 0, highest + xp.log(xp.exp(-highest) + others), xp.log1p(others))
        return values, powers / powers.sum(-1)[..., None] - label

    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        # relative to the label's own step its term is exactly 0, and below −1/2 the sum of powers is all positive
        relative = step - _pick(xp, step, y)[..., None]
        p, bounded = self.probabilities(xp, Z), xp.clip(relative, -FAR, FAR)
        change, powers = (p * xp.expm1(bounded)).sum(-1), (p * xp.exp(bounded)).sum(-1)
        near = xp.where(change > -0.5, xp.log1p(xp.clip(change, -0.75, None)), xp.log(xp.clip(powers, TINY, None)))
        is_near = (xp.amax(abs(relative), -1) < FAR) & (powers > TINY)
        return xp.where(is_near, near, self.values(xp, Z + step, y) - self.values(xp, Z, y))

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return self.probabilities(xp, Z) - 1.0 * _is_label(xp, Z, y)

    def curvatures(self, xp: Any, Z: Array) -> Array:
        p = self.probabilities(xp, Z)
        return p[..., :, None] * (_places(xp, Z)[:, None] == _places(xp, Z)) - p[..., :, None] * p[..., None, :]

    def probabilities(self, xp: Any, Z: Array) -> Array:
        highest = xp.amax(Z, -1)
        powers = xp.exp(Z - highest[..., None])
        return powers / powers.sum(-1)[..., None]


@dataclass(frozen=True, eq=False)
class Bucket:
    """Clients of similar size in one padded array; `shares` are 1/n_k on real rows and 0 on padded ones."""

    members: np.ndarray  # (b,) client indices
    A: Array  # (b, n, p)
    y: Array  # (b, n)
    shares: Array  # (b, n)

    def of(self, place: np.ndarray) -> "Bucket | None":
        """The clients k with place[k] >= 0, which are numbered place[k] from now on; None where there are none."""
        places = place[self.members]
        kept = np.flatnonzero(places >= 0)
        if not len(kept):
            return None
        if len(kept) == len(places):  # nothing to leave out, nothing to copy
            return Bucket(places, self.A, self.y, self.shares)
        return Bucket(places[kept], self.A[kept], self.y[kept], self.shares[kept])

    @cached_property
    def index(self) -> Any:
        """The members as an index of arrays of A's kind: a tensor where A lies, or the NumPy array."""
        if isinstance(self.A, np.ndarray):
            return self.members
        import torch

        return torch.as_tensor(self.members, device=self.A.device)


@final
class LinearModelClients(Clients):
    """F_k = scale_k · f_k in floating point (NumPy or torch)."""

    def __init__(
        self,
        arithmetic: Arithmetic,
        loss: Loss,
        outputs: int,
        ridge: Scalar,
        scale: Array,
        buckets: Sequence[Bucket],
        samples: Callable[[], Samples],
    ) -> None:
        self.arithmetic, self.loss, self.outputs, self.ridge = arithmetic, loss, outputs, ridge
        self.scale, self.buckets, self.samples = scale, buckets, samples  # type: ignore[method-assign]
        self.xp: Any = arithmetic.xp  # type: ignore[attr-defined]
        self.num_clients, self.features = len(scale), buckets[0].A.shape[2]
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
    ) -> "LinearModelClients":
        """From the clients' (n_k, p) designs and (n_k,) labels."""
        factors, ridge_here = arithmetic.array(np.array(scale, dtype=object)), arithmetic.scalar(ridge)

        def samples() -> Samples:
            A, y, first, count = below_one_another(arithmetic, designs, labels)
            return LinearSamples(arithmetic, loss, A, y, first, count, factors, ridge_here * factors)

        groups = size_groups([len(A) for A in designs])
        buckets = [_bucket(arithmetic, group, designs, labels) for group in groups]
        return LinearModelClients(arithmetic, loss, outputs, ridge_here, factors, buckets, Once(samples))

    def subset(self, members: np.ndarray) -> "LinearModelClients":
        place = np.full(self.num_clients, -1)
        place[members] = np.arange(len(members))
        buckets = [kept for bucket in self.buckets if (kept := bucket.of(place)) is not None]
        scale, samples = self.scale[members], Once(lambda: self.samples().subset(members))
        chosen = LinearModelClients(self.arithmetic, self.loss, self.outputs, self.ridge, scale, buckets, samples)
        chosen.curvatures = self.curvatures.subset(members)
        return chosen

    def values(self, X: Array) -> Array:
        X = self.rows(X)
        result = self._collect(lambda b, W: (self.loss.values(self.xp, self._scores(b, W), b.y) * b.shares).sum(-1), X)
        return self.scale * (result + self.ridge / 2 * (X * X).sum(-1))

    def differences(self, X: Array, reference: Array) -> Array:
        reference = self.rows(reference)
        step = self.rows(X) - reference

        def change(b: Bucket, W: Array) -> Array:
            V = self._weights(step[b.index])
            return (self.loss.differences(self.xp, self._scores(b, W), self._scores(b, V), b.y) * b.shares).sum(-1)

        ridge = self.ridge * ((reference + step / 2) * step).sum(-1)
        return self.scale * (self._collect(change, reference) + ridge)

    def gradients(self, X: Array) -> Array:
        X = self.rows(X)

        def gradient(b: Bucket, W: Array) -> Array:
            return self._back(b, self.loss.derivatives(self.xp, self._scores(b, W), b.y))

        return self.scale[:, None] * (self._collect(gradient, X) + self.ridge * X)

    def values_and_gradients(self, points: Array) -> tuple[Array, Array]:
        values, gradients = zip(*(self._values_and_gradients(x) for x in points), strict=True)
        return self.arithmetic.rows(values), self.arithmetic.rows(gradients)

    def _values_and_gradients(self, X: Array) -> tuple[Array, Array]:
        """The scores, which cost most, serve both."""
        X = self.rows(X)

        def both(b: Bucket, W: Array) -> Array:
            values, derivatives = self.loss.values_and_derivatives(self.xp, self._scores(b, W), b.y)
            return self.xp.hstack([(values * b.shares).sum(-1)[:, None], self._back(b, derivatives)])

        result = self._collect(both, X)
        values = self.scale * (result[:, 0] + self.ridge / 2 * (X * X).sum(-1))
        return values, self.scale[:, None] * (result[:, 1:] + self.ridge * X)

    def hessian_products(self, X: Array, V: Array) -> Array:
        V = self.rows(V)

        def product(b: Bucket, W: Array) -> Array:
            curvatures = self.loss.curvatures(self.xp, self._scores(b, W))
            step = self._scores(b, self._weights(V[b.index]))
            return self._back(b, (curvatures @ step[..., None])[..., 0])

        return self.scale[:, None] * (self._collect(product, self.rows(X)) + self.ridge * V)

    def hessians(self, X: Array) -> Batch:
        def hessian(b: Bucket, W: Array) -> Array:
            curvatures = self.loss.curvatures(self.xp, self._scores(b, W)) * b.shares[..., None, None]
            transposed = b.A.swapaxes(1, 2)
            size, p = len(b.members), self.features
            blocks = _empty(b.A, (size, self.outputs, p, self.outputs, p))
            for i in range(self.outputs):
                for j in range(i + 1):
                    block = transposed @ (curvatures[..., i, j, None] * b.A)
                    blocks[:, i, :, j, :] = block
                    blocks[:, j, :, i, :] = block
            return blocks.reshape(size, self.dim, self.dim)

        hessians = self._collect(hessian, self.rows(X))
        return self.scale[:, None, None] * self.arithmetic.shifted(hessians, self.ridge)

    def minimise(self, subproblem: Subproblem) -> Array:
        guess = subproblem.start if subproblem.guess is None else subproblem.guess
        return minimise(ProximalFunctions(self, subproblem), guess)

    def _collect(self, compute: Any, X: Array) -> Array:
        """The buckets' results, back in the order of the clients."""
        if len(self.buckets) == 1 and self._in_order:  # no copy
            return compute(self.buckets[0], self._weights(X))
        result = None
        for bucket in self.buckets:
            part = compute(bucket, self._weights(X[bucket.index]))
            if result is None:
                result = _empty(part, (self.num_clients, *part.shape[1:]))
            result[bucket.index] = part
        return result

    def _weights(self, X: Array) -> Array:
        return X.reshape(len(X), self.outputs, self.features)

    def _scores(self, bucket: Bucket, W: Array) -> Array:
        return bucket.A @ W.swapaxes(1, 2)

    def _back(self, bucket: Bucket, derivatives: Array) -> Array:
        """Σ_i shares_i derivatives_i ⊗ a_i, flattened."""
        weighted = derivatives * bucket.shares[..., None]
        return (weighted.swapaxes(1, 2) @ bucket.A).reshape(len(bucket.members), self.dim)

    @cached_property
    def _in_order(self) -> bool:
        return bool((self.buckets[0].members == np.arange(self.num_clients)).all())


def _bucket(
    arithmetic: Arithmetic, group: Sequence[int], designs: Sequence[np.ndarray], labels: Sequence[np.ndarray]
) -> Bucket:
    longest = max(len(designs[k]) for k in group)
    A = np.zeros((len(group), longest, designs[0].shape[1]))
    y, shares = np.ones((len(group), longest)), np.zeros((len(group), longest))
    for row, k in enumerate(group):
        n = len(designs[k])
        A[row, :n], y[row, :n], shares[row, :n] = float_array(designs[k]), float_array(labels[k]), 1 / n
    data = arithmetic.array(A), arithmetic.array(y), arithmetic.array(shares)
    return Bucket(np.array(group), *data)


def _empty(like: Array, shape: tuple[int, ...]) -> Array:
    """An array of that shape, its entries not set, of the other's kind and where the other lies."""
    return np.empty(shape) if isinstance(like, np.ndarray) else like.new_empty(shape)


def size_groups(sizes: Sequence[int]) -> list[list[int]]:
    """Clients grouped so that padding each group to its largest member costs at most PADDING times."""
    groups: list[list[int]] = []
    if max(sizes) <= PADDING * min(sizes):
        return [list(range(len(sizes)))]
    for k in sorted(range(len(sizes)), key=lambda k: (-sizes[k], k)):
        if groups and sizes[groups[-1][0]] <= PADDING * sizes[k]:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _softplus(xp: Any, t: Array) -> Array:
    return xp.clip(t, 0, None) + xp.log1p(xp.exp(-abs(t)))


def _sigmoid(xp: Any, t: Array) -> Array:
    decay = xp.exp(-abs(t))
    return xp.where(t >= 0, 1 / (1 + decay), decay / (1 + decay))


def _pick(xp: Any, Z: Array, y: Array) -> Array:
    """Z_{i, y_i}."""
    return (Z * _is_label(xp, Z, y)).sum(-1)


def _is_label(xp: Any, Z: Array, y: Array) -> Array:
    return y[..., None] == _places(xp, Z)


def _places(xp: Any, Z: Array) -> Array:
    """0, …, C − 1, where Z lies."""
    return xp.arange(Z.shape[-1]) if isinstance(Z, np.ndarray) else xp.arange(Z.shape[-1], device=Z.device)
