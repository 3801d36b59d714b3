"""The kit's PyTorch model for least squares: linear, but in several parts, as the models that people train are."""

from typing import Any

import numpy as np
import torch

from fedconvex.errors import InvalidInput


class Shift(torch.nn.Module):
    """Adds bias times the last feature, and counts its batches in a buffer, as batch normalisation does."""

    num_batches_tracked: torch.Tensor

    def __init__(self, start: torch.Tensor) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(start)
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, output: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """output + last · bias, (n, 1)."""
        if self.training:
            self.num_batches_tracked += 1
        return output + last * self.bias


class KitModel(torch.nn.Module):
    """X ↦ Xθ with θ in two tensors, `layer.weight` (1, d − 1) and `shift.bias` (1,), and a buffer of integers.

    Use it in a wrapper around a code base that trains modules: code that treats the last tensor, the bias or a buffer
    in another way than the rest gives other numbers then, which it does not with a single tensor. The flat vector θ is
    `torch.nn.utils.parameters_to_vector(model.parameters())`.

    Args:
        point: θ, (d,) with d >= 2.
        dtype: of the parameters.

    Raises:
        InvalidInput: a point that is no vector of at least two entries.
    """

    def __init__(self, point: Any, dtype: Any = torch.float64) -> None:
        super().__init__()
        start = np.asarray(point, dtype=np.float64)
        if start.ndim != 1 or len(start) < 2:
            raise InvalidInput("point", point, "is no vector of at least two entries", "give the kit's x0")
        self.layer = torch.nn.Linear(len(start) - 1, 1, bias=False, dtype=dtype)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor(start[None, :-1]))
        self.shift = Shift(torch.tensor(start[-1:], dtype=dtype))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Xθ, (n, 1)."""
        output: torch.Tensor = self.shift(self.layer(X[:, :-1]), X[:, -1:])
        return output
