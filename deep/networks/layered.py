"""Fully connected networks, differentiated by hand: batched matrix products, and steps that are fused into them.

A gradient that a step is all it is needed for is never stored: the product of a layer's errors and inputs is added
to its weights as it is computed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from fedconvex.deep.losses import Loss, OfAUser
from fedconvex.deep.networks.base import Batch, Network
from fedconvex.deep.networks.layout import Layout


@dataclass(frozen=True)
class Activation:
    """A function applied to every entry, in place, and its derivative as a function of its value."""

    apply: Callable[[Tensor], Tensor]
    multiply_by_derivative: Callable[[Tensor, Tensor], Tensor]  # (errors, values); the errors may change


ACTIVATIONS: dict[type[nn.Module], Activation] = {
    nn.ReLU: Activation(torch.relu_, lambda errors, values: torch.ops.aten.threshold_backward(errors, values, 0)),
    nn.Tanh: Activation(torch.tanh_, lambda errors, values: errors.mul_(1 - values * values)),
    nn.Sigmoid: Activation(torch.sigmoid_, lambda errors, values: errors.mul_(values * (1 - values))),
}


@dataclass(frozen=True)
class Layer:
    """A linear layer's parameters by name, and the activation behind it."""

    weight: str
    bias: str | None
    activation: Activation | None


@final
class LayeredNetwork(Network):
    """Linear layers with activations between them; see `layers_of` for which modules are such."""

    def __init__(self, module: nn.Module, layers: list[Layer], loss: Loss) -> None:
        self.layers, self.loss, self.layout = layers, loss, Layout.of(module)

    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        values, shared = batch.inputs, theta.shape[0] != batch.targets.shape[0]
        values = _side_by_side(values) if shared else values.flatten(2)
        for part in self._parts(theta):
            values = part.outputs(values)
        return self.loss.values(values.reshape(*batch.targets.shape, -1), batch.targets)

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        result = theta.new_empty(batch.targets.shape[0], self.layout.dim)
        into, shared = self.layout.views(result), theta.shape[0] != batch.targets.shape[0]
        for part, errors, inputs in self._backwards(self._parts(theta), batch, shared):
            torch.bmm(errors.mT, inputs, out=into[part.layer.weight])
            if part.layer.bias is not None:
                torch.sum(errors, 1, out=into[part.layer.bias])
        return result

    def stepping(
        self, theta: Tensor, stepsize: float, keep: "float | Tensor", push: Tensor | None, into: Tensor | None = None
    ) -> Callable[[Batch], None]:
        changing = theta if into is None else into
        parts, targets = self._parts(theta), self._parts(changing)[::-1]
        beta = 1.0 if isinstance(keep, Tensor) else keep
        factor = keep[..., None] if isinstance(keep, Tensor) else None

        def step(batch: Batch) -> None:
            backwards = self._backwards(parts, batch, shared=False)
            for target, (_, errors, inputs) in zip(targets, backwards, strict=True):
                # the errors of the layer below are known: its parameters may change
                if factor is not None:
                    target.weight.mul_(factor)
                target.weight.baddbmm_(errors.mT, inputs, beta=beta, alpha=-stepsize)
                if target.bias is not None:
                    if factor is not None or beta != 1:
                        target.bias.mul_(beta if factor is None else factor)
                    target.bias.sub_(errors.sum(1, keepdim=True), alpha=stepsize)
            if push is not None:
                changing.add_(push)

        return step

    def _backwards(self, parts: list["Part"], batch: Batch, shared: bool) -> Iterator[tuple["Part", Tensor, Tensor]]:
        """From the last layer to the first: (part, ∂Σ shares·loss/∂its outputs, its inputs), (K, B, …) each.

        What is below a layer is computed before the layer is handed out. shared: all clients have the same parameters,
        and their samples stand side by side, (1, K·B, …), wherever these are multiplied with.
        """
        values = [_side_by_side(batch.inputs) if shared else batch.inputs.flatten(2)]
        for part in parts:
            values.append(part.outputs(values[-1]))
        outputs = _apart(values.pop(), batch) if shared else values.pop()
        errors = self.loss.derivatives(outputs, batch.targets).mul_(batch.shares[..., None])
        if parts[-1].layer.activation is not None:
            errors = parts[-1].layer.activation.multiply_by_derivative(errors, outputs)
        for i in range(len(parts) - 1, -1, -1):
            inputs, below = values.pop(), None
            if i > 0:
                below = torch.bmm(_side_by_side(errors) if shared else errors, parts[i].weight)
                activation = parts[i - 1].layer.activation
                if activation is not None:
                    below = activation.multiply_by_derivative(below, inputs)
            yield parts[i], errors, _apart(inputs, batch) if shared else inputs
            if below is not None:
                errors = _apart(below, batch) if shared else below

    def _parts(self, theta: Tensor) -> list["Part"]:
        views = self.layout.views(theta)
        return [
            Part(
                layer,
                views[layer.weight],
                views[layer.weight].mT,
                None if layer.bias is None else views[layer.bias][:, None],
            )
            for layer in self.layers
        ]


