"""A value that is computed on first use."""

from collections.abc import Callable
from typing import Generic, TypeVar, final

T = TypeVar("T")


@final
class Once(Generic[T]):
    """A function without arguments that calls `compute` once and returns the same value ever after.

    Use it in loops over rounds, where creating a `functools.cache` would cost as much as a small round.
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute
        self._value: T

    def __call__(self) -> T:
        if self._compute is not None:
            self._value, self._compute = self._compute(), None  # lets go of what the closure holds, too
        return self._value
