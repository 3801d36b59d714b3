"""Interface of networks: losses and gradients of K clients at once, each with its own parameters and samples."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.networks.layout import Layout


@dataclass(frozen=True, eq=False)
class Batch:
    """Samples of K clients: inputs (K, B, …), targets (K, B, …), and their weights, shares (K, B), 0 in padding."""

    inputs: Tensor
    targets: Tensor
    shares: Tensor


@dataclass(frozen=True, eq=False)
class Toward:
    """A proximal term's pull: a part, a number or (K, 1), of the way to a center (K, d); exactly 0 at the center."""

    center: Tensor
    part: "float | Tensor"

    def of(self, count: int) -> "Toward":
        """That of the first clients."""
        return Toward(self.center[:count], self.part[:count] if isinstance(self.part, Tensor) else self.part)


@dataclass(frozen=True, eq=False)
class DescentStep:
    """The update of `into` (K, d), by default theta, in place, from the gradients of a batch:
    into ← keep·into + toward.part·(toward.center − keep·into) − stepsize·gradients(theta) + push.

    keep is a number or (K, 1), push is (K, d). With `into` a velocity and `keep` its momentum, this is a step with
    momentum.
    """

    theta: Tensor
    stepsize: float
    keep: "float | Tensor" = 1.0
    push: Tensor | None = None
    into: Tensor | None = None
    toward: Toward | None = None

    @property
    def changing(self) -> Tensor:
        """What the step updates."""
        return self.theta if self.into is None else self.into


class Network(ABC):
    """A module as a function of its parameters, for K clients at once.

    theta is (K, d), or (1, d) if all clients have the same parameters.
    """

    layout: Layout
    loss: TorchLoss

    @property
    def takes_several(self) -> bool:
        """Whether the steps of several clients are computed together; otherwise they are taken one client at a time."""
        return True

    @property
    def repeats(self) -> bool:
        """Whether a step with the same batch object is the same calls on the same memory, which could be recorded."""
        return False

    def working_numbers(self, theta: Tensor, batch: Batch) -> int:
        """The most numbers that a step of the first client makes at any time; 0 where they are few, or not known."""
        return 0

    @abstractmethod
    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        """The samples' losses, (K, B), differentiable in theta."""

    @abstractmethod
    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        """Σ_i shares_ki ∇loss_ki, (K, d)."""

    @abstractmethod
    def step_function(self, step: DescentStep) -> Callable[[Batch], None]:
        """A function of a batch that makes this step, whose vectors are always the same: a network can plan it once."""