@dataclass(frozen=True, eq=False)
class Part:
    """A layer with the parameters of all clients: weight (K, out, in), its transpose, bias (K, 1, out)."""

    layer: Layer
    weight: Tensor
    transposed: Tensor
    bias: Tensor | None

    def outputs(self, inputs: Tensor) -> Tensor:
        """(K, B, in) to (K, B, out)."""
        if self.bias is None:
            values = torch.bmm(inputs, self.transposed)
        else:
            values = torch.baddbmm(self.bias, inputs, self.transposed)
        return values if self.layer.activation is None else self.layer.activation.apply(values)


def _side_by_side(values: Tensor) -> Tensor:
    """(K, B, …) as (1, K·B, p)."""
    return values.reshape(1, values.shape[0] * values.shape[1], -1)


def _apart(values: Tensor, batch: Batch) -> Tensor:
    """(1, K·B, p) as (K, B, p)."""
    return values.reshape(*batch.targets.shape, -1)


def layers_of(module: nn.Module, loss: Loss, sample_shape: tuple[int, ...]) -> list[Layer] | None:
    """The layers of a module made of Linear, Flatten, ReLU, Tanh and Sigmoid alone, one after the other; else None."""
    if isinstance(loss, OfAUser):
        return None
    found: list[Layer] = []
    flat: bool = len(sample_shape) == 1  # a linear layer maps the last axis alone
    for name, part in _in_sequence(module, ""):
        if type(part) is nn.Linear and flat:
            bias = None if part.bias is None else f"{name}bias"  # type: ignore[redundant-expr]
            found.append(Layer(f"{name}weight", bias, None))
        elif type(part) in ACTIVATIONS and found and found[-1].activation is None:
            found[-1] = Layer(found[-1].weight, found[-1].bias, ACTIVATIONS[type(part)])
        elif type(part) is nn.Flatten and not found and (part.start_dim, part.end_dim) == (1, -1):
            flat = True
        elif type(part) is not nn.Identity:
            return None
    names = [name for layer in found for name in (layer.weight, layer.bias) if name is not None]
    alone = names == [name for name, p in module.named_parameters() if p.requires_grad]
    return found if found and alone and not _has_hooks(module) else None


def _in_sequence(module: nn.Module, prefix: str) -> Iterator[tuple[str, nn.Module]]:
    if type(module) is not nn.Sequential:
        yield prefix, module
        return
    for name, part in module._modules.items():  # named_children leaves out what is there twice
        assert part is not None
        yield from _in_sequence(part, f"{prefix}{name}.")


def _has_hooks(module: nn.Module) -> bool:
    """Hooks and parametrizations may change what a layer computes."""
    from torch.nn.utils.parametrize import is_parametrized

    return any(
        part._forward_hooks or part._forward_pre_hooks or part._backward_hooks or is_parametrized(part)
        for part in module.modules()
    )
