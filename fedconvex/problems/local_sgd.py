"""Local SGD as data: which mini-batches every client visits, and the rule by which it steps.

A local solver describes a round's work with these classes; the samples of a problem carry it out (`Samples.descend`).
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.problems.subproblem import Subproblem


@dataclass(frozen=True, eq=False)
class Minibatches:
    """The mini-batches of K clients in one flat array, so that compiled code and GPUs can read them.

    Batch i consists of the samples order[bounds[i]] … order[bounds[i + 1] − 1]; client k visits the batches
    client_batches[k] … client_batches[k + 1] − 1 in this order.
    """

    order: np.ndarray  # (S,) rows of samples
    bounds: np.ndarray  # (b + 1,)
    client_batches: np.ndarray  # (K + 1,)

    @property
    def steps(self) -> np.ndarray:
        """The number of batches of every client, (K,)."""
        return np.diff(self.client_batches)


@final
@dataclass(frozen=True)
class Moments:
    """Adam's rule for the direction v_i of a client's step i = 1, 2, … along a = clip(g_B + ∇penalty_k(θ)).

    p ← β₁p + (1 − β₁)a, q ← β₂q + (1 − β₂)a², v_i = (p/(1 − β₁ⁱ)) / (√(q/(1 − β₂ⁱ)) + ε) in each entry, from p = q = 0.
    `decoupled`: weight decay is added to v, as in AdamW; otherwise to a, before the moments.
    """

    betas: tuple[float, float]
    epsilon: float
    decoupled: bool


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """One round of local SGD: v ← momentum·v + clip(g_B + ∇penalty_k(θ)) + weight_decay·θ, then θ ← θ − stepsize·v.

    g_B is the gradient of F_k on a batch B and ∇penalty_k(θ) = linear_k + weight(θ − center_k), from the subproblem.
    Client k starts with θ = start_k and v = 0 and makes one step on each of its batches.

    clip: gradients of the whole subproblem that are longer are scaled to this length; None: no limit.
    factors: of the stepsize at steps 0, 1, …; None: all 1.
    moments: Adam's rule in the place of momentum; None: SGD.
    seed, round: the run's seed and the number of the round, for networks that draw random numbers in a step.
    """

    subproblem: Subproblem
    batches: Minibatches
    stepsize: Scalar
    weight_decay: Scalar
    clip: float | None
    momentum: Scalar = 0
    seed: int = 0
    round: int = 0
    factors: tuple[Scalar, ...] | None = None
    moments: Moments | None = None

    def stepsize_at(self, step: int) -> Scalar:
        """The stepsize of a client's step 0, 1, …"""
        return self.stepsize if self.factors is None else self.stepsize * self.factors[step]


def in_order_of_steps(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The clients sorted by decreasing number of steps, and for every t how many of them make a t-th step.

    In this order the clients that still step are always a leading slice, so that no array needs padding.
    """
    by_steps = np.argsort(-steps, kind="stable")
    running = np.searchsorted(-steps[by_steps], -np.arange(steps.max(initial=0)), side="left")
    return by_steps, running
