"""The linear model, the loss and the samples that every adapter passes to its framework."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from fedconvex.arithmetic.rationals import Array
from fedconvex.conformance.adapters import Steps
from fedconvex.errors import InvalidInput
from fedconvex.problems.quadratics import LeastSquares


class LinearModule(torch.nn.Linear):
    """θ ↦ Aθ in float64, starting at x0."""

    def __init__(self, x0: Any) -> None:
        start = np.asarray(x0, dtype=np.float64)
        super().__init__(len(start), 1, bias=False, dtype=torch.float64)
        with torch.no_grad():
            self.weight.copy_(torch.tensor(start[None]))

    def loss(self, A: torch.Tensor, b: torch.Tensor, eval: bool = False) -> torch.Tensor:
        """½‖Aθ − b‖²: pfl calls the loss as a method of the model."""
        return half_squares(self(A), b)

    def metrics(self, A: torch.Tensor, b: torch.Tensor, eval: bool = True) -> dict[str, Any]:
        """No metrics; pfl calls this, too."""
        return {}


def half_squares(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """½‖output − target‖², summed over samples: f_k of `fedconvex.LeastSquares`."""
    return (output - target).square().sum() / 2


def gradient_steps(
    model: torch.nn.Module, loss: Callable[[], torch.Tensor], steps: Steps, after: Callable[[], object] = lambda: None
) -> None:
    """Full-batch gradient steps as PyTorch programs take them; `after` is called after each."""
    optimiser = torch.optim.SGD(model.parameters(), lr=steps.stepsize)
    for _ in range(steps.epochs):
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()
        after()


def samples(problem: LeastSquares) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """A_k (n_k, d) and b_k (n_k, 1) of every client; the framework computes its weights from the n_k."""
    if not isinstance(problem, LeastSquares):
        raise InvalidInput("loss", problem, "is not the one that the adapters use", "check with loss='half_sum'")
    return [
        (torch.tensor(np.asarray(A, dtype=np.float64)), torch.tensor(np.asarray(b, dtype=np.float64)[:, None]))
        for A, b in zip(problem.A, problem.b, strict=True)
    ]


def point(model: torch.nn.Module) -> Array:
    """The model's parameters (d,)."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach().numpy().copy()
