"""Deferred calls on preallocated tensors: an SGD step is planned once as a list of calls, and the list is repeated.

Each call reads and writes the same memory every time, so that a step allocates nothing; new samples are copied into it.
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType

from torch import Tensor

Call = Callable[[], object]


def machine_code_for(values: Tensor) -> ModuleType | None:
    """The module `fedconvex.deep.compiled`; None for tensors on a GPU or not contiguous, and without numba."""
    return _compiled() if values.device.type == "cpu" and values.is_contiguous() else None


@cache
def _compiled() -> ModuleType | None:
    try:
        from fedconvex.deep import compiled
    except ImportError:
        return None
    return compiled
