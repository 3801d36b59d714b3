"""Losses per sample: value, derivative in the network's outputs, and which outputs classify correctly.

Outputs have shape (…, C), targets and losses (…); targets of tokens, and vectors, have further axes.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

from fedconvex.deep.calls import Call, machine_code_for
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from torch import Tensor, device, dtype


class TorchLoss(ABC):
    """A loss function of a sample's outputs and target."""

    name: ClassVar[str]
    classes: ClassVar[bool] = False  # targets are class numbers 0, …, C − 1
    by_hand: ClassVar[bool] = True  # whether `derivative_calls` is there; otherwise autograd differentiates the loss
    axes: int = 0  # of one sample's targets

    def of_targets(self, axes: int) -> "TorchLoss | None":
        """The loss of samples whose targets have so many axes each; None where there is none."""
        return self if axes == self.axes else None

    def on(self, device: "device", dtype: "dtype") -> "TorchLoss":
        """The loss with its own numbers, such as weights of classes, on the device and in the model's type."""
        return self

    @property
    def title(self) -> str:
        """Its name in error messages."""
        return self.name

    @abstractmethod
    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """(…) losses, differentiable in the outputs."""

    @abstractmethod
    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        """Calls for derivatives ← shares · ∂loss/∂outputs, (K, B, C), in place; targets and shares are (K, B)."""

    def correct(self, outputs: "Tensor", targets: "Tensor") -> "Tensor | None":
        """Whether each sample is classified correctly, (…) booleans; None for losses that are not of classifiers."""
        return None


IGNORED = -100  # the class number of tokens that do not count, as in torch and in HuggingFace's models


