"""Evaluation of a model: the losses of all samples, and which are classified correctly."""

import torch
from torch import Tensor, nn

from fedconvex.deep.devices import products_in
from fedconvex.deep.losses import TorchLoss
from fedconvex.deep.memory import Budget, numbers_of_sample
from fedconvex.deep.shards import Shards

FEW = 10_000  # input numbers, of which no network makes too many


def evaluate(
    module: nn.Module, loss: TorchLoss, shards: Shards, budget: Budget | None = None, kept: list[Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """The losses of all samples, (N,) in float64, and 1 for those that are classified correctly, 0 for the others.

    The latter are NaN for other losses. Where samples have weights, their losses are multiplied by these.

    Computed in the model's full precision, also where local training uses TF32 or half precision. kept: gets the
    outputs, batch after batch.
    """
    budget, losses, correct = budget or Budget(), [], []
    with torch.no_grad(), products_in("full"):
        of_each = budget.of_sample.get("evaluation") or shards.numbers_per_sample
        if "evaluation" not in budget.of_sample and len(shards.inputs) * of_each > FEW:
            rows = torch.arange(6, device=shards.inputs.device) % len(shards.inputs)
            some, size = shards.inputs[rows], next(module.parameters()).element_size()
            of_each += numbers_of_sample(lambda samples: module(shards.given(some[:samples])), size)
            budget.of_sample["evaluation"] = of_each
        at_once = budget.samples(shards.device, of_each)
        for X, y in zip(shards.inputs.split(at_once), shards.targets.split(at_once), strict=True):
            outputs = module(shards.given(X))
            losses.append(loss.values(outputs, y).double())
            if kept is not None:
                kept.append(outputs)
            right = loss.correct(outputs, y)
            correct.append(losses[-1] * torch.nan if right is None else right.double())
    found = torch.cat(losses)
    return found if shards.factors is None else found * shards.factors, torch.cat(correct)
