"""Functions compiled by numba."""

from collections.abc import Callable
from typing import Any

from numba import njit

REORDERED = {"contract", "reassoc"}  # sums may be reordered, x·y + z rounded once; numbers may be infinite or NaN


def kept(function: Callable[..., None]) -> Any:
    """Compiled at the first call; the machine code is kept for later processes where there is a folder for it."""
    try:
        return njit(function, cache=True, fastmath=REORDERED, error_model="numpy")
    except RuntimeError:
        return njit(function, fastmath=REORDERED, error_model="numpy")
