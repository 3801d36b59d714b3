"""Losses of linear scores of one sample: squares, logistic and softmax cross-entropy.

Z holds the C scores of each sample, with shape (…, C) or (…, n, C), y the targets or labels. `xp` is NumPy or torch,
whose functions of the same names serve both. Every formula is arranged so that it neither overflows nor cancels.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, final

import numpy as np

from fedconvex.arithmetic.rationals import Array

TINY = 1e-250
FAR = 500.0  # exp of larger steps overflows: for these the two losses are subtracted as they are


class SampleLoss(ABC):
    """A loss of C linear scores of one sample with its derivatives, which is all that SGD needs."""

    name: ClassVar[Literal["softmax", "logistic", "squares"]]

    @abstractmethod
    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        """∂loss/∂Z for scores Z (…, C) and targets y (…), shape (…, C)."""


class Loss(SampleLoss):
    """A loss with values and curvatures too, for scores Z (…, n, C) and labels y (…, n)."""

    @abstractmethod
    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        """loss(Z_i, y_i), shape (…, n)."""

    def values_and_derivatives(self, xp: Any, Z: Array, y: Array) -> tuple[Array, Array]:
        """`values` and `derivatives`; a subclass may share work between them."""
        return self.values(xp, Z, y), self.derivatives(xp, Z, y)

    @abstractmethod
    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        """loss(Z_i + step_i, y_i) − loss(Z_i, y_i) without cancellation, shape (…, n)."""

    @abstractmethod
    def curvatures(self, xp: Any, Z: Array) -> Array:
        """∂²loss/∂Z² for every sample, shape (…, n, C, C)."""

    @abstractmethod
    def curvature_map(self, xp: Any, Z: Array, shares: Array) -> Callable[[Array], Array]:
        """S ↦ share · (∂²loss/∂Z²)S for every sample, (…, n, C) to (…, n, C); what S does not change is computed once.

        The map may overwrite S. shares: (…, n).
        """


@final
class HalfSquare(Loss):
    """½(z − y)², one score."""

    name = "squares"

    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        return (Z[..., 0] - y) ** 2 / 2

    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        return (Z[..., 0] - y + step[..., 0] / 2) * step[..., 0]

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return Z - y[..., None]

    def curvatures(self, xp: Any, Z: Array) -> Array:
        return xp.ones_like(Z)[..., None]

    def curvature_map(self, xp: Any, Z: Array, shares: Array) -> Callable[[Array], Array]:
        return lambda S: shares[..., None] * S


@final
class LogisticLoss(Loss):
    """log(1 + exp(−y z)), one score, y in {−1, +1}."""

    name = "logistic"

    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        return _softplus(xp, -y * Z[..., 0])

    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        margin, change = -y * Z[..., 0], -y * step[..., 0]
        # log(1 + e^(t+r)) − log(1 + e^t) = log(1 + σ(t)(e^r − 1)); with t the smaller margin r >= 0: nothing cancels
        rise, lower = abs(change), xp.minimum(margin, margin + change)
        near = xp.log1p(_sigmoid(xp, lower) * xp.expm1(xp.clip(rise, 0, FAR)))
        far = _softplus(xp, lower + rise) - _softplus(xp, lower)
        return xp.where(change >= 0, 1.0, -1.0) * xp.where(rise < FAR, near, far)

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return (-y * _sigmoid(xp, -y * Z[..., 0]))[..., None]

    def curvatures(self, xp: Any, Z: Array) -> Array:
        return (_sigmoid(xp, Z) * _sigmoid(xp, -Z))[..., None]

    def curvature_map(self, xp: Any, Z: Array, shares: Array) -> Callable[[Array], Array]:
        curvatures = shares[..., None] * self.curvatures(xp, Z)[..., 0]
        return lambda S: curvatures * S


@final
class SoftmaxLoss(Loss):
    """Cross-entropy log Σ_c exp(z_c) − z_y, C scores, y in {0, …, C − 1}."""

    name = "softmax"

    def values(self, xp: Any, Z: Array, y: Array) -> Array:
        return self.values_and_derivatives(xp, Z, y)[0]

    def values_and_derivatives(self, xp: Any, Z: Array, y: Array) -> tuple[Array, Array]:
        # Scores relative to the label's: its own term is then exactly 1, and log1p keeps the digits of small losses.
        label = 1.0 * _is_label(xp, Z, y)
        ahead = Z - (Z * label).sum(-1)[..., None]
        highest = xp.amax(ahead, -1)  # >= 0, since the label's own entry is 0
        powers = xp.exp(ahead - highest[..., None])
        others = (powers * (1.0 - label)).sum(-1)
        values = xp.where(highest > 0, highest + xp.log(xp.exp(-highest) + others), xp.log1p(others))
        return values, powers / powers.sum(-1)[..., None] - label

    def differences(self, xp: Any, Z: Array, step: Array, y: Array) -> Array:
        # With steps r relative to the label's, the difference is log Σ_c p_c e^(r_c) = log1p(Σ_c p_c (e^(r_c) − 1)).
        # If that sum is near −1, log1p loses digits, but Σ_c p_c e^(r_c), a sum of positive terms, does not.
        relative = step - _label_entries(xp, step, y)[..., None]
        p, bounded = self.probabilities(xp, Z), xp.clip(relative, -FAR, FAR)
        change, powers = (p * xp.expm1(bounded)).sum(-1), (p * xp.exp(bounded)).sum(-1)
        near = xp.where(change > -0.5, xp.log1p(xp.clip(change, -0.75, None)), xp.log(xp.clip(powers, TINY, None)))
        is_near = (xp.amax(abs(relative), -1) < FAR) & (powers > TINY)
        if bool(is_near.all()):
            return near
        return xp.where(is_near, near, self.values(xp, Z + step, y) - self.values(xp, Z, y))

    def derivatives(self, xp: Any, Z: Array, y: Array) -> Array:
        return self.probabilities(xp, Z) - 1.0 * _is_label(xp, Z, y)

    def curvatures(self, xp: Any, Z: Array) -> Array:
        p = self.probabilities(xp, Z)
        classes = _class_indices(xp, Z)
        return p[..., :, None] * (classes[:, None] == classes) - p[..., :, None] * p[..., None, :]

    def curvature_map(self, xp: Any, Z: Array, shares: Array) -> Callable[[Array], Array]:
        p = self.probabilities(xp, Z)
        weighted = shares[..., None] * p

        def product(S: Array) -> Array:
            # (diag p − ppᵀ)s without a C × C matrix; einsum, since sums along a short last axis are slow
            S -= xp.einsum("...c,...c->...", p, S)[..., None]
            S *= weighted
            return S

        return product

    def probabilities(self, xp: Any, Z: Array) -> Array:
        """exp(z_c) / Σ_e exp(z_e), shape (…, n, C)."""
        highest = xp.amax(Z, -1)
        powers = xp.exp(Z - highest[..., None])
        return powers / powers.sum(-1)[..., None]


def _softplus(xp: Any, t: Array) -> Array:
    """log(1 + exp(t)), without overflow for large t."""
    return xp.clip(t, 0, None) + xp.log1p(xp.exp(-abs(t)))


def _sigmoid(xp: Any, t: Array) -> Array:
    """1/(1 + exp(−t)), without overflow for t of either sign."""
    decay = xp.exp(-abs(t))
    return xp.where(t >= 0, 1 / (1 + decay), decay / (1 + decay))


def _label_entries(xp: Any, Z: Array, y: Array) -> Array:
    """Z_{i, y_i}, the entry of every sample's label."""
    return (Z * _is_label(xp, Z, y)).sum(-1)


def _is_label(xp: Any, Z: Array, y: Array) -> Array:
    """Whether the class is the sample's label, shape (…, n, C)."""
    if Z.ndim < 3:
        return y[..., None] == _class_indices(xp, Z)
    # each class is contiguous in memory, as in the scores of many clients: what mixes both layouts takes twice as long
    return (y[..., None, :] == _class_indices(xp, Z)[:, None]).swapaxes(-1, -2)


def _class_indices(xp: Any, Z: Array) -> Array:
    """0, …, C − 1, on the device of Z."""
    return xp.arange(Z.shape[-1]) if isinstance(Z, np.ndarray) else xp.arange(Z.shape[-1], device=Z.device)
