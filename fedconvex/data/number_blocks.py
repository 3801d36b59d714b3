"""Reads files of numbers in blocks of lines, by NumPy's parser, which rounds every cell as Python's `float` does.

Nothing is refused here. A file with anything unusual in it (quotes, blank lines, missing values, lines of another
length) is left to `delimited`, which reads it line by line and says what is wrong, and where.
"""

import io
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedconvex.data.file_contents import open_bytes
from fedconvex.data.table import MAX_BYTES, ColumnRoles, check_size
from fedconvex.data.targets import EXACT_INTEGERS
from fedconvex.errors import InvalidInput

BLOCK = 2**22  # bytes
LONGEST = 2**20  # bytes of a line
WIDEST = 200  # characters of a line with text: each text takes as many
COLUMNS = 1000  # of tables with text


class NumberColumns(NamedTuple):
    """Features (n, p), the targets as numbers (n,) or as texts, and the clients' names, without surrounding blanks."""

    features: np.ndarray
    targets: np.ndarray | list[str]
    clients: list[str]


def number_columns(path: Path, separator: str, columns: int, chosen: ColumnRoles) -> NumberColumns | None:
    """The columns of a file whose first line is its header; None for any file that is not plainly of numbers."""
    if not path.is_file():  # a pipe could not be read a second time
        return None
    try:
        with open_bytes(path) as stream:
            if not stream.readline(LONGEST).endswith(b"\n"):
                return None
            parts: list[NumberColumns] = []
            as_text: frozenset[int] | None = None
            size = rows = 0
            while block := stream.read(BLOCK):
                rest = stream.readline(LONGEST)
                block += rest
                size += len(block)
                lines = _lines(block)
                if len(rest) == LONGEST or size > MAX_BYTES or lines is None:  # a line is never cut in two
                    return None
                if as_text is None:
                    as_text = _texts(lines, separator, chosen)
                part = _parsed(lines, separator, columns, chosen, as_text)
                if part is None:
                    return None
                parts.append(part)
                rows += len(part.features)
                check_size(path, rows, len(chosen.features))
    except (OSError, EOFError, zlib.error, InvalidInput):  # damaged, or too large
        return None
    if not parts:
        return None
    targets = [part.targets for part in parts]
    return NumberColumns(
        np.concatenate([part.features for part in parts]),
        np.concatenate(targets) if isinstance(targets[0], np.ndarray) else [t for part in targets for t in part],
        [name for part in parts for name in part.clients],
    )


def _lines(block: bytes) -> str | None:
    """The lines of a block, if nothing is to be decided about where they end."""
    block = block.replace(b"\r\n", b"\n") if b"\r" in block else block
    unusual = any(sign in block for sign in (b'"', b"\r", b"\0", b"\n\n")) or block.startswith(b"\n")
    try:
        return None if unusual else block.decode()
    except UnicodeDecodeError:
        return None


def _texts(lines: str, separator: str, chosen: ColumnRoles) -> frozenset[int]:
    """The columns that are kept as text: the clients' names, and targets if the first one is no number."""
    cells = lines.partition("\n")[0].split(separator)
    try:
        float(cells[chosen.target])
        target: set[int] = set()
    except (ValueError, IndexError):
        target = {chosen.target}
    return frozenset(target | ({chosen.client} if chosen.client is not None else set()))


def _parsed(
    lines: str, separator: str, columns: int, chosen: ColumnRoles, as_text: frozenset[int]
) -> NumberColumns | None:
    count = lines.count("\n") + (not lines.endswith("\n"))
    dtype: Any = np.float64
    if as_text:
        ends = [-1, *(i for i, sign in enumerate(lines) if sign == "\n"), len(lines)]
        width = max(end - begin for begin, end in pairwise(ends))
        if width > WIDEST or columns > COLUMNS:
            return None
        dtype = [(f"f{j}", f"U{width}" if j in as_text else np.float64) for j in range(columns)]
    try:
        # comments=None: a # is a character like any other
        table = np.loadtxt(io.StringIO(lines), dtype, comments=None, delimiter=separator, ndmin=1 if as_text else 2)
    except ValueError:
        return None
    if len(table) != count or (not as_text and table.shape[1] != columns):
        return None
    column: list[np.ndarray] = [table[f"f{j}"] for j in range(columns)] if as_text else list(table.T)
    features = np.column_stack([column[j] for j in chosen.features]) if as_text else table[:, list(chosen.features)]
    texts = {j: [text.strip() for text in column[j].tolist()] for j in as_text}
    numbers = np.zeros(1) if chosen.target in as_text else column[chosen.target]
    # numbers beyond 2^53 may be written as whole ones, which are refused
    plain = np.isfinite(features).all() and (abs(numbers) < EXACT_INTEGERS).all()
    targets = texts.get(chosen.target, numbers)
    clients = [] if chosen.client is None else texts[chosen.client]
    return NumberColumns(features, targets, clients) if plain else None
