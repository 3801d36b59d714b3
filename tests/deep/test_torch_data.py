"""Clients given as data sets and loaders of torch.utils.data: the run is that of their tensors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, FEATURES, random, samples, vector
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

CLIENTS = samples()
TENSORS = [TensorDataset(torch.as_tensor(X), torch.as_tensor(y)) for X, y in CLIENTS]
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)


class Samples(Dataset[Any]):
    """One NumPy pair after the other, as people write them."""

    def __init__(self, pairs: Any, noise: float = 0.0) -> None:
        self.pairs, self.noise = pairs, noise

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int) -> Any:
        x, *rest = self.pairs[i]
        return (x + self.noise * torch.rand(1).numpy(), *rest)


class Pictures(Samples):
    def __getitem__(self, i: int) -> Any:
        return object(), 0


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter([(np.zeros(FEATURES), 0)])


def go(clients: Any, test: Any) -> Any:
    model = random(nn.Sequential(nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, CLASSES)))
    return run(fc.FedProx(mu=1), model, clients, rounds=2, local_solver=SGD, test=test)


@pytest.mark.parametrize(
    "clients",
    [
        TENSORS,
        [Samples(list(zip(X, y, strict=True))) for X, y in CLIENTS],
        [DataLoader(data, batch_size=3, shuffle=True) for data in TENSORS],
        [TENSORS[0], CLIENTS[1], DataLoader(TENSORS[2]), Subset(TENSORS[3], range(len(TENSORS[3])))],
    ],
    ids=["tensors", "pairs", "loaders", "mixed"],
)
def test_the_run_is_that_of_the_tensors(clients: Any) -> None:
    expected, found = go(CLIENTS, CLIENTS[0]), go(clients, clients[0])
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


ZEROS = np.zeros(FEATURES)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (Stream(), "Stream: has no length"),
        (DataLoader(Stream()), "Stream: has no length"),
        (Samples([]), "has no samples"),
        (Samples([(ZEROS, 0)] * 3, noise=1.0), "draws at random.*transform="),
        (Samples([(ZEROS, 0), (np.zeros(2), 1)]), "do not stack"),
        (Pictures([0, 1]), "do not stack"),
        (Samples([(ZEROS, 0, 1)] * 2), "samples of 3 parts; let each be a pair"),
        (TensorDataset(torch.zeros(3, FEATURES)), "samples of 1 parts"),
    ],
)
def test_what_is_refused(data: Any, told: str) -> None:
    for clients, test, argument in (([CLIENTS[0], data], None, "clients[1]"), (CLIENTS, data, "test")):
        with pytest.raises(InvalidInput, match=told) as caught:
            go(clients, test)
        assert caught.value.argument == argument
