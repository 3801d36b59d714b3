"""What commands write on the terminal: all of it passes here, where text from files and names is made safe."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from fedconvex.safe_text import printable

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 132  # of files and pipes, where rich would assume 80 columns and cut tables off


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Write the text to standard output or standard error; control characters are shown, not obeyed."""
    typer.echo(printable(text), err=err, nl=nl)  # noqa: TID251 - the one place that may


@contextmanager
def redirected_descriptor() -> Iterator[None]:
    """Runs the block with the process's standard output on its standard error.

    `contextlib.redirect_stdout` misses what compiled code and child processes write.
    """
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # closed
        yield
        return
    try:
        with suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def console() -> "Console":
    """A console on standard output: as wide as the terminal, or `WIDTH` columns if it is none."""
    from fedconvex.commands.safe_console import SafeConsole

    return SafeConsole() if sys.stdout.isatty() else SafeConsole(width=WIDTH)


def error_console() -> "Console":
    """A console on standard error, for progress."""
    from fedconvex.commands.safe_console import SafeConsole

    return SafeConsole(stderr=True)
