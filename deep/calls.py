"""Calls on memory that is known before: what a step consists of, which is laid out once and repeated."""

from collections.abc import Callable
from functools import cache
from types import ModuleType

from torch import Tensor

Call = Callable[[], object]


def machine_code_for(values: Tensor) -> ModuleType | None:
    """`fedconvex.deep.compiled`, if it can work on these values; None on a GPU, and where there is no numba."""
    return _compiled() if values.device.type == "cpu" and values.is_contiguous() else None


@cache
def _compiled() -> ModuleType | None:
    try:
        from fedconvex.deep import compiled
    except ImportError:
        return None
    return compiled
