"""Fully connected networks, differentiated by hand, with batched matrix products into which the SGD step is fused.

A step needs the gradient only once, so it is never stored: the matrix product of a layer's errors and inputs, which is
the gradient of its weights, is added to the weights directly.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, final

import torch
from torch import Tensor, nn

from fedconvex.deep.calls import Call, machine_code_for
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.networks.base import Batch, DescentStep, Network
from fedconvex.deep.networks.layout import Layout
from fedconvex.deep.networks.products import added_product_calls, product_calls

# Element-wise operations of a fully connected network, in place: biases, activations and their derivatives.
# Every function returns a list of calls to repeat. On a CPU they are compiled loops: a step needs a dozen operations on
# small arrays, and torch's overhead for each would be as large as the arithmetic.


@final
@dataclass(frozen=True)
class Activation:
    """A function applied to every entry, in place, and its derivative in terms of the function's value."""

    apply: Callable[[Tensor], Tensor]
    multiply_by_derivative: Callable[[Tensor, Tensor], Tensor]  # (errors, values): errors are changed in place


# torch's own backward pass of ReLU, written into the errors without a temporary array.
RELU = Activation(
    torch.relu_,
    lambda errors, values: torch.ops.aten.threshold_backward.grad_input(errors, values, 0, grad_input=errors),
)
ACTIVATIONS: dict[type[nn.Module], Activation] = {
    nn.ReLU: RELU,
    nn.Tanh: Activation(torch.tanh_, lambda errors, values: errors.mul_(1 - values * values)),
    nn.Sigmoid: Activation(torch.sigmoid_, lambda errors, values: errors.mul_(values * (1 - values))),
}


def activation_calls(values: Tensor, bias: Tensor | None, activation: Activation | None) -> list[Call]:
    """Calls for values (K, B, p) ← activation(values + bias), bias (K, 1, p)."""
    compiled = machine_code_for(values)
    # Tanh and sigmoid cost more than the overhead of torch's call, and are not compiled.
    if compiled is not None and bias is not None and activation in (None, RELU):
        return [partial(compiled.add_bias, values.numpy(), bias.numpy(), activation is RELU)]
    calls: list[Call] = [] if bias is None else [partial(values.add_, bias)]
    return calls if activation is None else [*calls, partial(activation.apply, values)]


def derivative_calls(errors: Tensor, values: Tensor, activation: Activation | None) -> list[Call]:
    """Calls for errors (K, B, p) ← errors · activation'(z), where values = activation(z) are known and z is not."""
    if activation is None:
        return []
    if activation is RELU and (compiled := machine_code_for(errors)) is not None:
        return [partial(compiled.relu_backward, errors.numpy(), values.numpy())]
    return [partial(activation.multiply_by_derivative, errors, values)]


def bias_update_calls(bias: Tensor, errors: Tensor, factor: float) -> list[Call]:
    """Calls for bias (K, 1, p) += factor · Σ_i errors_ki: a bias's gradient is the sum of its errors."""
    if (compiled := machine_code_for(errors)) is not None:
        return [partial(compiled.add_sums, bias.numpy(), errors.numpy(), factor)]
    return [lambda: bias.add_(errors.sum(1, keepdim=True), alpha=factor)]


@dataclass(frozen=True)
class Layer:
    """The names of a linear layer's parameters, and the activation after it."""

    weight: str
    bias: str | None
    activation: Activation | None


