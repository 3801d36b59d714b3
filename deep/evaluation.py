"""Evaluation of a model: the losses of all samples, and the number classified correctly."""

from math import nan

import torch
from torch import Tensor, nn

from fedconvex.deep.devices import products_in
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.memory import Budget
from fedconvex.deep.shards import Shards

NUMBERS_AT_ONCE = 20_000_000  # input numbers per call of the module, as long as memory has not run out


def evaluate(
    module: nn.Module, loss: TorchLoss, shards: Shards, budget: Budget | None = None, kept: list[Tensor] | None = None
) -> tuple[Tensor, float]:
    """The losses of all samples, (N,) in float64, and how many are classified correctly (NaN for other losses).

    Where samples have weights, their losses are multiplied by these; all count alike in the number of correct ones.

    Computed in the model's full precision, also where local training uses TF32 or half precision. kept: gets the
    outputs, batch after batch.
    """
    # Converted inputs take memory of their own, up to eight times that of the stored ones.
    room = NUMBERS_AT_ONCE if shards.inputs.is_floating_point() else NUMBERS_AT_ONCE // 8
    losses, correct = [], 0.0
    with torch.no_grad(), products_in("full"):
        size = shards.inputs[0].numel()
        if loss.axes:  # the classes of all tokens can be many more numbers than the tokens
            size = max(size, module(shards.given(shards.inputs[:1])).numel())
        at_once = (budget or Budget()).batch_size(room, size)
        for X, y in zip(shards.inputs.split(at_once), shards.targets.split(at_once), strict=True):
            outputs = module(shards.given(X))
            losses.append(loss.values(outputs, y).double())
            if kept is not None:
                kept.append(outputs)
            right = loss.correct(outputs, y)
            correct += nan if right is None else float(right.sum())
    found = torch.cat(losses)
    return found if shards.factors is None else found * shards.factors, correct
