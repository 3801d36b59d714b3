"""Local Adam and AdamW: stochastic gradient steps scaled entry by entry."""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers
from fedconvex.local_solvers.minibatches import MinibatchSolver
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients
from fedconvex.problems.local_sgd import Descent, Moments
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import fraction_of_one, positive, truth_value


@final
@dataclass(frozen=True, kw_only=True)
class Adam(MinibatchSolver):
    """Local solver: Adam's steps on mini-batches, the same ones as those of `SGD`; AdamW with `decoupled=True`.

    Use it for networks that SGD hardly trains, such as transformers. Its moments are 0 at the beginning of every round,
    so that clients keep nothing between rounds; with few steps in a round, all entries move by about the stepsize.
    Methods that divide by the sum of the local stepsizes (SCAFFOLD with option 2, FedNova) do not take it.

    θ ← θ − s_i p̂_i / (√q̂_i + epsilon), where p and q average the gradients of the whole subproblem and their squares:
    p ← β₁p + (1 − β₁)a, q ← β₂q + (1 − β₂)a², p̂_i = p/(1 − β₁ⁱ), q̂_i = q/(1 − β₂ⁱ) at the i-th step, and
    a = clip(g_B(θ) + linear_k + weight(θ − center_k)), as torch.optim.Adam. Weight decay is added to a; with
    `decoupled`, θ ← θ − s_i · weight_decay · θ instead, as torch.optim.AdamW.

    Source: Kingma, Ba, "Adam: a method for stochastic optimization" (ICLR 2015); Loshchilov, Hutter, "Decoupled weight
    decay regularization" (ICLR 2019).

    Args:
        epochs, steps, batch_size: as of `SGD`; exactly one of epochs and steps.
        stepsize: s > 0 or a `StepsizeSchedule` of the rounds.
        betas: (β₁, β₂), both in [0, 1).
        epsilon: > 0.
        weight_decay: >= 0.
        decoupled: whether weight decay is AdamW's.
        clip: > 0: longer gradients of the whole subproblem are scaled to this length; None: no limit.
        within_round: factors of the stepsize at the steps t = 0, 1, … of every round, as of `SGD`; None: all 1.

    Raises:
        InvalidInput: both or neither of epochs and steps, values out of range; exact arithmetic, when a run starts.
    """

    epochs: int | None = None
    steps: int | None = None
    batch_size: int | None = 10
    stepsize: Scalar = number(default=0.001)
    betas: tuple[Any, Any] = (0.9, 0.999)
    epsilon: Any = 1e-8
    weight_decay: Scalar = number(default=0)
    decoupled: bool = False
    clip: Any = None
    within_round: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        betas: Any = self.betas
        if not isinstance(betas, list | tuple) or len(betas) != 2:
            raise InvalidInput("betas", betas, "is not a pair of numbers", "give such as (0.9, 0.999)")
        for i, beta in enumerate(betas):
            fraction_of_one(beta, f"betas[{i}]")
        object.__setattr__(self, "betas", tuple(betas))
        positive(self.epsilon, "epsilon")
        truth_value(self.decoupled, "decoupled")

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if arithmetic.certainty is not Certainty.NUMERIC:
            problem = f"needs square roots, which {arithmetic.name} arithmetic does not take here"
            raise InvalidInput("local_solver", self, problem, "use 'float' or 'torch', or SGD")

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        samples = clients.samples()
        batches = self.minibatches(samples, draw)
        one, two = map(nearest_float, self.betas)
        descent = Descent(
            subproblem,
            batches,
            self.stepsize,
            self.weight_decay,
            None if self.clip is None else nearest_float(self.clip),
            seed=draw.seed,
            round=draw.round,
            factors=self.factors(clients.arithmetic, batches),
            moments=Moments((one, two), nearest_float(self.epsilon), self.decoupled),
        )
        return Answers(samples.descend(descent))