@final
class LayeredNetwork(Network):
    """Linear layers with activations between them; `layers_of` decides which modules are such."""

    def __init__(self, module: nn.Module, layers: list[Layer], loss: TorchLoss) -> None:
        self.layers, self.loss, self.layout = layers, loss, Layout.of(module)

    def losses(self, theta: Tensor, batch: Batch) -> Tensor:
        values, shared = batch.inputs, theta.shape[0] != batch.shares.shape[0]
        values = _pooled(values) if shared else values.flatten(2)
        for part in self._parts(theta):
            values = part.outputs(values)
        return self.loss.values(values.reshape(*batch.shares.shape, -1), batch.targets)

    def gradients(self, theta: Tensor, batch: Batch) -> Tensor:
        result = theta.new_empty(batch.shares.shape[0], self.layout.dim)
        into, shared = self.layout.views(result), theta.shape[0] != batch.shares.shape[0]

        def gradient_calls(layer: Layer, errors: Tensor, inputs: Tensor) -> list[Call]:
            calls = product_calls(errors.mT, inputs, into[layer.weight])
            return calls if layer.bias is None else [*calls, partial(torch.sum, errors, 1, out=into[layer.bias])]

        for call in self._backpropagation(self._parts(theta), batch, shared, gradient_calls):
            call()
        return result

    @property
    def repeats(self) -> bool:
        return True

    def step_function(self, step: DescentStep) -> Callable[[Batch], None]:
        keep, toward, stepsize = step.keep, step.toward, step.stepsize
        parts, changed = self._parts(step.theta), {part.layer: part for part in self._parts(step.changing)}
        centers = {} if toward is None else {part.layer: part for part in self._parts(toward.center)}
        # The product scales the weights by one number, beta; factors that differ between clients are multiplied before.
        fused = toward is None and not isinstance(keep, Tensor)
        beta: Any = keep if fused else 1.0

        def scaled(values: Tensor, center: Tensor | None) -> list[Call]:
            calls: list[Call] = []
            if isinstance(keep, Tensor) or keep != 1:
                calls = [partial(values.mul_, keep[..., None] if isinstance(keep, Tensor) else keep)]
            if toward is not None:
                part = toward.part[..., None] if isinstance(toward.part, Tensor) else toward.part
                calls.append(partial(values.lerp_, center, part))
            return calls

        def update_calls(layer: Layer, errors: Tensor, inputs: Tensor) -> list[Call]:
            weight, bias = changed[layer].weight, changed[layer].bias
            center = centers.get(layer)
            calls = [] if fused else scaled(weight, None if center is None else center.weight)
            calls += added_product_calls(weight, errors.mT, inputs, beta, -stepsize)
            if bias is not None:
                calls += scaled(bias, None if center is None else center.bias)
                calls += bias_update_calls(bias, errors, -stepsize)
            return calls

        @lru_cache(maxsize=2)  # by identity; the caller reuses two batches: full ones, and the last ones of epochs
        def calls_for(batch: Batch) -> list[Call]:
            calls = self._backpropagation(parts, batch, False, update_calls)
            return calls if step.push is None else [*calls, partial(step.changing.add_, step.push)]

        def made(batch: Batch) -> None:
            for call in calls_for(batch):
                call()

        return made

    def _backpropagation(
        self,
        parts: list["LayerParameters"],
        batch: Batch,
        shared: bool,
        use: Callable[[Layer, Tensor, Tensor], list[Call]],
    ) -> list[Call]:
        """Calls that compute all gradients in memory allocated here; to be repeated when the batch holds new samples.

        use: returns the calls that use a layer's gradient, given the layer, its errors (∂Σ shares·loss/∂outputs) and
        its inputs, (K, B, …) each. It is called for the last layer first; its calls may change the layer's weights,
        for the errors of the layer below are computed before. shared: all clients have the same parameters, so that
        samples of all clients are pooled, (1, K·B, …), in products with them.
        """
        inputs = [_pooled(batch.inputs) if shared else batch.inputs.flatten(2)]
        calls: list[Call] = []
        for part in parts:
            values = inputs[-1].new_empty(*inputs[-1].shape[:2], part.weight.shape[1])
            calls += product_calls(inputs[-1], part.transposed, values)
            calls += activation_calls(values, part.bias, part.layer.activation)
            inputs.append(values)
        outputs = _by_client(inputs.pop(), batch)
        errors = torch.empty_like(outputs)
        calls += self.loss.derivative_calls(outputs, batch.targets, batch.shares, errors)
        calls += derivative_calls(errors, outputs, parts[-1].layer.activation)
        for i in range(len(parts) - 1, -1, -1):
            below = None if i == 0 else torch.empty_like(inputs[i])
            if below is not None:
                above = _pooled(errors) if shared else errors
                calls += product_calls(above, parts[i].weight, below)
                calls += derivative_calls(below, inputs[i], parts[i - 1].layer.activation)
            calls += use(parts[i].layer, errors, _by_client(inputs[i], batch))
            errors = errors if below is None else _by_client(below, batch)
        return calls

    def _parts(self, theta: Tensor) -> list["LayerParameters"]:
        views = self.layout.views(theta)
        return [
            LayerParameters(
                layer,
                views[layer.weight],
                views[layer.weight].mT,  # made once: in a small step, even making a view takes noticeable time
                None if layer.bias is None else views[layer.bias][:, None],
            )
            for layer in self.layers
        ]


