"""Progress bars for long work on a terminal; elsewhere nothing, since commands print plain lines there."""

import sys
import time
from collections.abc import Generator, Iterable, Sized
from typing import TypeVar

T = TypeVar("T")
SECONDS_BEFORE_SHOWN = 1.0
SECONDS_OF_SPEED = 600.0  # the estimate of the time left uses the items that were finished within this time


def track(items: Iterable[T], description: str, show: bool = True) -> Generator[T]:
    """Yields the items; shows a progress bar if standard error is a terminal and they take more than a second."""
    if show and sys.stderr.isatty():
        items = items if isinstance(items, Sized) else list(items)
        return with_progress_bar(items, description, -1, len(items))  # the one that is worked on is not done
    return (item for item in items)


def with_progress_bar(results: Iterable[T], description: str, done: int, total: int, show: bool = True) -> Generator[T]:
    """Yields the results as they arrive, from several processes in any order, and counts them on standard error.

    The bar appears only on a terminal and only after a second. It shows the number of finished ones (`done` of `total`
    at the start), the elapsed time and an estimate of the time left.
    """
    if not show or not sys.stderr.isatty():
        yield from results
        return
    # rich is slow to import: only where a bar may be shown
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    bar = Progress(
        TextColumn("{task.description}"),
        *columns,
        console=Console(stderr=True),
        transient=True,
        speed_estimate_period=SECONDS_OF_SPEED,
    )
    task = bar.add_task(description, total=total, completed=done)
    begun = time.monotonic()
    try:
        for result in results:
            bar.advance(task)
            if not bar.live.is_started and time.monotonic() - begun > SECONDS_BEFORE_SHOWN:
                bar.start()
            yield result
    finally:
        if bar.live.is_started:
            bar.stop()
