"""Element-wise operations of a fully connected network, in place: biases, activations and their derivatives.

Every function returns a list of calls to repeat. On a CPU they are compiled loops: a step needs a dozen operations on
small arrays, and torch's overhead for each would be as large as the arithmetic.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import torch
from torch import Tensor, nn

from fedconvex.deep.calls import Call, machine_code_for


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
