"""Wisconsin breast cancer: 569 tumours, 30 features, benign or malignant. A classification with two classes."""

from typing import TYPE_CHECKING, Any

from fedconvex.data.builtin import as_problem, from_scikit_learn
from fedconvex.data.table import Table

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem


def table() -> Table:
    """569 rows of 30 features, each of mean 0 and variance 1; the target is 1 for benign, 0 for malignant."""
    return from_scikit_learn("breast_cancer")


def breast_cancer(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Logistic regression on the Wisconsin breast cancer data: 569 tumours, 30 features of mean 0 and variance 1.

    Use it for a small convex problem that is not quadratic. The label is +1 for benign, −1 for malignant.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    Source: Street, Wolberg and Mangasarian (1993), UCI repository.
    """
    return as_problem("breast_cancer", clients, partition, seed, options)
