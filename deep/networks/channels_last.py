"""Sequences of convolutions on a CPU, one client at a time, with the channels of a pixel side by side in memory.

Torch's max-pooling takes eleven times as long in the usual order, and ReLU after pooling has a quarter of the work. The
values are those of the module: the largest of numbers that are cut off at 0 is the largest, cut off at 0.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import conv2d

from fedconvex.deep.networks.layered import has_hooks, in_sequence
from fedconvex.deep.networks.layout import Layout, Views

LAST = torch.channels_last
Step = Callable[[Views, Tensor], Tensor]


def channels_last(module: nn.Module, layout: Layout) -> Step | None:
    """The module as a function of parameters and inputs (B, channels, height, width), if that is faster; else None.

    It is for sequences with Conv2d layers in float32 on a CPU; other types were not measured to be faster.
    """
    parts = [*in_sequence(module, "")]
    first = next(module.parameters())
    if first.device.type != "cpu" or first.dtype != torch.float32 or has_hooks(module):
        return None
    if not any(type(part) is nn.Conv2d for _, part in parts):
        return None
    # A layer that is used twice, or shares parameters, has names that the layout lacks.
    names = {f"{prefix}{name}" for prefix, part in parts for name, p in part.named_parameters() if p.requires_grad}
    if names != layout.shapes.keys():
        return None
    steps = [_step(prefix, part) for prefix, part in _pooled_first(parts)]

    def compute(parameters: Views, inputs: Tensor) -> Tensor:
        values = inputs.contiguous(memory_format=LAST) if inputs.ndim == 4 else inputs
        for step in steps:
            values = step(parameters, values)
        return values

    return compute


def _pooled_first(parts: list[tuple[str, nn.Module]]) -> list[tuple[str, nn.Module]]:
    """The parts, with ReLU after the max-pooling that follows it."""
    found = list(parts)
    for i in range(len(found) - 1):
        if type(found[i][1]) is nn.ReLU and type(found[i + 1][1]) is nn.MaxPool2d:
            found[i], found[i + 1] = found[i + 1], found[i]
    return found


def _step(prefix: str, part: nn.Module) -> Step:
    if type(part) is nn.Conv2d and part.padding_mode == "zeros":
        return partial(_convolved, prefix, part)
    own = [name for name, p in part.named_parameters() if p.requires_grad]
    if not own:
        return lambda parameters, values: part(values)
    return lambda parameters, values: functional_call(
        part, {name: parameters[f"{prefix}{name}"] for name in own}, (values,), tie_weights=False
    )


def _convolved(prefix: str, part: nn.Conv2d, parameters: Views, values: Tensor) -> Tensor:
    weight: Tensor = parameters.get(f"{prefix}weight", part.weight)
    bias = None if part.bias is None else parameters.get(f"{prefix}bias", part.bias)
    weight = weight.contiguous(memory_format=LAST)
    return conv2d(values, weight, bias, part.stride, part.padding, part.dilation, part.groups)
