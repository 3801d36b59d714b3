"""Validation of the clients' designs (feature matrices) and targets, which problems with data have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.errors import InvalidInput
from fedconvex.sparse import is_sparse, occupied, read_only_csr, stays_sparse
from fedconvex.validation import client_list, numbers, stacked_numbers

COPIES = 4  # of the clients' points (m, d) at least, which every run and every solver holds


def design_and_targets(A: Any, b: Any, targets: str) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The clients' (n_k, d) designs and (n_k,) targets as arrays whose shapes fit; `targets` names b in errors.

    Raises InvalidInput for ragged shapes, NaN or infinite entries and clients without samples.
    """
    # Very many clients of one size: validating one array takes seconds less than a million small ones.
    if is_stack(A, 3) and is_stack(b, 2) and A.shape[:2] == b.shape and A.size:
        return stacked_numbers(A, "A"), stacked_numbers(b, targets)  # type: ignore[return-value] # indexed alike
    designs = design_arrays(A)
    vectors = tuple(numbers(b_k, f"{targets}[{k}]", 1) for k, b_k in enumerate(client_list(b, targets)))
    require_same_number("A", designs, targets, vectors)
    dim = designs[0].shape[1]  # the first client defines d; errors name the first one that differs
    for k, (A_k, b_k) in enumerate(zip(designs, vectors, strict=True)):
        if A_k.shape[0] == 0:
            raise InvalidInput(f"A[{k}]", f"an array of shape {A_k.shape}", "has no samples", "drop the empty client")
        if A_k.shape[1] != dim or dim == 0:
            raise InvalidInput(
                f"A[{k}]",
                f"an array of shape {A_k.shape}",
                f"must have the {dim} columns of A[0]",
                "give equal columns",
            )
        if len(b_k) != A_k.shape[0]:
            raise InvalidInput(
                f"{targets}[{k}]",
                f"an array of length {len(b_k)}",
                f"A[{k}] has {A_k.shape[0]} rows",
                "give one entry a row",
            )
    return designs, vectors


def design_arrays(A: Any) -> tuple[Any, ...]:
    """The clients' designs as checked arrays: CSR where all are sparse and their dense form takes far more memory."""
    given = client_list(A, "A")
    if all(map(is_sparse, given)):
        rows, entries = sum(A_k.shape[0] for A_k in given), sum(A_k.nnz for A_k in given)
        if stays_sparse(rows, given[0].shape[1], entries):
            needed = COPIES * len(given) * given[0].shape[1] * memory.NUMBER
            size = f"sparse, of {given[0].shape[1]} features"
            memory.require(needed, "A", size, f"points of the {len(given)} clients", "use fewer features or clients")
            return tuple(_sparse(A_k, f"A[{k}]") for k, A_k in enumerate(given))
    return tuple(numbers(A_k, f"A[{k}]", 2) for k, A_k in enumerate(given))


def smaller_gram(A: Any, arithmetic: Arithmetic) -> Matrix:
    """AᵀA, or AAᵀ where that is smaller: both have the same largest eigenvalue."""
    design = arithmetic.matrix(occupied(A)[1])
    transposed = arithmetic.transpose(design)
    wide = arithmetic.size(design) < arithmetic.size(transposed)
    return arithmetic.product(design, transposed) if wide else arithmetic.product(transposed, design)


def _sparse(values: Any, argument: str) -> Any:
    if values.dtype.kind not in "biuf":
        raise InvalidInput(argument, values, f"is of type {values.dtype}, not real numbers", "give numbers")
    kept = read_only_csr(values)
    stacked_numbers(kept.data, f"the stored entries of {argument}, at ")
    return kept


def is_stack(values: Any, ndim: int) -> bool:
    """Whether the numbers of all clients are one float64 array of `ndim` axes, which can be kept without a copy."""
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == ndim


def require_same_number(first: str, a: Sequence[Any], second: str, b: Sequence[Any]) -> None:
    """Raises InvalidInput unless both lists have the same length, one entry per client."""
    if len(a) != len(b):
        raise InvalidInput(
            second, f"{len(b)} entries", f"{first} has {len(a)} clients", f"give one {second} per client"
        )
