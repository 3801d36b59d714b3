"""The progress of runs that finish in any order."""

import sys
import time
from collections.abc import Generator, Iterable
from typing import TypeVar

from fedconvex.progress import SECONDS_BEFORE_SHOWN

T = TypeVar("T")
SECONDS_OF_SPEED = 600.0  # the time left is judged by the runs that finished in so long


def counted(results: Iterable[T], description: str, done: int, total: int, show: bool = True) -> Generator[T]:
    """The results as they come, with a bar that counts them on standard error if that is a terminal, after a second.

    It shows the number of runs, the time gone and an estimate of the time left; `done` of `total` were there before.
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
