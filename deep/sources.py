"""Samples of a run that a TOML file describes: a data set or a table, partitioned among clients, with a test set."""

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
from fedconvex.sparse import dense

Pair = tuple[np.ndarray, np.ndarray]
# A name that is both, such as digits, is read as a table.
FROM_FILES = tuple(name for name in names() if name not in data.builtin.names())
DEFAULT_CLIENTS = 10


@final
@dataclass(frozen=True, eq=False)
class Source:
    """One pair (inputs, targets) per client, and a pair for testing, or None."""

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
    """Load the samples of a run, with classes numbered from 0. Its arguments are the keys of a TOML file's [data].

    Args:
        name: a built-in table (digits, breast_cancer); a data set of `fedconvex.deep.datasets` (mnist, cifar10,
            shakespeare, …); or a CSV, Parquet, NPZ or LIBSVM file.
        folder: the folder that paths are relative to.
        data_dir, options: for data sets: the folder or file to read, and further arguments of the loader.
        clients, partition, seed: number of clients, scheme and seed of `fedconvex.data.partition`. Data with natural
            clients keep them if neither clients nor partition is given.
        test: fraction of every client's samples to hold out; 0: none. Data sets with test files use those instead.
        standardize: shift and scale every feature of a table, every channel of images, to mean 0 and variance 1 over
            the training samples; the test samples are shifted and scaled by the same numbers.
        client_column, target_column: of tables, see `fedconvex.data.load`.

    Raises InvalidInput, which names the argument.
    """
    if not isinstance(standardize, bool):
        raise InvalidInput("standardize", standardize, "is neither true nor false", "write one of them, without quotes")
    if not 0 <= to_fraction(test, "test") < 1:
        raise InvalidInput(
            "test", test, "must leave every client samples for training and for testing", "give 0 <= test < 1"
        )
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
        whole = _partitioned(whole, clients, partition, seed)
    elif name == "shakespeare" and test:  # windows overlap: held out at random, test samples would be in training ones
        both = (load_dataset(name, place, part, **(given | {"test_fraction": test})) for part in ("train", "test"))
        whole, held = both
        whole = _partitioned(whole, clients, partition, seed)
    else:
        whole, held = _partitioned(load_dataset(name, place, **given), clients, partition, seed), None
        if test:
            whole, held = whole.hold_out(test, seed)
    # From the training samples alone: moments of the test set would leak into training.
    mean, std = _moments(whole) if standardize else (None, None)
    pairs = _as_floats(whole, mean, std).client_data()
    if held is None:
        return Source(pairs, None, whole.num_classes)
    shown = _as_floats(held, mean, std)
    return Source(pairs, (shown.inputs.copy(), shown.labels.copy()), whole.num_classes)


def _partitioned(whole: Dataset, clients: int | None, partition: str | None, seed: int) -> Dataset:
    if whole.clients is not None and clients is None and partition is None:
        return whole
    return whole.deal(clients if clients is not None else DEFAULT_CLIENTS, partition or "iid", seed)


def _as_floats(found: Dataset, mean: list[float] | None, std: list[float] | None) -> Dataset:
    """The data set with images and features as floats, shifted and scaled; token numbers are left unchanged."""
    return found if found.inputs.dtype == np.int64 else found.scaled(mean, std)


def _moments(found: Dataset) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of every channel over all samples and positions; 1 for a constant channel."""
    values = _as_floats(found, None, None).inputs
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
    # With a test set, standardising waits for the split: the moments are those of the training samples.
    whole = data.load(
        place, clients=clients, partition=partition, client_column=client_column, target_column=target_column,
        standardize=standardize and not test, seed=seed,
    )  # fmt: skip
    if whole.task == "regression":
        raise InvalidInput("name", name, "has targets that are not classes", "give a classification data set")
    if not test:
        return Source(_pairs(whole), None, int(whole.classes.size))
    kept, held = data.train_test_split(whole, test, seed)
    if standardize:
        training = np.concatenate([dense(X, "features") for X in kept.features])
        kept, held = (
            replace(part, features=tuple(standardized(X, training) for X in part.features)) for part in (kept, held)
        )
    X, y = zip(*_pairs(held), strict=True)
    return Source(_pairs(kept), (np.concatenate(X), np.concatenate(y)), int(whole.classes.size))


def _pairs(federated: FederatedData) -> list[Pair]:
    classes = federated.classes
    numbers = [np.searchsorted(classes, targets) for targets in federated.targets]
    return list(zip([dense(X, "features") for X in federated.features], numbers, strict=True))
