"""A progress bar for long work on a terminal; elsewhere nothing, since commands print plain lines there."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
SECONDS_BEFORE_SHOWN = 1.0


def track(items: Iterable[T], description: str, show: bool = True) -> Iterator[T]:
    """Yields the items; shows a progress bar if standard error is a terminal and they take more than a second."""
    if not show or not sys.stderr.isatty():
        yield from items
        return
    import time

    # rich is slow to import: only where a bar may be shown
    from rich.console import Console
    from rich.progress import Progress

    sequence = list(items)
    begun = time.monotonic()
    bar: Progress | None = None
    try:
        for done, item in enumerate(sequence):
            if bar is None and time.monotonic() - begun > SECONDS_BEFORE_SHOWN:
                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(description, total=len(sequence), completed=done)
            if bar is not None:
                bar.update(task, completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()
