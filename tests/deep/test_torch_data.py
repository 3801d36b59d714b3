"""Clients given as data sets and loaders of torch.utils.data: the run is that of their tensors."""

from collections import UserList
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLIENTS, FEATURES, SMALL, Once, Samples, Stream, Unsized, vector
from torch.utils.data import DataLoader, Subset, TensorDataset

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.errors import InvalidInput, TooLarge

pytestmark = pytest.mark.beyond_core  # trains networks

TENSORS = [TensorDataset(torch.as_tensor(X), torch.as_tensor(y)) for X, y in CLIENTS]
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)


class Noisy(Samples):
    def __getitem__(self, i: int) -> Any:
        x, *rest = self.pairs[i]
        return (x + torch.rand(1).numpy(), *rest)


class Pictures(Samples):
    def __getitem__(self, i: int) -> Any:
        return object(), 0


class Broken(Samples):
    def __getitem__(self, i: int) -> Any:
        raise KeyError("image 3")


PAIRS = [list(zip(X, y, strict=True)) for X, y in CLIENTS]


def list_of(pairs: Any) -> Any:
    """A sequence of a class of its own, as other libraries have them."""
    return UserList(pairs)


def go(clients: Any, test: Any) -> Any:
    return run(fc.FedProx(mu=1), SMALL, clients, rounds=2, local_solver=SGD, test=test)


@pytest.mark.parametrize(
    "clients",
    [
        TENSORS,
        [Samples(pairs) for pairs in PAIRS],
        [DataLoader(data, batch_size=3, shuffle=True) for data in TENSORS],
        [TENSORS[0], CLIENTS[1], DataLoader(TENSORS[2]), Subset(TENSORS[3], range(len(TENSORS[3])))],
        [Stream(PAIRS[0]), DataLoader(Stream(PAIRS[1]), batch_size=5), Stream(PAIRS[2]), list_of(PAIRS[3])],
    ],
    ids=["tensors", "pairs", "loaders", "mixed", "streams"],
)
def test_the_run_is_that_of_the_tensors(clients: Any) -> None:
    expected, found = go(CLIENTS, CLIENTS[0]), go(clients, clients[0])
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


ZEROS = np.zeros(FEATURES)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (iter(PAIRS[0]), "can be read only once"),
        (Unsized([0, 1]), "has no length: not known; give a data set with len"),
        (Broken([0, 1]), "cannot be read, sample 0: KeyError: 'image 3'"),
        (Stream([]), "has no samples"),
        (DataLoader(TENSORS[0], batch_size=None), "has no batch size"),
        (Samples([]), "has no samples"),
        (Noisy([(ZEROS, 0)] * 3), "draws at random.*transform="),
        (Samples([(ZEROS, 0), (np.zeros(2), 1)]), "do not stack"),
        (Pictures([0, 1]), "do not stack"),
        (Samples([(ZEROS, 0, 1, 2)] * 2), "samples of 4 parts; let each be a pair"),
        (TensorDataset(torch.zeros(3, FEATURES)), "samples of 1 parts"),
    ],
)
def test_what_is_refused(data: Any, told: str) -> None:
    for clients, test, argument in (([CLIENTS[0], data], None, "clients[1]"), (CLIENTS, data, "test")):
        with pytest.raises(InvalidInput, match=told) as caught:
            go(clients, test)
        assert caught.value.argument == argument


def test_a_stream_that_gives_its_samples_only_once_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Once: gives no samples when it is read again"):
        go([Once(PAIRS[0])], None)


def test_a_stream_that_does_not_end_is_refused_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedconvex.memory.FREE", 0)
    monkeypatch.setattr("fedconvex.memory.available", lambda: 100_000)
    with pytest.raises(TooLarge, match=r"clients\[0\] = Stream: reading the first 1024 samples takes .*let it end"):
        go([Stream(PAIRS[0], endless=True)], None)
