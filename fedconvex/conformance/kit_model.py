"""The kit's PyTorch model for least squares: linear, but in several parts, as the models that people train are."""

from typing import Any

import numpy as np
import torch

from fedconvex.errors import InvalidInput

MOMENTUM = 0.1  # torch.nn.BatchNorm1d's


class Shift(torch.nn.Module):
    """Adds bias times the last feature; has the buffers of batch normalisation, which its output does not depend on."""

    num_batches_tracked: torch.Tensor
    running_mean: torch.Tensor

    def __init__(self, start: torch.Tensor, statistics: bool) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(start)
        self.statistics = statistics
        self.register_buffer("num_batches_tracked", torch.tensor(0))
        if statistics:
            self.register_buffer("running_mean", torch.zeros_like(start))

    def forward(self, output: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """output + last · bias, (n, 1)."""
        if self.training:
            self.num_batches_tracked += 1
            if self.statistics:
                self.running_mean += MOMENTUM * (last.detach().mean(0) - self.running_mean)
        return output + last * self.bias


class KitModel(torch.nn.Module):
    """X ↦ Xθ with θ in two tensors, `layer.weight` (1, d − 1) and `shift.bias` (1,), and a buffer of integers.

    Use it in a wrapper around a code base that trains modules: code that treats the last tensor, the bias or a buffer
    in another way than the rest gives other numbers then, which it does not with a single tensor. The flat vector θ is
    `torch.nn.utils.parameters_to_vector(model.parameters())`.

    Args:
        point: θ, (d,) with d >= 2.
        dtype: of the parameters.
        statistics: add a floating-point buffer `shift.running_mean` (1,), the running mean of the last feature. Where
            `server_model` and `client_models` return such modules, or their state_dicts, the report says whether the
            server averages the buffer or keeps its own.

    Raises:
        InvalidInput: a point that is no vector of at least two entries, or statistics other than True and False.
    """

    def __init__(self, point: Any, dtype: Any = torch.float64, statistics: bool = False) -> None:
        super().__init__()
        start = np.asarray(point, dtype=np.float64)
        if start.ndim != 1 or len(start) < 2:
            raise InvalidInput("point", point, "is no vector of at least two entries", "give the kit's x0")
        if not isinstance(statistics, bool):
            raise InvalidInput("statistics", statistics, "is neither True nor False", "say whether to add the buffer")
        self.layer = torch.nn.Linear(len(start) - 1, 1, bias=False, dtype=dtype)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor(start[None, :-1]))
        self.shift = Shift(torch.tensor(start[-1:], dtype=dtype), statistics)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Xθ, (n, 1)."""
        output: torch.Tensor = self.shift(self.layer(X[:, :-1]), X[:, -1:])
        return output
