"""The data sets that come with an installed library, so that examples need no network: a module for each.

A new data set is a new module here, named as the data set, with two functions:

* `table()`: the samples, as `fedconvex.data.load(name)` and the command line take them;
* one of the module's own name: the same samples divided among clients, as a problem. It is also in `fedconvex.data`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.data import scikit_learn_files
from fedconvex.data.federated import divide_among_clients
from fedconvex.data.table import Table, standardized
from fedconvex.data.targets import as_targets
from fedconvex.discovery import module_names

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem

_NAMES = tuple(module_names(__name__))


def names() -> tuple[str, ...]:
    """The names of the data sets, sorted: those of this package's modules."""
    return _NAMES


def table(name: str) -> Table:
    """The samples of one of the data sets in `names()`, scaled as its own module states."""
    found: Table = import_module(f"{__name__}.{name}").table()
    return found


def from_scikit_learn(name: str, scaled: Callable[[np.ndarray], np.ndarray] = standardized) -> Table:
    """The data set that `sklearn.datasets.load_{name}` returns; by default each feature gets mean 0 and variance 1."""
    samples = scikit_learn_files.read(name) or _loaded(name)
    return Table(scaled(samples.features), samples.names, as_targets(samples.targets), None)


def _loaded(name: str) -> scikit_learn_files.BundledSamples:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    features = np.asarray(bunch.data, dtype=np.float64)
    return scikit_learn_files.BundledSamples(features, tuple(map(str, bunch.feature_names)), bunch.target)


def as_problem(name: str, clients: int, partition: str, seed: int, options: dict[str, Any]) -> "Problem":
    """The data set's samples divided among clients, as the problem that fits its targets.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    """
    return divide_among_clients(table(name), clients, partition, seed, name).problem(**options)
