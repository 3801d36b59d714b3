"""Stochastic gradient steps on mini-batches."""

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
from fedconvex.local_solvers.descent import Descent
from fedconvex.local_solvers.minibatches import deal
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.validation import integer_at_least, non_negative, positive


@final
@dataclass(frozen=True, kw_only=True)
class SGD(LocalSolver):
    """θ ← θ − s_t(clip(g_B(θ) + linear_k + weight(θ − center_k)) + weight_decay·θ) over mini-batches B, from start_k.

    With momentum, v ← momentum·v + (…) and θ ← θ − s_t v, as in PyTorch's SGD (no dampening, not Nesterov's); v is the
    client's own, and 0 at the beginning of every local solve.

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
        momentum: in [0, 1).
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
        positive(self.stepsize, "stepsize")
        positive(self.decay, "decay")
        non_negative(self.weight_decay, "weight_decay")
        if self.clip is not None:
            positive(self.clip, "clip")
        non_negative(self.momentum, "momentum")
        if not self.momentum < 1:
            raise InvalidInput("momentum", self.momentum, "must be less than 1", "give 0 <= momentum < 1")

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
        clip = None if self.clip is None else nearest_float(self.clip)
        points = samples.descend(Descent(subproblem, batches, stepsize, self.weight_decay, clip, self.momentum))
        return Answers(points, stepsize * self._weights_of_gradients(clients.arithmetic, batches.steps)[:, None])

    def _weights_of_gradients(self, arithmetic: Arithmetic, steps: np.ndarray) -> Array:
        """Σ_i a_i with θ = start − s Σ_i a_i g_i, (K,): the number of steps; more with momentum (FedNova's ‖a‖₁)."""
        if self.momentum == 0:
            return arithmetic.array(steps)
        sums, last = [0 * self.momentum], 0 * self.momentum
        for _ in range(int(steps.max(initial=0))):
            last = 1 + self.momentum * last
            sums.append(sums[-1] + last)
        return arithmetic.array([sums[n] for n in steps.tolist()])
