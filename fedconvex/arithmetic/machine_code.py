"""Compilation of numerical loops by numba."""

from collections.abc import Callable
from typing import Any

from numba import njit

# sums may be reordered (for vector instructions) and x·y + z rounded once; unlike fastmath=True, this set does not let
# the compiler assume that no number is infinite or NaN
REORDERED = {"contract", "reassoc"}


def compiled(function: Callable[..., None]) -> Any:
    """The function, compiled at its first call; the machine code is cached for later processes where possible."""
    try:
        return njit(function, cache=True, fastmath=REORDERED, error_model="numpy")
    except RuntimeError:  # numba finds no folder that it may write its cache to
        return njit(function, fastmath=REORDERED, error_model="numpy")
