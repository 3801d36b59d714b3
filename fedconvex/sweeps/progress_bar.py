"""A progress bar for runs that several processes finish in any order.

`fedconvex.progress.track` shows progress through a sequence of known length in this process. This module counts results
as they arrive from elsewhere, starts at the number that an earlier call finished, and estimates the time left.
"""

import sys
import time
from collections.abc import Generator, Iterable
from typing import TypeVar

from fedconvex.progress import SECONDS_BEFORE_SHOWN

T = TypeVar("T")
SECONDS_OF_SPEED = 600.0  # the estimate of the time left uses the runs that finished within this time


def with_progress_bar(results: Iterable[T], description: str, done: int, total: int, show: bool = True) -> Generator[T]:
    """Yields the results as they arrive and counts them in a bar on standard error.

    The bar appears only on a terminal and only after a second. It shows the number of finished runs (`done` of `total`
    at the start), the elapsed time and an estimate of the time left.
    """
    if not show or not sys.stderr.isatty():
        yield from results
        return
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
