"""Local SGD: stochastic gradient steps on mini-batches of the client's samples."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers
from fedconvex.local_solvers.minibatches import MinibatchSolver
from fedconvex.optional import is_installed
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients
from fedconvex.problems.local_sgd import Descent
from fedconvex.problems.samples import LinearSamples, Samples
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import factors_within_round
from fedconvex.validation import fraction_of_one, positive


@final
@dataclass(frozen=True, kw_only=True)
class SGD(MinibatchSolver):
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
        within_round: factors of the stepsize at the steps t = 0, 1, … of every round, such as "0.99**t", a list, or a
            function of t; None: all 1.

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
    within_round: Any = None

    has_path_lengths: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self.decay, "decay")
        fraction_of_one(self.momentum, "momentum")

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if self.clip is not None and arithmetic.certainty is not Certainty.NUMERIC:
            problem = f"needs square roots, which {arithmetic.name} arithmetic does not take here"
            raise InvalidInput("clip", self.clip, problem, "use 'float' or 'torch', or no clip")

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        samples = clients.samples()
        batches = self.minibatches(samples, draw)
        factors = self.factors(clients.arithmetic, batches)
        stepsize = self.stepsize * self.decay**draw.round  # constant within a round
        clip = None if self.clip is None else nearest_float(self.clip)
        rule = (stepsize, self.weight_decay, clip, self.momentum)
        points = _descend(samples, Descent(subproblem, batches, *rule, draw.seed, draw.round, factors))
        return Answers(points, stepsize * self.path_units(clients.arithmetic, batches.steps)[:, None])

    def path_units(self, arithmetic: Arithmetic, steps: np.ndarray) -> Array:
        """Σ_i a_i in θ = start − s Σ_i a_i g_i, (K,): the number of steps without momentum, FedNova's ‖a‖₁ with it.

        With momentum, the gradient of step i counts 1 + momentum + … + momentum^(steps − i) times; with `within_round`,
        each of these summands has the factor of its own step.
        """
        if self.momentum == 0 and self.within_round is None:
            return arithmetic.array(steps)
        most = int(steps.max(initial=0))
        factors = [1] * most if self.within_round is None else factors_within_round(self.within_round, most)
        sums, last = [0 * self.momentum], 0 * self.momentum  # zeros in the arithmetic of momentum
        for factor in factors:
            last = 1 + self.momentum * last
            sums.append(sums[-1] + arithmetic.scalar(factor) * last)
        return arithmetic.array([sums[n] for n in steps.tolist()])


def _descend(samples: Samples, descent: Descent) -> Array:
    """The clients' points after the round: compiled for linear models in floats, else the samples' own loop."""
    in_floats = isinstance(samples, LinearSamples) and samples.arithmetic.name == "float"
    if not (in_floats and descent.factors is None and is_installed("numba")):
        return samples.descend(descent)
    assert isinstance(samples, LinearSamples)
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
