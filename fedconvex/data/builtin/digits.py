"""Handwritten digits: 1,797 images of 8 × 8 pixels. A classification with ten classes."""

from typing import TYPE_CHECKING, Any

from fedconvex.data.builtin import as_problem, from_scikit_learn
from fedconvex.data.table import Table

if TYPE_CHECKING:
    from fedconvex.problems.base import Problem

LARGEST_PIXEL = 16


def table() -> Table:
    """1,797 rows of 64 pixels between 0 and 1; the target is the digit."""
    # Not standardised: some pixels at the border are 0 in every image, and all pixels have one scale already.
    return from_scikit_learn("digits", lambda pixels: pixels / LARGEST_PIXEL)


def digits(clients: int = 10, partition: str = "iid", seed: int = 0, **options: Any) -> "Problem":
    """Multinomial logistic regression on 1,797 handwritten digits, 8 × 8 pixels, each divided by its maximum 16.

    Use it for non-identical clients: with ten classes, `partition="by-label:2"` gives every client two digits.

    clients, partition, seed: see `fedconvex.data.partition`; options: see `FederatedData.problem`. Raises InvalidInput.
    Source: Alpaydin and Kaynak, optical recognition of handwritten digits, test set (1998), UCI repository.
    """
    return as_problem("digits", clients, partition, seed, options)
