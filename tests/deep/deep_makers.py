"""Small federations of samples, models, and a plain PyTorch loop over clients and batches to compare with."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, IterableDataset

import fedconvex as fc
from fedconvex.deep import models, run
from fedconvex.deep.training_mode import step_seeds
from fedconvex.errors import InvalidInput
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


class Made(nn.Module):
    """The parts by their names, tensors as buffers, and what is computed with them."""

    def __init__(self, told: Callable[["Made", torch.Tensor], torch.Tensor], **parts: nn.Module | torch.Tensor) -> None:
        super().__init__()
        self.told = told
        for name, part in parts.items():
            self.register_buffer(name, part) if type(part) is torch.Tensor else setattr(self, name, part)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.told(self, x)


def small(hidden: int = 4) -> nn.Sequential:
    return nn.Sequential(nn.Linear(FEATURES, hidden), nn.Tanh(), nn.Linear(hidden, CLASSES))


class Samples(Dataset[Any]):
    """One pair after the other, as people write them."""

    def __init__(self, pairs: Any) -> None:
        self.pairs = pairs

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int) -> Any:
        return self.pairs[i]


class Stream(IterableDataset[Any]):
    """The same without a length; with `endless`, again and again."""

    def __init__(self, pairs: Any, endless: bool = False) -> None:
        self.pairs, self.endless = pairs, endless

    def __iter__(self) -> Iterator[Any]:
        yield from cycle(self.pairs) if self.endless else self.pairs


class Once(Stream):
    """Goes on where it was left when it is read again."""

    def __init__(self, pairs: Any) -> None:
        super().__init__(iter(pairs))


class Unsized(Samples):
    def __len__(self) -> int:
        raise TypeError("not known")


def random(model: nn.Module, seed: int = 1) -> nn.Module:
    """The model in float64 with parameters of size 0.4."""
    generator = torch.Generator().manual_seed(seed)
    model = model.double()
    for parameter in model.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


CLIENTS = samples()
SGD = fc.SGD(epochs=2, batch_size=4, stepsize=0.05)
NETWORK = random(models.fully_connected([FEATURES, 5, CLASSES]))
LINEAR = random(nn.Linear(FEATURES, CLASSES))
SMALL = random(small())


def vector(model: nn.Module) -> np.ndarray:
    return np.concatenate([p.detach().double().numpy().ravel() for p in model.parameters()])


def continued(file: Path, method: Any, model: nn.Module, clients: Any, first: int, **options: Any) -> tuple[Any, Any]:
    """A run, and the same one stopped after the `first` rounds and continued from its checkpoint: bit for bit alike."""
    whole = run(method, model, clients, **options)
    run(method, model, clients, checkpoint=file, **(options | {"rounds": first}))
    found = run(method, model, clients, checkpoint=file, **options)
    for name, part in found.model.state_dict().items():
        assert torch.equal(part, whole.model.state_dict()[name])
    pd.testing.assert_frame_equal(found.to_frame(), whole.to_frame(), check_exact=True)
    return whole, found


def refused(told: str, argument: str | None = None, **given: Any) -> None:
    """A run with what is given is refused in these words, for that argument."""
    usual = {"method": fc.FedProx(mu=1), "model": NETWORK, "clients": CLIENTS, "rounds": 1, "local_solver": SGD}
    with pytest.raises(InvalidInput, match=told) as caught:
        run(**(usual | given))
    assert argument is None or caught.value.argument == argument


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


def towards(center: nn.Module, weight: float) -> Callable[[nn.Module], torch.Tensor]:
    """(weight/2)‖θ − center‖²."""
    there = [p.detach().clone() for p in center.parameters()]
    return lambda model: weight / 2 * sum(((p - q) ** 2).sum() for p, q in zip(model.parameters(), there, strict=True))


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
    training: bool = False,
    transform: Callable[[torch.Tensor, torch.Generator], torch.Tensor] = lambda batch, generator: batch,
    frozen: str = "",
) -> nn.Module:
    """One client's local training: autograd, torch's own SGD, batch after batch; `extra` is added to the loss.

    With `training`, in that mode, but for a frozen layer, and with the draws of a run.
    """
    local = deepcopy(model).train(training)
    if frozen:
        local.get_submodule(frozen).eval()
    stepsize = float(solver.stepsize) * float(solver.decay) ** round
    optimizer = torch.optim.SGD(local.parameters(), lr=stepsize, momentum=float(solver.momentum))
    X, y = (torch.as_tensor(part) for part in clients[k])
    for step, rows in enumerate(batches_of(clients, k, solver, seed, round, amount)):
        of_model, of_transform = step_seeds(seed, round, k, step)
        batch = transform(X[rows], torch.Generator().manual_seed(of_transform))
        optimizer.zero_grad()
        if training:
            torch.manual_seed(of_model)
        loss = nn.functional.cross_entropy(local(batch), y[rows]) + extra(local)
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
