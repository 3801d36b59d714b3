"""The samples of all clients in one array, and gradients of the clients' functions on mini-batches of them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.certainty import Certainty
from fedconvex.problems.local_sgd import Descent, Moments, in_order_of_steps
from fedconvex.problems.losses import SampleLoss


class Samples(ABC):
    """The samples over which the clients' functions are means or sums, for solvers that use mini-batches.

    Batch gradients are unbiased: the expectation over random batches is ∇F_k.
    """

    arithmetic: Arithmetic
    first: np.ndarray  # (K,) the row of every client's first sample
    count: np.ndarray  # (K,) the number of every client's samples

    @abstractmethod
    def subset(self, members: np.ndarray) -> "Samples":
        """The samples of some clients, given by their indices."""

    @abstractmethod
    def gradients(self, clients: np.ndarray, X: Array, rows: np.ndarray, shares: Array) -> Array:
        """The gradient of client clients[j] at X_j on a batch of its own, for every j: shape (b, d).

        clients: (b,) indices; X: (b, d); rows: (b, B) rows of samples; shares: (b, B) weights of the samples in the
        batch's mean, 0 for padding.
        """

    def descend(self, descent: Descent) -> Array:
        """The clients' points after a round of local SGD, (K, d), in any arithmetic.

        All clients step together, each on its own batch, and leave when their batches are used up.
        """
        by_steps, running = in_order_of_steps(descent.batches.steps)
        subproblem, theta = descent.subproblem.of(by_steps), descent.subproblem.start[by_steps] + 0  # + 0: a copy
        velocity: Any = None
        moments = None if descent.moments is None else MomentsOfClients(descent.moments, 0 * theta, 0 * theta)
        for t, count in enumerate(running):
            here, members = theta[:count], by_steps[:count]
            rows, shares = self._batch(descent, members, t)
            gradients = self.gradients(members, here, rows, shares)
            gradients = self._clipped(descent, subproblem.of(np.arange(count)).add_gradients(here, gradients))
            if moments is None:
                step = gradients + descent.weight_decay * here
                kept = velocity is not None and descent.momentum != 0
                velocity = descent.momentum * velocity[:count] + step if kept else step
                direction = velocity
            else:
                direction = moments.direction(here, gradients, descent.weight_decay, t + 1)
            theta[:count] = here - descent.stepsize_at(t) * direction
        return theta[np.argsort(by_steps)]

    def _batch(self, descent: Descent, members: np.ndarray, t: int) -> tuple[np.ndarray, Array]:
        """The rows of the clients' t-th batches, padded to one width, and the samples' weights in the mean."""
        batches, array = descent.batches, self.arithmetic.array
        numbers = batches.client_batches[members] + t
        begin = batches.bounds[numbers]
        width = batches.bounds[numbers + 1] - begin
        columns = np.arange(width.max())
        place = begin[:, None] + np.minimum(columns, width[:, None] - 1)  # padding repeats the last sample
        return batches.order[place], array((columns < width[:, None]).astype(int)) / array(width)[:, None]

    def _clipped(self, descent: Descent, gradients: Array) -> Array:
        if descent.clip is None:
            return gradients
        xp: Any = self.arithmetic.xp  # type: ignore[attr-defined]
        lengths = (gradients * gradients).sum(-1)[:, None] ** 0.5
        return xp.where(lengths > descent.clip, gradients * (descent.clip / lengths), gradients)


@final
@dataclass(eq=False)
class MomentsOfClients:
    """The moments of K clients during their steps, (K, d) each; the first ones are those that still step."""

    rule: Moments
    first: Array
    second: Array

    def direction(self, theta: Array, gradients: Array, weight_decay: Scalar, step: int) -> Array:
        """The direction of step 1, 2, … of the first clients, whose points and gradients are given."""
        (one, two), count = self.rule.betas, len(theta)
        decay = weight_decay * theta
        if not self.rule.decoupled:
            gradients = gradients + decay
        self.first = one * self.first[:count] + (1 - one) * gradients
        self.second = two * self.second[:count] + (1 - two) * gradients * gradients
        scale = (self.second / (1 - two**step)) ** 0.5 + self.rule.epsilon
        direction = self.first / (1 - one**step) / scale
        return direction + decay if self.rule.decoupled else direction


@final
@dataclass(frozen=True, eq=False)
class LinearSamples(Samples):
    """Samples of linear models with gradients factor_k · mean_{i∈B} loss'(Θa_i, y_i) ⊗ a_i + ridge_k θ on a batch B.

    Θ is θ as a (C, p) matrix; client k's samples are the rows first_k, …, first_k + count_k − 1 of A and y.
    """

    arithmetic: Arithmetic
    loss: SampleLoss
    A: Array  # (N, p)
    y: Array  # (N,)
    first: np.ndarray  # (K,)
    count: np.ndarray  # (K,)
    factor: Array  # (K,) scale_k for a mean over samples, scale_k·n_k for a sum
    ridge: Array  # (K,)

    def subset(self, members: np.ndarray) -> "LinearSamples":
        """Shares A and y with the whole, without a copy."""
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
        # sums of products instead of @ or einsum: object arrays of rationals need nothing else
        scores = (A[:, :, None, :] * Theta[:, None, :, :]).sum(-1)
        xp = getattr(self.arithmetic, "xp", np)
        weighted = self.loss.derivatives(xp, scores, self.y[rows]) * shares[..., None]
        batch = (weighted[..., None] * A[:, :, None, :]).sum(1).reshape(len(X), -1)
        return self.factor[clients][:, None] * batch + self.ridge[clients][:, None] * X


def concatenated(
    arithmetic: Arithmetic, blocks: Sequence[np.ndarray], targets: Sequence[np.ndarray]
) -> tuple[Array, Array, np.ndarray, np.ndarray]:
    """The clients' designs and targets as A (N, p) and y (N,), and each client's first row and number of rows."""
    count = np.array([len(block) for block in blocks], dtype=np.int64)
    first = np.cumsum(count) - count

    def joined(parts: Sequence[np.ndarray]) -> Array:
        if arithmetic.certainty is Certainty.NUMERIC:
            return arithmetic.array(np.concatenate([float_array(part) for part in parts]))
        # as objects: if one block has floats, np.concatenate would round the integers of the others to floats
        return arithmetic.array(np.concatenate([np.asarray(part).astype(object) for part in parts]))

    return joined(blocks), joined(targets), first, count


def sum_factor(factors: Array, count: np.ndarray, arithmetic: Arithmetic) -> Array:
    """factors_k · n_k: turns the mean over a batch into an unbiased estimate of the sum over a client's samples."""
    numbers: Array = arithmetic.array(count)
    return factors * numbers
