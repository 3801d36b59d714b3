"""Stochastic gradient steps on mini-batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.minibatches import Minibatches, deal
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.problems.samples import Samples
from fedconvex.rationals import Array, Scalar, nearest_float
from fedconvex.validation import integer_at_least, non_negative, positive


@final
@dataclass(frozen=True, kw_only=True)
class SGD(LocalSolver):
    """θ ← θ − s_t(clip(g_B(θ) + linear_k + weight(θ − center_k)) + weight_decay·θ) over mini-batches B, from start_k.

    g_B is the mean over the batch, scaled so that its expectation is ∇F_k (for sums over samples: n_k/|B| Σ_{i∈B}). An
    epoch visits every sample once, in an order drawn anew from the run's seed, the round and the client; its last batch
    may be smaller. The same seed gives the same batches whatever the method.

    Args:
        epochs: full passes, or
        steps: batches, one of the two >= 1.
        batch_size: >= 1; None: all of a client's samples.
        stepsize: > 0; in round t = 0, 1, … the steps are stepsize · decay^t.
        decay: > 0.
        weight_decay: >= 0; as in most optimisers it is added after clipping.
        clip: > 0, the length to which longer gradients (of the whole subproblem) are cut; None: no limit.
    """

    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = 10
    stepsize: Scalar = number()
    decay: Scalar = number(default=1)
    weight_decay: Scalar = number(default=0)
    clip: Any = None

    has_path_lengths: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.steps is None):
            raise InvalidInput(
                "epochs", self.epochs, f"and steps = {self.steps}: one is needed", "give epochs or steps"
            )
        for name in ("epochs", "steps", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer_at_least(getattr(self, name), 1, name))
        positive(self.stepsize, "stepsize")
        positive(self.decay, "decay")
        non_negative(self.weight_decay, "weight_decay")
        if self.clip is not None:
            positive(self.clip, "clip")

    @property
    def effort(self) -> int | None:
        return self.epochs if self.steps is None else self.steps

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if self.clip is not None and arithmetic.certainty is not Certainty.NUMERIC:
            problem = f"needs square roots, which {arithmetic.name} arithmetic does not take here"
            raise InvalidInput("clip", self.clip, problem, "use 'float' or 'torch', or no clip")

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        if not isinstance(problem, LeastSquares | LinearModel):
            raise InvalidInput(
                "local_solver", self, f"draws mini-batches, and {problem} has no samples", "use GradientDescent"
            )

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        samples = clients.samples()
        amounts = np.full(clients.num_clients, self.effort) if draw.efforts is None else draw.efforts
        batches = deal(
            samples.first,
            samples.count,
            self.batch_size,
            epochs=amounts if self.steps is None else None,
            steps=amounts if self.steps is not None else None,
            members=np.arange(clients.num_clients) if draw.members is None else draw.members,
            seed=draw.seed,
            round=draw.round,
        )
        stepsize = self.stepsize * self.decay**draw.round
        if clients.arithmetic.name == "float":
            points = self._compiled(samples, subproblem, batches, stepsize)
        else:
            points = self._in_any_arithmetic(samples, subproblem, batches, stepsize)
        return Answers(points, stepsize * clients.arithmetic.array(batches.steps)[:, None])

    def _compiled(self, samples: Samples, subproblem: Subproblem, batches: Minibatches, stepsize: float) -> Array:
        from fedconvex.local_solvers.compiled_sgd import compiled_sgd

        return compiled_sgd(
            samples.loss.name,
            samples.A,
            samples.y,
            batches.order,
            batches.bounds,
            batches.client_batches,
            samples.factor,
            samples.ridge,
            subproblem.start,
            subproblem.linear,
            subproblem.weight,
            subproblem.center,
            stepsize,
            self.weight_decay,
            np.inf if self.clip is None else nearest_float(self.clip),
        )

    def _in_any_arithmetic(
        self, samples: Samples, subproblem: Subproblem, batches: Minibatches, stepsize: Scalar
    ) -> Array:
        """All clients step together, each on its own batch; those that have finished are left out.

        The clients are sorted by their number of steps, so that nothing is padded but the batches.
        """
        arithmetic, steps = samples.arithmetic, batches.steps
        theta = subproblem.start + 0
        by_steps = np.argsort(-steps, kind="stable")
        widths = np.diff(batches.bounds)
        for t in range(steps.max(initial=0)):
            running = by_steps[: np.searchsorted(-steps[by_steps], -t, side="left")]
            numbers = batches.client_batches[running] + t
            width = widths[numbers]
            place = batches.bounds[numbers][:, None] + np.minimum(np.arange(width.max()), width[:, None] - 1)
            real = np.arange(width.max()) < width[:, None]
            shares = arithmetic.array(real.astype(int)) / arithmetic.array(width)[:, None]
            here = theta[running]
            gradients = samples.gradients(running, here, batches.order[place], shares)
            gradients = self._clipped(subproblem.of(running).add_gradients(here, gradients))
            theta[running] = here - stepsize * (gradients + self.weight_decay * here)
        return theta

    def _clipped(self, gradients: Array) -> Array:
        if self.clip is None:
            return gradients
        limit = nearest_float(self.clip)
        for k, square in enumerate((gradients * gradients).sum(-1)):
            if square > limit**2:
                gradients[k] = gradients[k] * (limit / square**0.5)
        return gradients
