"""What is seen at the server's model: the objective's value and the part of samples that it classifies correctly."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fedconvex.deep.losses import Loss

NUMBERS_AT_ONCE = 20_000_000  # of inputs that go through the module in one call


@dataclass(frozen=True)
class Evaluation:
    """losses (N,) and, for losses that classify, correct (N,)."""

    losses: Tensor
    correct: Tensor | None

    @property
    def accuracy(self) -> float:
        """The part of the samples that is classified correctly; NaN for losses that do not classify."""
        return float("nan") if self.correct is None else float(self.correct.double().mean())


def evaluate(module: nn.Module, loss: Loss, inputs: Tensor, targets: Tensor) -> Evaluation:
    """The module's losses of all samples, as many at once as memory is meant for."""
    at_once = max(1, NUMBERS_AT_ONCE // max(1, inputs[0].numel()))
    losses, correct = [], []
    with torch.no_grad():
        for X, y in zip(inputs.split(at_once), targets.split(at_once), strict=True):
            outputs = module(X)
            losses.append(loss.values(outputs, y))
            correct.append(loss.correct(outputs, y))
    right = [part for part in correct if part is not None]
    return Evaluation(torch.cat(losses), torch.cat(right) if right else None)
