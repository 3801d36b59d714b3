"""Where a run's samples come from: a named data set or a table, dealt to clients, some of it held out for testing."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from fedconvex import data
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.data.federated import FederatedData
from fedconvex.data.table import standardized
from fedconvex.deep.datasets import Dataset, load_dataset, names
from fedconvex.deep.datasets.registry import WITH_TEST_FILES
from fedconvex.errors import InvalidInput

Pair = tuple[np.ndarray, np.ndarray]
FROM_FILES = tuple(name for name in names() if name not in data.builtin.names())
DEFAULT_CLIENTS = 10


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
    data_dir: str | None = None,
    clients: int | None = None,
    partition: str | None = None,
    seed: int = 0,
    test: float = 0.0,
    standardize: bool = False,
    client_column: str | None = None,
    target_column: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Source:
    """The samples of a run, their classes numbered from 0.

    Args:
        name: of a built-in table (digits, breast_cancer); of a data set of `fedconvex.deep.datasets` (mnist, cifar10,
            shakespeare, …); or a CSV, Parquet, NPZ or LIBSVM file.
        folder: from which paths are seen.
        data_dir, options: of data sets: where their files are, and further arguments of their loaders.
        clients, partition, seed: how samples are dealt, see `fedconvex.data.partition`; data that know their clients
            keep them where neither clients nor partition are given.
        test: the part of every client's samples that is held out; 0: none. Data sets that have test files take those.
        standardize: bring every feature of a table, every channel of images, to mean 0 and variance 1 over the training
            samples; what is held out is shifted and scaled as they are.
        client_column, target_column: of tables, see `fedconvex.data.load`.
    """
    if not isinstance(standardize, bool):
        raise InvalidInput("standardize", standardize, "is neither true nor false", "write one of them, without quotes")
    if not 0 <= to_fraction(test, "test") < 1:
        raise InvalidInput("test", test, "must leave every client samples of both kinds", "give 0 <= test < 1")
    if name not in FROM_FILES:
        for key, value in (("data_dir", data_dir), ("options", options)):
            if value is not None:
                raise InvalidInput(key, value, f"{name} is a table, not one of {', '.join(FROM_FILES)}", "leave it out")
        return _table(name, folder, clients, partition, seed, test, standardize, client_column, target_column)
    if client_column is not None or target_column is not None:
        raise InvalidInput("client_column", client_column, f"{name} has no columns", "leave out both columns")
    place = None if data_dir is None else folder / data_dir
    given = dict(options or {})
    if name in WITH_TEST_FILES:
        if test:
            raise InvalidInput("test", test, f"{name} has test files of its own", "leave it out")
        whole, held = (load_dataset(name, place, split, **given) for split in ("train", "test"))
        whole = _dealt(whole, clients, partition, seed)
    elif name == "shakespeare" and test:  # neighbouring windows are nearly the same: held-out parts must not overlap
        both = (load_dataset(name, place, part, **(given | {"test_fraction": test})) for part in ("train", "test"))
        whole, held = both
        whole = _dealt(whole, clients, partition, seed)
    else:
        whole, held = _dealt(load_dataset(name, place, **given), clients, partition, seed), None
        if test:
            whole, held = whole.hold_out(test, seed)
    mean, std = _moments(whole) if standardize else (None, None)
    pairs = _numbers(whole, mean, std).client_data()
    if held is None:
        return Source(pairs, None, whole.num_classes)
    shown = _numbers(held, mean, std)
    return Source(pairs, (shown.inputs.copy(), shown.labels.copy()), whole.num_classes)


def _dealt(whole: Dataset, clients: int | None, partition: str | None, seed: int) -> Dataset:
    if whole.clients is not None and clients is None and partition is None:
        return whole
    return whole.deal(clients if clients is not None else DEFAULT_CLIENTS, partition or "iid", seed)


def _numbers(found: Dataset, mean: list[float] | None, std: list[float] | None) -> Dataset:
    """Tokens as they are; images and features as floats."""
    return found if found.inputs.dtype == np.int64 else found.scaled(mean, std)


def _moments(found: Dataset) -> tuple[list[float], list[float]]:
    """Of every channel, over all samples and places; a constant channel is only shifted."""
    values = _numbers(found, None, None).inputs
    axes = tuple(i for i in range(values.ndim) if i != 1)
    deviation = values.std(axes, dtype=np.float64)
    return values.mean(axes, dtype=np.float64).tolist(), np.where(deviation > 0, deviation, 1.0).tolist()


def _table(
    name: str,
    folder: Path,
    clients: int | None,
    partition: str | None,
    seed: int,
    test: float,
    standardize: bool,
    client_column: str | None,
    target_column: str | None,
) -> Source:
    place = name if name in data.builtin.names() else str(folder / name)
    whole = data.load(
        place, clients=clients, partition=partition, client_column=client_column, target_column=target_column,
        standardize=standardize and not test, seed=seed,
    )  # fmt: skip
    if whole.task == "regression":
        raise InvalidInput("name", name, "has targets that are no classes", "give data of a classification")
    if not test:
        return Source(_pairs(whole), None, int(whole.classes.size))
    kept, held = data.train_test_split(whole, test, seed)
    if standardize:
        training = np.concatenate(kept.features)
        kept, held = (
            replace(part, features=tuple(standardized(X, training) for X in part.features)) for part in (kept, held)
        )
    X, y = zip(*_pairs(held), strict=True)
    return Source(_pairs(kept), (np.concatenate(X), np.concatenate(y)), int(whole.classes.size))


def _pairs(federated: FederatedData) -> list[Pair]:
    classes = federated.classes
    numbers = [np.searchsorted(classes, targets) for targets in federated.targets]
    return list(zip(federated.features, numbers, strict=True))
