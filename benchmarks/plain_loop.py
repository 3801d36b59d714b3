"""The plain PyTorch loop that deep runs are measured against."""

from typing import Any

import torch
from torch import Tensor, nn

from fedconvex.participation import Draw


def plain_round(
    model: nn.Module, clients: list[Any], draw: Draw, batch: int, stepsize: float, lower: torch.dtype | None = None
) -> Tensor:
    """FedAvg as one writes it: client after client, batch after batch, autograd and torch's own SGD.

    The server's new parameters; lower: the type of the products, by autocast.
    """
    assert draw.members is not None
    start = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    total = torch.zeros_like(start)
    for k in draw.members:
        nn.utils.vector_to_parameters(start.clone(), model.parameters())
        optimizer, (X, y) = torch.optim.SGD(model.parameters(), lr=stepsize), clients[k]
        for rows in torch.randperm(len(y), device=y.device).split(batch):
            optimizer.zero_grad()
            with torch.autocast(y.device.type, lower, enabled=lower is not None):
                loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
            loss.backward()
            optimizer.step()
        total += nn.utils.parameters_to_vector(model.parameters()).detach() / len(draw.members)
    nn.utils.vector_to_parameters(start, model.parameters())
    return total
