"""Validation of the clients' designs (feature matrices) and targets, which problems with data have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.validation import client_list, numbers, stacked_numbers


def design_and_targets(A: Any, b: Any, targets: str) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The clients' (n_k, d) designs and (n_k,) targets as arrays whose shapes fit; `targets` names b in errors.

    Raises InvalidInput for ragged shapes, NaN or infinite entries and clients without samples.
    """
    # Very many clients of one size: validating one array takes seconds less than a million small ones.
    if is_stack(A, 3) and is_stack(b, 2) and A.shape[:2] == b.shape and A.size:
        return stacked_numbers(A, "A"), stacked_numbers(b, targets)  # type: ignore[return-value] # indexed alike
    designs = tuple(numbers(A_k, f"A[{k}]", 2) for k, A_k in enumerate(client_list(A, "A")))
    vectors = tuple(numbers(b_k, f"{targets}[{k}]", 1) for k, b_k in enumerate(client_list(b, targets)))
    require_same_number("A", designs, targets, vectors)
    dim = designs[0].shape[1]  # the first client defines d; errors name the first one that differs
    for k, (A_k, b_k) in enumerate(zip(designs, vectors, strict=True)):
        if len(A_k) == 0:
            raise InvalidInput(f"A[{k}]", f"an array of shape {A_k.shape}", "has no samples", "drop the empty client")
        if A_k.shape[1] != dim or dim == 0:
            raise InvalidInput(
                f"A[{k}]",
                f"an array of shape {A_k.shape}",
                f"must have the {dim} columns of A[0]",
                "give equal columns",
            )
        if len(b_k) != len(A_k):
            raise InvalidInput(
                f"{targets}[{k}]",
                f"an array of length {len(b_k)}",
                f"A[{k}] has {len(A_k)} rows",
                "give one entry a row",
            )
    return designs, vectors


def is_stack(values: Any, ndim: int) -> bool:
    """Whether the numbers of all clients are one float64 array of `ndim` axes, which can be kept without a copy."""
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == ndim


def require_same_number(first: str, a: Sequence[Any], second: str, b: Sequence[Any]) -> None:
    """Raises InvalidInput unless both lists have the same length, one entry per client."""
    if len(a) != len(b):
        raise InvalidInput(
            second, f"{len(b)} entries", f"{first} has {len(a)} clients", f"give one {second} per client"
        )
