"""Where a run's samples come from: a named data set or a table, dealt to clients, some of it held out for testing."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from fedconvex import data
from fedconvex.data.federated import FederatedData
from fedconvex.errors import InvalidInput

Pair = tuple[np.ndarray, np.ndarray]


@final
@dataclass(frozen=True, eq=False)
class Source:
    """One pair (inputs, targets) per client, and the pair that is held out."""

    clients: list[Pair]
    test: Pair | None
    num_classes: int


def load(
    name: str,
    folder: Path,
    clients: int | None = None,
    partition: str | None = None,
    seed: int = 0,
    test: float = 0.0,
    standardize: bool = False,
    client_column: str | None = None,
    target_column: str | None = None,
) -> Source:
    """A built-in table (digits, breast_cancer) or a CSV, Parquet, NPZ or LIBSVM file, its classes numbered from 0.

    Args:
        folder: from which the paths of files are seen.
        clients, partition, seed, client_column, target_column, standardize: see `fedconvex.data.load`.
        test: the part of every client's samples that is held out, see `fedconvex.data.train_test_split`; 0: none.
    """
    place = name if name in data.builtin.names() else str(folder / name)
    whole = data.load(
        place, clients=clients, partition=partition, client_column=client_column, target_column=target_column,
        standardize=standardize, seed=seed,
    )  # fmt: skip
    if whole.task == "regression":
        raise InvalidInput("name", name, "has targets that are no classes", "give data of a classification")
    if not test:
        return Source(_pairs(whole), None, int(whole.classes.size))
    kept, held = data.train_test_split(whole, test, seed)
    X, y = zip(*_pairs(held), strict=True)
    return Source(_pairs(kept), (np.concatenate(X), np.concatenate(y)), int(whole.classes.size))


def _pairs(federated: FederatedData) -> list[Pair]:
    classes = federated.classes
    numbers = [np.searchsorted(classes, targets) for targets in federated.targets]
    return list(zip(federated.features, numbers, strict=True))
