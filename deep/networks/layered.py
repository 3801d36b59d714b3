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
        values = _rows(batch.inputs, theta, batch)
        for layer, weight, bias in self._parameters(theta):
            values = _affine(values, weight, bias)
            if layer.activation is not None:
                values = layer.activation.apply(values)
        return self.loss.values(values.reshape(*batch.targets.shape, -1), batch.targets)

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        result = theta.new_empty(len(batch.targets), self.layout.dim)
        into = self.layout.views(result)
        for layer, errors, inputs in self._backwards(theta, self._parameters(theta), batch):
            torch.bmm(errors.mT, inputs, out=into[layer.weight])
            if layer.bias is not None:
                torch.sum(errors, 1, out=into[layer.bias])
        return result

    def stepping(
        self, theta: Tensor, stepsize: float, keep: "float | Tensor", push: Tensor | None
    ) -> Callable[[Batch], None]:
        views, parameters = self.layout.views(theta), self._parameters(theta)
        beta = 1.0 if isinstance(keep, Tensor) else keep

        def step(batch: Batch) -> None:
            for layer, errors, inputs in self._backwards(theta, parameters, batch):
                # the errors of the layer below are known: its parameters may change
                if isinstance(keep, Tensor):
                    views[layer.weight].mul_(keep[..., None])
                views[layer.weight].baddbmm_(errors.mT, inputs, beta=beta, alpha=-stepsize)
                if layer.bias is not None:
                    if isinstance(keep, Tensor) or keep != 1:
                        views[layer.bias].mul_(keep)
                    views[layer.bias].sub_(errors.sum(1), alpha=stepsize)
            if push is not None:
                theta.add_(push)

        return step

    def _backwards(
        self, theta: Tensor, parameters: list[tuple[Layer, Tensor, Tensor | None]], batch: Batch
    ) -> Iterator[tuple[Layer, Tensor, Tensor]]:
        """From the last layer to the first: (layer, ∂Σ shares·loss/∂its outputs, its inputs), (K, B, …) each.

        What is below a layer is computed before the layer is handed out.
        """
        values = [_rows(batch.inputs, theta, batch)]
        for layer, weight, bias in parameters:
            outputs = _affine(values[-1], weight, bias)
            values.append(outputs if layer.activation is None else layer.activation.apply(outputs))
        outputs = _by_client(values.pop(), batch)
        errors = self.loss.derivatives(outputs, batch.targets).mul_(batch.shares[..., None])
        if self.layers[-1].activation is not None:
            errors = self.layers[-1].activation.multiply_by_derivative(errors, outputs)
        for i in range(len(parameters) - 1, -1, -1):
            (layer, weight, _), inputs, below = parameters[i], values.pop(), None
            if i > 0:
                below = torch.bmm(_rows(errors, theta, batch), weight)
                activation = self.layers[i - 1].activation
                if activation is not None:
                    below = activation.multiply_by_derivative(below, inputs)
            yield layer, errors, _by_client(inputs, batch)
            if below is not None:
                errors = _by_client(below, batch)

    def _parameters(self, theta: Tensor) -> list[tuple[Layer, Tensor, Tensor | None]]:
        views = self.layout.views(theta)
        return [(x, views[x.weight], None if x.bias is None else views[x.bias]) for x in self.layers]


def _rows(values: Tensor, theta: Tensor, batch: Batch) -> Tensor:
    """(K, B, …) as (K, B, p); with one theta for all clients as (1, K·B, p)."""
    if theta.shape[0] == batch.targets.shape[0]:
        return values if values.ndim == 3 else values.flatten(2)
    return values.reshape(1, batch.targets.numel(), -1)


def _by_client(values: Tensor, batch: Batch) -> Tensor:
    """(K, B, p) from what `_rows` gives."""
    return values if values.shape[0] == batch.targets.shape[0] else values.reshape(*batch.targets.shape, -1)


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


def _affine(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return torch.bmm(inputs, weight.mT)
    return torch.baddbmm(bias[:, None], inputs, weight.mT)
