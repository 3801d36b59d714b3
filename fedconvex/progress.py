"""Progress of long work: a bar on a terminal, nothing elsewhere (commands print plain lines of their own there)."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
SECONDS_BEFORE_SHOWN = 1.0


def track(items: Iterable[T], description: str, show: bool = True) -> Iterator[T]:
    """The items, with a progress bar on standard error if that is a terminal and it takes longer than a second."""
    if not show or not sys.stderr.isatty():
        yield from items
        return
    import time

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
