"""A round of local SGD over batches that were dealt before: what is to be done, and how in any arithmetic."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.minibatches import Minibatches
from fedconvex.problems.base import Subproblem

if TYPE_CHECKING:
    from fedconvex.problems.samples import LinearSamples, Samples


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """v ← momentum·v + clip(g_B + linear_k + weight(θ − center_k)) + weight_decay·θ and θ ← θ − stepsize·v over the
    batches B, from θ = start_k and v = 0.

    clip: the length to which longer gradients of the whole subproblem are cut; None: no limit.
    """

    subproblem: Subproblem
    batches: Minibatches
    stepsize: Scalar
    weight_decay: Scalar
    clip: float | None
    momentum: Scalar = 0

    def in_any_arithmetic(self, samples: "Samples") -> Array:
        """All clients step together, each on its own batch; those that have finished are left out.

        The clients are sorted by their number of steps, so that nothing is padded but the batches.
        """
        by_steps, running = in_order_of_steps(self.batches.steps)
        subproblem, theta = self.subproblem.of(by_steps), self.subproblem.start[by_steps] + 0
        velocity: Any = None
        for t, count in enumerate(running):
            here, members = theta[:count], by_steps[:count]
            rows, shares = self._batch(samples, members, t)
            gradients = samples.gradients(members, here, rows, shares)
            gradients = self._clipped(samples, subproblem.of(np.arange(count)).add_gradients(here, gradients))
            step = gradients + self.weight_decay * here
            velocity = step if velocity is None or self.momentum == 0 else self.momentum * velocity[:count] + step
            theta[:count] = here - self.stepsize * velocity
        return theta[np.argsort(by_steps)]

    def _batch(self, samples: "Samples", members: np.ndarray, t: int) -> tuple[np.ndarray, Array]:
        """The rows of the clients' t-th batches, padded, and the samples' weights in the mean, 0 for padding."""
        numbers = self.batches.client_batches[members] + t
        begin = self.batches.bounds[numbers]
        width = self.batches.bounds[numbers + 1] - begin
        columns = np.arange(width.max())
        place = begin[:, None] + np.minimum(columns, width[:, None] - 1)
        array = samples.arithmetic.array
        return self.batches.order[place], array((columns < width[:, None]).astype(int)) / array(width)[:, None]

    def _clipped(self, samples: "Samples", gradients: Array) -> Array:
        if self.clip is None:
            return gradients
        xp: Any = samples.arithmetic.xp  # type: ignore[attr-defined]
        lengths = (gradients * gradients).sum(-1)[:, None] ** 0.5
        return xp.where(lengths > self.clip, gradients * (self.clip / lengths), gradients)

    def compiled(self, samples: "LinearSamples") -> Array:
        """In machine code, for linear models in NumPy's floats."""
        from fedconvex.local_solvers.compiled_sgd import compiled_sgd

        return compiled_sgd(
            samples.loss.name,
            samples.A,
            samples.y,
            self.batches.order,
            self.batches.bounds,
            self.batches.client_batches,
            samples.factor,
            samples.ridge,
            self.subproblem.start,
            self.subproblem.linear,
            self.subproblem.weight,
            self.subproblem.center,
            self.stepsize,
            self.weight_decay,
            np.inf if self.clip is None else self.clip,
            self.momentum,
        )


def in_order_of_steps(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clients, those with most steps first, and how many of them still have a t-th step, for every t."""
    by_steps = np.argsort(-steps, kind="stable")
    running = np.searchsorted(-steps[by_steps], -np.arange(steps.max(initial=0)), side="left")
    return by_steps, running
