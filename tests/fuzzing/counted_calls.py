"""Work counted in calls, which are as many on every machine: what must end soon makes at most so many."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def at_most_calls(number: int) -> Iterator[None]:
    """Requires that what happens inside calls at most so many functions of this thread, built-in ones included."""
    calls, before = 0, sys.getprofile()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert calls <= number, f"{calls:,} calls, at most {number:,} expected"
