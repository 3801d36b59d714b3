"""The data sets that scikit-learn carries with it, so that examples need no network."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.data.federated import deal
from fedconvex.data.table import Table, standardized
from fedconvex.data.targets import as_targets

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem


def names() -> tuple[str, ...]:
    """The built-in data sets."""
    return ("breast_cancer", "diabetes", "digits")


def table(name: str) -> Table:
    """One of the data sets in `names()`, its features scaled as its own function below says."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    raw = np.asarray(bunch.data, dtype=np.float64)
    features = raw / 16 if name == "digits" else standardized(raw)
    return Table(features, tuple(map(str, bunch.feature_names)), as_targets(bunch.target), None)


def diabetes(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Least squares on the diabetes data: 442 patients, 10 features of mean 0 and variance 1, disease progression.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    Source: Efron, Hastie, Johnstone and Tibshirani, "Least angle regression" (2004).
    """
    return _problem("diabetes", clients, partition, seed, options)


def breast_cancer(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Logistic regression on the Wisconsin breast cancer data: 569 tumours, 30 features of mean 0 and variance 1.

    The label is +1 for benign, −1 for malignant. clients, partition, seed: see `fedconvex.data.partition`; options: see
    `FederatedData.problem`. Raises InvalidInput. Source: Street, Wolberg and Mangasarian (1993), UCI repository.
    """
    return _problem("breast_cancer", clients, partition, seed, options)


def digits(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Multinomial logistic regression on 1,797 handwritten digits, 8 × 8 pixels, each divided by its maximum 16.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    Source: Alpaydin and Kaynak, optical recognition of handwritten digits, test set (1998), UCI repository.
    """
    return _problem("digits", clients, partition, seed, options)


def _problem(name: str, clients: int, partition: str, seed: int, options: dict[str, Any]) -> "Problem":
    return deal(table(name), clients, partition, seed, name).problem(**options)