@dataclass(frozen=True, eq=False)
class LayerParameters:
    """A layer with the parameters of all clients: weight (K, out, in), its transpose, bias (K, 1, out)."""

    layer: Layer
    weight: Tensor
    transposed: Tensor
    bias: Tensor | None

    def outputs(self, inputs: Tensor) -> Tensor:
        """(K, B, in) to (K, B, out); differentiable."""
        if self.bias is None:
            values = torch.bmm(inputs, self.transposed)
        else:
            values = torch.baddbmm(self.bias, inputs, self.transposed)
        return values if self.layer.activation is None else self.layer.activation.apply(values)


def _pooled(values: Tensor) -> Tensor:
    """(K, B, …) as (1, K·B, p): the samples of all clients as one batch."""
    return values.reshape(1, values.shape[0] * values.shape[1], -1)


def _by_client(values: Tensor, batch: Batch) -> Tensor:
    """(1, K·B, p) as (K, B, p): the inverse of `_pooled`."""
    return values.reshape(*batch.shares.shape, -1)


def layers_of(module: nn.Module, loss: TorchLoss, sample_shape: tuple[int, ...]) -> list[Layer] | None:
    """The layers of a module that is a sequence of Linear, Flatten, ReLU, Tanh and Sigmoid only; None for others."""
    if not loss.by_hand:
        return None
    found: list[Layer] = []
    flat: bool = len(sample_shape) == 1  # on more axes, nn.Linear would map the last one only
    for name, part in in_sequence(module, ""):
        if type(part) is nn.Linear and flat:
            bias = None if part.bias is None else f"{name}bias"  # type: ignore[redundant-expr]
            found.append(Layer(f"{name}weight", bias, None))
        elif type(part) in ACTIVATIONS and found and found[-1].activation is None:
            found[-1] = Layer(found[-1].weight, found[-1].bias, ACTIVATIONS[type(part)])
        elif type(part) is nn.Flatten and not found and (part.start_dim, part.end_dim) == (1, -1):
            flat = True
        elif type(part) is not nn.Identity:
            return None
    # Frozen or shared parameters, or ones in another order than the layout's, are left to `FunctionalNetwork`.
    names = [name for layer in found for name in (layer.weight, layer.bias) if name is not None]
    alone = names == [name for name, p in module.named_parameters() if p.requires_grad]
    return found if found and alone and not has_hooks(module) else None


def in_sequence(module: nn.Module, prefix: str) -> Iterator[tuple[str, nn.Module]]:
    """The parts of nested nn.Sequential, in the order in which they compute, with the prefixes of their parameters."""
    if type(module) is not nn.Sequential:
        yield prefix, module
        return
    for name, part in module._modules.items():  # named_children would leave out a layer's second use
        assert part is not None
        yield from in_sequence(part, f"{prefix}{name}.")


def has_hooks(module: nn.Module) -> bool:
    """Whether any part has hooks or parametrizations, which may change what a layer computes."""
    from torch.nn.utils.parametrize import is_parametrized

    return any(
        part._forward_hooks or part._forward_pre_hooks or part._backward_hooks or is_parametrized(part)
        for part in module.modules()
    )
