"""Local SGD: stochastic gradient steps on mini-batches of the client's samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.minibatches import draw_minibatches
from fedconvex.optional import is_installed
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.local_sgd import Descent
from fedconvex.problems.samples import LinearSamples, Samples
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import fraction_of_one, integer_at_least, non_negative, positive


@final
@dataclass(frozen=True, kw_only=True)
class SGD(LocalSolver):
    """Local solver: stochastic gradient steps on mini-batches, as in the papers' experiments.

    Use it for deep networks, for large data sets, or to reproduce papers' experiments. With a constant stepsize it does
    not converge to a point but to a neighbourhood; for exact answers use `Exact`, for a deterministic local solver with
    the same bias `GradientDescent`. Needs a problem with samples (not `Quadratic`).

    θ ← θ − s_t v with v ← momentum·v + clip(g_B(θ) + linear_k + weight(θ − center_k)) + weight_decay·θ, from start_k,
    over mini-batches B, as PyTorch's SGD (no dampening, no Nesterov momentum). v is 0 at the beginning of each round.

    g_B is the gradient's mean over the batch, scaled so that its expectation is ∇F_k (for sums over samples n_k/|B|
    times the sum over B). An epoch visits every sample once, in a random order from the run's seed, the round and the
    client; its last batch may be smaller. For one seed all methods see the same batches.

    Args:
        epochs: the number of passes over the client's samples, >= 1; or
        steps: the number of batches, >= 1. Exactly one of the two is required.
        batch_size: >= 1; None: all samples of the client (then SGD is gradient descent).
        stepsize: s > 0 or a `StepsizeSchedule`; in round t = 0, 1, … the steps are s_t = stepsize · decay^t.
        decay: > 0.
        weight_decay: >= 0, added after clipping. It pulls θ towards 0, a proximal term towards center_k.
        clip: > 0: longer gradients of the whole subproblem are scaled to this length; None: no limit. It needs a square
            root, so floats or torch.
        momentum: in [0, 1).

    Raises:
        InvalidInput: both or neither of epochs and steps, values out of range.
    """

    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = 10
    stepsize: Scalar = number()
    decay: Scalar = number(default=1)
    weight_decay: Scalar = number(default=0)
    clip: Any = None
    momentum: Scalar = number(default=0)

    has_path_lengths: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.epochs is None) == (self.steps is None):
            raise InvalidInput(
                "epochs", self.epochs, f"and steps = {self.steps}: one is needed", "give epochs or steps"
            )
        for name in ("epochs", "steps", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer_at_least(getattr(self, name), 1, name))
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        positive(self.decay, "decay")
        non_negative(self.weight_decay, "weight_decay")
        if self.clip is not None:
            positive(self.clip, "clip")
        fraction_of_one(self.momentum, "momentum")

    @property
    def effort(self) -> int | None:
        return self.epochs if self.steps is None else self.steps

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if self.clip is not None and arithmetic.certainty is not Certainty.NUMERIC:
            problem = f"needs square roots, which {arithmetic.name} arithmetic does not take here"
            raise InvalidInput("clip", self.clip, problem, "use 'float' or 'torch', or no clip")

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        if not problem.has_samples:
            raise InvalidInput(
                "local_solver", self, f"draws mini-batches, and {problem} has no samples", "use GradientDescent"
            )

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        samples = clients.samples()
        amounts = np.full(clients.num_clients, self.effort) if draw.efforts is None else draw.efforts
        batches = draw_minibatches(
            samples.first,
            samples.count,
            self.batch_size,
            epochs=amounts if self.steps is None else None,
            steps=amounts if self.steps is not None else None,
            members=np.arange(clients.num_clients) if draw.members is None else draw.members,
            seed=draw.seed,
            round=draw.round,
        )
        stepsize = self.stepsize * self.decay**draw.round  # constant within a round
        clip = None if self.clip is None else nearest_float(self.clip)
        rule = (stepsize, self.weight_decay, clip, self.momentum)
        points = _descend(samples, Descent(subproblem, batches, *rule, draw.seed, draw.round))
        return Answers(points, stepsize * self.path_units(clients.arithmetic, batches.steps)[:, None])

    def path_units(self, arithmetic: Arithmetic, steps: np.ndarray) -> Array:
        """Σ_i a_i in θ = start − s Σ_i a_i g_i, (K,): the number of steps without momentum, FedNova's ‖a‖₁ with it.

        With momentum, the gradient of step i counts 1 + momentum + … + momentum^(steps − i) times.
        """
        if self.momentum == 0:
            return arithmetic.array(steps)
        sums, last = [0 * self.momentum], 0 * self.momentum  # zeros in the arithmetic of momentum
        for _ in range(int(steps.max(initial=0))):
            last = 1 + self.momentum * last
            sums.append(sums[-1] + last)
        return arithmetic.array([sums[n] for n in steps.tolist()])


def _descend(samples: Samples, descent: Descent) -> Array:
    """The clients' points after the round: compiled for linear models in floats, else the samples' own loop."""
    if not (isinstance(samples, LinearSamples) and samples.arithmetic.name == "float" and is_installed("numba")):
        return samples.descend(descent)
    from fedconvex.local_solvers.compiled_sgd import compiled_sgd  # late: numba takes a second to load

    subproblem, batches = descent.subproblem, descent.batches
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
        descent.stepsize,
        descent.weight_decay,
        np.inf if descent.clip is None else descent.clip,
        descent.momentum,
    )
