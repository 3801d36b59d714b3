"""Small federations of samples, models, and a plain PyTorch loop over clients and batches to compare with."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

import fedconvex as fc
from fedconvex.local_solvers.minibatches import draw_minibatches

SIZES = (7, 12, 9, 30)
FEATURES, CLASSES = 6, 3


def samples(seed: int = 0, sizes: tuple[int, ...] = SIZES, shape: tuple[int, ...] = (FEATURES,)) -> list[Any]:
    """Clients' (inputs, targets), float64 and int64."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(n, *shape)), rng.integers(0, CLASSES, n)) for n in sizes]


class Plain(nn.Module):
    """A linear model that is not recognised as one."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.zeros(CLASSES, FEATURES)), nn.Parameter(torch.zeros(CLASSES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1) @ self.weight.T + self.bias


class Wrapped(nn.Module):
    """Hides what a module is made of."""

    def __init__(self, inside: nn.Module) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inside(x)


def random(model: nn.Module, seed: int = 1) -> nn.Module:
    """The model in float64 with parameters of size 0.4."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    for parameter in model.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


def vector(model: nn.Module) -> np.ndarray:
    return np.concatenate([p.detach().double().numpy().ravel() for p in model.parameters()])


def batches_of(clients: list[Any], k: int, solver: fc.SGD, seed: int, round: int, amount: int) -> list[np.ndarray]:
    """Client k's batches in that round, as the core deals them."""
    n = len(clients[k][0])
    by = (
        {"epochs": np.array([amount]), "steps": None}
        if solver.steps is None
        else {"epochs": None, "steps": np.array([amount])}
    )
    dealt = draw_minibatches(
        np.array([0]), np.array([n]), solver.batch_size, members=np.array([k]), seed=seed, round=round, **by
    )
    return [dealt.order[a:b] for a, b in zip(dealt.bounds, dealt.bounds[1:], strict=False)]


def plain_training(
    model: nn.Module,
    clients: list[Any],
    k: int,
    solver: fc.SGD,
    seed: int,
    round: int,
    amount: int,
    extra: Callable[[nn.Module], torch.Tensor] = lambda model: torch.zeros(()),
    ridge: float = 0.0,
) -> nn.Module:
    """One client's local training: autograd, torch's own SGD, batch after batch; `extra` is added to the loss."""
    local = deepcopy(model)
    stepsize = float(solver.stepsize) * float(solver.decay) ** round
    optimizer = torch.optim.SGD(local.parameters(), lr=stepsize, momentum=float(solver.momentum))
    X, y = (torch.as_tensor(part) for part in clients[k])
    for rows in batches_of(clients, k, solver, seed, round, amount):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(local(X[rows]), y[rows]) + extra(local)
        loss = loss + ridge / 2 * sum((p * p).sum() for p in local.parameters())
        loss.backward()
        if solver.clip is not None:
            length = sum((p.grad * p.grad).sum() for p in local.parameters()) ** 0.5
            for p in local.parameters():
                p.grad *= min(1.0, float(solver.clip) / float(length))
        with torch.no_grad():
            for p in local.parameters():
                p.grad += float(solver.weight_decay) * p
        optimizer.step()
    return local


def mixed(models: list[nn.Module], weights: list[float]) -> nn.Module:
    """The weighted average of models, the weights normalised."""
    result = deepcopy(models[0])
    for name, parameter in result.named_parameters():
        values = [
            w / sum(weights) * dict(m.named_parameters())[name].detach() for w, m in zip(weights, models, strict=True)
        ]
        parameter.data = torch.stack(values).sum(0)
    return result
