"""The console on which commands print tables."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 132  # of files and pipes, where rich would assume 80 columns and cut tables off


def console() -> "Console":
    """A console on standard output: as wide as the terminal, or `WIDTH` columns if it is none."""
    from rich.console import Console

    # no highlighting: rich would colour the numbers within names
    return Console(highlight=False) if sys.stdout.isatty() else Console(width=WIDTH, highlight=False)
