"""What every peer is given and what it reports; needs nothing but NumPy, for it runs in the peers' environments."""

import importlib.metadata
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Task:
    """Who takes part in which round, on which samples, with which local work; the first `warm` rounds do not count."""

    clients: list[tuple[np.ndarray, np.ndarray]]
    schedule: list[list[int]]
    warm: int
    epochs: int
    batch_size: int
    stepsize: float
    classes: int

    @property
    def features(self) -> int:
        """The number of features."""
        return int(self.clients[0][0].shape[1])

    @property
    def steps(self) -> list[int]:
        """The rounds' local steps, the last batch of an epoch being smaller."""
        return [
            sum(self.epochs * -(-len(self.clients[k][1]) // self.batch_size) for k in members)
            for members in self.schedule
        ]

    def save(self, path: Path) -> None:
        """As .npz."""
        X, y = (np.concatenate(part) for part in zip(*self.clients, strict=True))
        np.savez(
            path, X=X, y=y, count=[len(part) for _, part in self.clients], schedule=self.schedule, warm=self.warm,
            epochs=self.epochs, batch_size=self.batch_size, stepsize=self.stepsize, classes=self.classes,
        )  # fmt: skip

    def loss(self, weight: np.ndarray, bias: np.ndarray) -> float:
        """The mean cross-entropy over all samples at weight (C, p), bias (C,)."""
        X, y = (np.concatenate(part) for part in zip(*self.clients, strict=True))
        scores = X @ np.asarray(weight, dtype=np.float64).T + np.asarray(bias, dtype=np.float64)
        scores -= scores.max(axis=1, keepdims=True)
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), y]))


@cache
def load(path: str) -> Task:
    """The task in a file, read once."""
    with np.load(path, allow_pickle=False) as file:
        ends = np.cumsum(file["count"])[:-1]
        clients = list(zip(np.split(file["X"], ends), np.split(file["y"], ends), strict=True))
        return Task(
            clients, file["schedule"].tolist(), int(file["warm"]), int(file["epochs"]), int(file["batch_size"]),
            float(file["stepsize"]), int(file["classes"]),
        )  # fmt: skip


class Batches:
    """A client's samples as tensors; every iteration is one more epoch in a new order.

    Where a peer leaves it to its user how batches are made, this is what it gets: indexing costs a small part of what
    torch's DataLoader does, so that the peer looks faster than with its documentation's loader.
    """

    def __init__(self, X: Any, y: Any, size: int) -> None:
        self.X, self.y, self.size = X, y, size

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        import torch

        for rows in torch.randperm(len(self.y)).split(self.size):
            yield self.X[rows], self.y[rows]


def report(
    task: Task, ends: list[float], weight: Any, bias: Any, packages: tuple[str, ...], steps: list[int] | None = None
) -> None:
    """Print what was measured as one line of JSON.

    Args:
        ends: the clock when the first round began and when each of the rounds ended.
        steps: the rounds' local steps, where they are not the task's.
    """
    assert len(ends) == len(task.schedule) + 1
    found = {
        "seconds": np.diff(ends).tolist(),
        "steps": task.steps if steps is None else steps,
        "loss": task.loss(np.asarray(weight), np.asarray(bias)),
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }
    print(json.dumps(found), flush=True)