def _cross_entropy(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """By torch's function, whose derivative is one call: 0 where the target is IGNORED."""
    from torch.nn.functional import cross_entropy

    losses = cross_entropy(outputs.flatten(0, -2), targets.flatten(), reduction="none", ignore_index=IGNORED)
    return losses.view(targets.shape)


@final
class TorchCrossEntropy(TorchLoss):
    """log Σ_c exp(z_c) − z_y."""

    name = "cross_entropy"
    classes = True

    def of_targets(self, axes: int) -> TorchLoss:
        return TorchTokenCrossEntropy(axes) if axes else self

    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        return _cross_entropy(outputs, targets)

    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        if (compiled := machine_code_for(outputs)) is not None:
            arrays = (part.numpy() for part in (outputs, targets, shares, derivatives))
            return [partial(compiled.cross_entropy_derivatives, *arrays)]
        from torch import softmax

        return [
            partial(softmax, outputs, -1, out=derivatives),
            # softmax(z) − e_y, times the shares: the one-hot vector is subtracted in place.
            partial(derivatives.scatter_, -1, targets.unsqueeze(-1), -1.0, reduce="add"),
            partial(derivatives.mul_, shares.unsqueeze(-1)),
        ]

    def correct(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        return outputs.argmax(-1) == targets


@final
class TorchTokenCrossEntropy(TorchLoss):
    """The mean of log Σ_c exp(z_tc) − z_ty over a sample's tokens t, but those whose class is −100.

    A mean over all tokens of a batch would mix samples: to count every token alike, weight samples by their tokens.
    """

    name = "cross_entropy"
    classes = True
    by_hand = False

    def __init__(self, axes: int) -> None:
        self.axes = axes

    def of_targets(self, axes: int) -> TorchLoss:
        return TorchTokenCrossEntropy(axes)

    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        return self._mean(_cross_entropy(outputs, targets), targets != IGNORED)

    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        raise NotImplementedError("derivatives of tokens' losses are left to autograd")

    def correct(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        """The part of each sample's counted tokens that is classified correctly, (…)."""
        return self._mean((outputs.argmax(-1) == targets).to(outputs.dtype), targets != IGNORED)

    def _mean(self, values: "Tensor", counted: "Tensor") -> "Tensor":
        return values.flatten(-self.axes).sum(-1) / counted.flatten(-self.axes).sum(-1)


@final
class TorchLogistic(TorchLoss):
    """log(1 + exp(−y z)) of one output z, y in {−1, +1}."""

    name = "logistic"

    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        from torch.nn.functional import softplus

        # softplus(z) = log(1 + exp(z)) without overflow for large z.
        return softplus(-targets * outputs[..., 0])

    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        z = outputs[..., 0]  # a view: every call reads the outputs of its own step
        return [lambda: derivatives[..., 0].copy_(-targets * (-targets * z).sigmoid() * shares)]

    def correct(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        return (outputs[..., 0] > 0) == (targets > 0)


@final
class TorchHalfSquare(TorchLoss):
    """½(z − y)² of one output z; ½‖z − y‖² of vectors, where a sample's target is one."""

    name = "half_square"

    def __init__(self, axes: int = 0) -> None:
        self.axes = axes

    def of_targets(self, axes: int) -> TorchLoss | None:
        return TorchHalfSquare(axes) if axes in (0, 1) else None

    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        if self.axes:
            return (outputs - targets).square().sum(-1) / 2
        return (outputs[..., 0] - targets) ** 2 / 2

    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        if self.axes:
            return [lambda: derivatives.copy_(outputs).sub_(targets).mul_(shares.unsqueeze(-1))]
        return [lambda: derivatives[..., 0].copy_((outputs[..., 0] - targets) * shares)]


@final
class UserLoss(TorchLoss):
    """A user's function: (outputs (B, …), targets (B, …)) to (B,) losses. Integer targets are passed on as integers."""

    name = "of a user"  # code has no fingerprint, see `identities`
    by_hand = False

    def __init__(self, function: Callable[..., "Tensor"], axes: int = 0) -> None:
        self.function, self.axes = function, axes

    def of_targets(self, axes: int) -> TorchLoss:
        return UserLoss(self.function, axes)

    def on(self, device: "device", dtype: "dtype") -> TorchLoss:
        from torch import Tensor, nn

        def moved(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return value.to(device, dtype if value.is_floating_point() else value.dtype)

        function: Any = self.function
        if isinstance(function, nn.Module):
            function = deepcopy(function).to(device, dtype)
        elif isinstance(function, partial):
            named = {name: moved(value) for name, value in function.keywords.items()}
            function = partial(function.func, *map(moved, function.args), **named)
        return UserLoss(function, self.axes)

    @property
    def title(self) -> str:
        function = self.function.func if isinstance(self.function, partial) else self.function
        return str(getattr(function, "__name__", function))

    def values(self, outputs: "Tensor", targets: "Tensor") -> "Tensor":
        return self.function(outputs, targets)

    def derivative_calls(
        self, outputs: "Tensor", targets: "Tensor", shares: "Tensor", derivatives: "Tensor"
    ) -> list[Call]:
        raise NotImplementedError("derivatives of a user's loss are left to autograd")


LOSSES: dict[str, TorchLoss] = {loss.name: loss for loss in (TorchCrossEntropy(), TorchLogistic(), TorchHalfSquare())}


def loss_of(given: Any) -> TorchLoss:
    """The loss of that name, or a user's function as a loss. Raises InvalidInput for anything else."""
    if isinstance(given, TorchLoss):
        return given
    if isinstance(given, str) and given in LOSSES:
        return LOSSES[given]
    if callable(given):
        return UserLoss(given)
    cure = f"give one of {', '.join(LOSSES)}, or a function (outputs, targets) -> one loss per sample"
    raise InvalidInput("loss", given, "is unknown", cure)


def loss_for(loss: TorchLoss, clients: Any) -> TorchLoss:
    """The loss of the clients' targets: of tokens and vectors where each sample has a row of numbers for its target."""
    if not isinstance(clients, list | tuple) or not clients:
        return loss
    first = clients[0]
    targets = first[1] if isinstance(first, list | tuple) and len(first) > 1 else None
    axes = max(0, getattr(targets, "ndim", 1) - 1)
    found = loss.of_targets(axes)
    if found is None:
        shape = tuple(getattr(targets, "shape", ()))
        problem = f"is not one target for each sample, as {loss.title} takes"
        cure = f"give shape ({len(first[0])},)" if hasattr(first[0], "__len__") else "give a number for each sample"
        raise InvalidInput("clients[0][1]", shape, problem, cure)
    return found
