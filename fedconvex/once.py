"""A value that is computed when it is first asked for."""

from collections.abc import Callable
from typing import Generic, TypeVar, final

T = TypeVar("T")


@final
class Once(Generic[T]):
    """`compute()` at the first call, the same value at all others (to make a `functools.cache` costs as much as a
    small round)."""

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute: Callable[[], T] | None = compute
        self._value: T

    def __call__(self) -> T:
        if self._compute is not None:
            self._value, self._compute = self._compute(), None
        return self._value
