"""What a fully connected network does between its matrix products, in place: biases, activations, their derivatives.

Every function returns the calls that do it. On a CPU they are machine code: of torch's own, a dozen a step, each costs
as much as the numbers that it touches.
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
    """A function applied to every entry, in place, and its derivative as a function of its value."""

    apply: Callable[[Tensor], Tensor]
    multiply_by_derivative: Callable[[Tensor, Tensor], Tensor]  # (errors, values), changes the errors


RELU = Activation(
    torch.relu_,
    lambda errors, values: torch.ops.aten.threshold_backward.grad_input(errors, values, 0, grad_input=errors),
)
ACTIVATIONS: dict[type[nn.Module], Activation] = {
    nn.ReLU: RELU,
    nn.Tanh: Activation(torch.tanh_, lambda errors, values: errors.mul_(1 - values * values)),
    nn.Sigmoid: Activation(torch.sigmoid_, lambda errors, values: errors.mul_(values * (1 - values))),
}


def activating(values: Tensor, bias: Tensor | None, activation: Activation | None) -> list[Call]:
    """values (K, B, p) ← activation(values + bias); bias (K, 1, p)."""
    compiled = machine_code_for(values)
    if compiled is not None and bias is not None and activation in (None, RELU):
        return [partial(compiled.add_bias, values.numpy(), bias.numpy(), activation is RELU)]
    calls: list[Call] = [] if bias is None else [partial(values.add_, bias)]
    return calls if activation is None else [*calls, partial(activation.apply, values)]


def differentiating(errors: Tensor, values: Tensor, activation: Activation | None) -> list[Call]:
    """errors (K, B, p) ← errors · activation'(what it was applied to), where it gave `values`."""
    if activation is None:
        return []
    if activation is RELU and (compiled := machine_code_for(errors)) is not None:
        return [partial(compiled.relu_backward, errors.numpy(), values.numpy())]
    return [partial(activation.multiply_by_derivative, errors, values)]


def adding_sums(bias: Tensor, errors: Tensor, factor: float) -> list[Call]:
    """bias (K, 1, p) += factor · Σ_i errors_ki."""
    if (compiled := machine_code_for(errors)) is not None:
        return [partial(compiled.add_sums, bias.numpy(), errors.numpy(), factor)]
    return [lambda: bias.add_(errors.sum(1, keepdim=True), alpha=factor)]
