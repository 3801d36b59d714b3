"""Linear algebra on batches of matrices in pieces: Python handles Ctrl-C between its calls, never inside one."""

from collections.abc import Callable
from typing import Any

import numpy as np

LONG = 10**9  # m · d³ from which a call on a batch is split: about a tenth of a second


def one_by_one(compute: Callable[[np.ndarray], Any], batch: np.ndarray) -> Any:
    """compute(batch) for a NumPy function of (m, d, d) matrices, called for each of them where that takes long."""
    if len(batch) < 2 or batch.size * batch.shape[-1] < LONG:
        return compute(batch)
    parts = [compute(matrix) for matrix in batch]
    return tuple(map(np.stack, zip(*parts, strict=True))) if isinstance(parts[0], tuple) else np.stack(parts)
