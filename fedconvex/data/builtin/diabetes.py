"""Diabetes: 442 patients, 10 features, the progression of the disease after a year. A regression."""

from typing import TYPE_CHECKING, Any

from fedconvex.data.builtin import as_problem, from_scikit_learn
from fedconvex.data.table import Table

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem


def table() -> Table:
    """442 rows of 10 features, each of mean 0 and variance 1; the target is the disease's progression."""
    return from_scikit_learn("diabetes")


def diabetes(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Least squares on the diabetes data: 442 patients, 10 features of mean 0 and variance 1, disease progression.

    Use it for a first look: it loads in a moment, and its exact minimiser and fixed points take no iteration.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    Source: Efron, Hastie, Johnstone and Tibshirani, "Least angle regression" (2004).
    """
    return as_problem("diabetes", clients, partition, seed, options)
