"""What is seen at the server's model: the samples' losses, and which of them it classifies correctly."""

from math import nan

import torch
from torch import Tensor, nn

from fedconvex.deep.devices import products_in
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.memory import Budget
from fedconvex.deep.shards import Shards

NUMBERS_AT_ONCE = 20_000_000  # of inputs that go through the module in one call, as long as the budget is whole


def evaluate(module: nn.Module, loss: TorchLoss, shards: Shards, budget: Budget | None = None) -> tuple[Tensor, float]:
    """The losses of all samples, (N,) in float64, and how many are classified correctly (NaN if nothing is).

    In all digits of the model's type, whatever the local work is computed in.
    """
    at_once = (budget or Budget()).part_of(NUMBERS_AT_ONCE, shards.inputs[0].numel())
    losses, correct = [], 0.0
    with torch.no_grad(), products_in("full"):
        for X, y in zip(shards.inputs.split(at_once), shards.targets.split(at_once), strict=True):
            outputs = module(X)
            losses.append(loss.values(outputs, y).double())
            right = loss.correct(outputs, y)
            correct += nan if right is None else int(right.sum())
    return torch.cat(losses), correct
