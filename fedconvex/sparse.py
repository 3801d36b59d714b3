"""Arrays that are mostly zeros: SciPy CSR arrays wherever the dense array would take far more memory."""

from typing import Any

import numpy as np

from fedconvex.memory import NUMBER, require

Features = Any  # (n, p): a NumPy array or a CSR array of SciPy, float64
SMALL = 2**24  # bytes: dense arrays up to this size are not worth a second form
GAIN = 10  # features stay sparse where the dense array takes at least this many times the memory
ENTRY = 12  # bytes of an entry of a CSR array: the value and its column


def is_sparse(values: Any) -> bool:
    """Whether the values are a sparse array or matrix of SciPy."""
    return hasattr(values, "toarray")


def stays_sparse(rows: int, columns: int, entries: int) -> bool:
    """Whether an array with so many entries that are not 0 is kept in CSR form."""
    size = rows * columns * NUMBER
    return size > SMALL and size > GAIN * ENTRY * (entries + rows)


def dense(values: Any, argument: str, copies: int = 1) -> np.ndarray:
    """The values as a NumPy array; raises TooLarge where `copies` of a sparse array's dense form do not fit."""
    if not is_sparse(values):
        return np.asarray(values)
    rows, columns = values.shape
    cure = "use fewer rows or fewer features"
    require(
        copies * rows * columns * NUMBER, argument, f"a sparse array of shape {(rows, columns)}", "densely, it", cure
    )
    return np.asarray(values.toarray())


def read_only_csr(values: Any) -> Features:
    """A CSR array of float64 that shares the values' entries, which cannot be written to through it."""
    from scipy.sparse import csr_array

    kept = csr_array(values)
    entries = kept.data.astype(np.float64, copy=False).view()
    entries.flags.writeable = False
    return csr_array((entries, kept.indices, kept.indptr), shape=kept.shape)


def with_ones(features: Features) -> Features:
    """The features with a column of ones appended, in the same form."""
    if not is_sparse(features):
        return np.hstack([features, np.ones((features.shape[0], 1), features.dtype)])
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([features, csr_array(np.ones((features.shape[0], 1)))], format="csr"))


def occupied(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns in which some entry is stored, and these columns as a NumPy array; the others are 0."""
    if not is_sparse(values):
        return np.arange(values.shape[1]), values
    columns = np.unique(values.indices) if values.nnz else np.zeros(1, np.int64)  # an array needs a column
    return columns, dense(values[:, columns], "A")
