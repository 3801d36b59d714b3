"""`TableSource`: how messages name a table, its rows, and the options of the call that reads it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np

from fedconvex.data.findings import CommandStyle


@final
@dataclass(frozen=True, eq=False)
class TableSource:
    """A file or a frame, as the argument and the value that an error names; `numbers` (n,) count or name its rows."""

    argument: str
    value: Any
    row: str  # what the numbers count: line or row
    numbers: np.ndarray
    style: CommandStyle
    client: str = "client_column"  # the option that names the client column …
    target: str = "target_column"  # … and the one that names the target

    @classmethod
    def file(cls, path: str | os.PathLike[str], row: str, numbers: np.ndarray) -> Self:
        """A file whose rows have these numbers."""
        return cls("path", Path(path), row, numbers, "command line")

    def place(self, index: int, column: str) -> str:
        """Where a value stands: line 7, column 'age'."""
        return f"{self.row} {self.numbers[index]}, column {column!r}".lstrip()
