"""Reads delimited text with a header line (CSV, TSV and their relatives) into a `Table`.

A file of numbers is read by `_tidy`, fast and without keeping its text. Any other one is read once more as text, all of
it, and `preparation.prepare` makes numbers of its columns or lists what keeps it from that.
"""

import csv
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedconvex.data import table as tables
from fedconvex.data.columns import BOOLEANS, MISSING, Column, of_texts
from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.findings import Finding
from fedconvex.data.preparation import Preparation, prepare
from fedconvex.data.table import TARGET_COLUMNS, Table, bad_file, check_size, roles
from fedconvex.data.table_source import TableSource
from fedconvex.data.targets import as_targets, written_too_long
from fedconvex.data.tidy_tables import completed
from fedconvex.memory import NUMBER

CHECKED = 2**18  # bytes of features; asking the system what memory is left takes as long as reading dozens of rows
SEPARATORS = ",;\t|"
SEPARATOR_LINE = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
KNOWN = 2**16  # distinct texts that are kept as one object each; measurements have too many to gain by it
TEXT = 8  # copies of a table of floats that take as much memory as its text in Python and in pandas


class _Rows(NamedTuple):
    """The header and the rows of a file, with line numbers, and what separates its columns."""

    header: list[str] | None
    rows: Iterator[tuple[int, list[str]]]
    separator: str


class _Untidy(Exception):
    """A file holds something else than numbers, at this line."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def read_delimited(
    path: Path,
    delimiter: str,
    target_column: str | None,
    client_column: str | None,
    options: Preparation | None = None,
) -> Table:
    """Reads a CSV or TSV file. Where the header has no `delimiter`, a semicolon, tab or | is recognised.

    target_column, client_column: see `fedconvex.data.table.roles`. Raises InvalidInput with the line and the column, or
    UntidyTable with all that the user must decide.
    """
    options = Preparation() if options is None else options
    try:
        table, lines, notes = _tidy(path, delimiter, target_column, client_column)
    except _Untidy as untidy:
        if not path.is_file():  # a pipe is gone once it is read
            problem = (
                f"line {untidy.line}: holds something else than numbers, and the file cannot be read a second time"
            )
            raise bad_file(path, problem, "save it as a file, whose columns can be prepared") from None
    else:
        return completed(table, TableSource.file(path, "line", lines), options, notes)
    columns, numbers, findings, notes = _texts(path, delimiter)
    source = TableSource.file(path, "line", numbers)
    prepared = prepare(columns, source, target_column, client_column, options, findings)
    return prepared._replace(notes=notes + prepared.notes)


def _tidy(
    path: Path, delimiter: str, target_column: str | None, client_column: str | None
) -> tuple[Table, np.ndarray, tuple[str, ...]]:
    """The table of a file of numbers, its line numbers, and a note on its separator; raises _Untidy for other files."""
    header, rows, separator = _rows(path, delimiter)
    if header is None:
        raise bad_file(path, "the file is empty", "give a header line and one line per sample")
    names = [name.strip() for name in header]
    if target_column is None and not set(names) & set(TARGET_COLUMNS):
        raise _Untidy(1)
    target, client, chosen = roles(path, names, target_column, client_column)
    most, between_checks = (max(1, size // (NUMBER * len(chosen))) for size in (tables.MAX_BYTES, CHECKED))
    features, lines = array("d"), array("q")  # 8 bytes a number, where lists of Python floats take 32
    targets: list[str] = []
    clients: list[str] = []
    for number, row in rows:
        if len(row) != len(names):
            raise _Untidy(number)
        cells = [row[j] for j in chosen]
        # Fast path: convert the whole row at once. Anything unusual (text, NaN, an underscore, which float() accepts)
        # is left to `_number`, cell by cell.
        try:
            values = list(map(float, cells))
        except ValueError:
            values = []
        if not values or not math.isfinite(sum(map(abs, values))) or "_" in "".join(cells):
            values = [_number(number, cell) for cell in cells]
        features.extend(values)
        targets.append(row[target].strip())
        if client is not None:
            clients.append(row[client].strip())
        lines.append(number)
        if len(lines) > most or len(lines) % between_checks == 0:
            check_size(path, len(lines), len(chosen))
    check_size(path, len(lines), len(chosen))
    if not lines:
        raise bad_file(path, "has a header but no rows", "give one line per sample")
    for cells in (targets, clients):
        if not MISSING.isdisjoint(map(str.lower, set(cells))):
            raise _Untidy(lines[0])
    table = Table(
        np.array(features).reshape(len(lines), len(chosen)),
        tuple(names[j] for j in chosen),
        _targets(targets, lines[0]),
        tuple(clients) if client is not None else None,
        names[target],
        "client" if client is None else names[client],
    )
    return table, np.array(lines), _note(separator, delimiter)


def _texts(path: Path, delimiter: str) -> tuple[list[Column], np.ndarray, list[Finding], tuple[str, ...]]:
    """All columns as text, the line numbers, findings for lines of another length, and a note on the separator."""
    header, rows, separator = _rows(path, delimiter)
    names = [name.strip() for name in header or []]
    cells: list[list[str]] = [[] for _ in names]
    lines, ragged = array("q"), array("q")
    lengths: list[int] = []
    known: dict[str, str] = {}  # one object for each distinct text: columns of few texts are most of these files
    between_checks = max(1, CHECKED // (NUMBER * max(1, len(names))))
    for number, row in rows:
        if len(row) != len(names):
            ragged.append(number)
            lengths.append(len(row))
            continue
        once = known.setdefault if len(known) < KNOWN else known.get
        for column, cell in zip(cells, row, strict=True):
            column.append(once(cell, cell))
        lines.append(number)
        if len(lines) % between_checks == 0:
            check_size(path, len(lines), len(names), TEXT)
    findings = []
    if ragged:
        more = f", and {len(ragged) - 1} more lines have another number, too" if len(ragged) > 1 else ""
        problem = f"line {ragged[0]}: has {lengths[0]} fields, the header has {len(names)}{more}"
        cure = "repair the line (the last line of a truncated file looks like this)"
        findings.append(Finding(problem, {}, cure))
        if not lines:
            raise bad_file(path, problem, cure)
    if not lines:
        raise bad_file(path, "has a header but no rows", "give one line per sample")
    if len(set(names)) < len(names):
        roles(path, names, None, None)  # raises
    columns = [of_texts(name, column) for name, column in zip(names, cells, strict=True)]
    return columns, np.array(lines), findings, _note(separator, delimiter)


def _note(separator: str, delimiter: str) -> tuple[str, ...]:
    return () if separator == delimiter else (f"columns are separated by {separator!r}",)


def _rows(path: Path, delimiter: str) -> _Rows:
    """The header and the rows that are not blank, each with its line number (of its last line, if it has several)."""
    text = _text(path)
    first = list(islice(text, 3))
    named = SEPARATOR_LINE.fullmatch(first[0].strip()) if first else None  # Excel's
    above = 0 if named is None else 1
    separator = _separator(first[:2], delimiter) if named is None else named[1]
    reader = csv.reader(chain(first[above:], text), delimiter=separator, strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                cure = "repair the quotes and line ends there"
                raise bad_file(path, f"line {reader.line_num + above}: is not valid CSV ({error})", cure) from error
            if row is None:
                return
            if row:
                yield reader.line_num + above, row

    every = rows()
    return _Rows(next(every, (0, None))[1], every, separator)


def _separator(first: Sequence[str], delimiter: str) -> str:
    """What separates the first two lines into equally many columns, and the most; the delimiter, if nothing does."""
    columns: dict[str, int] = {}
    for mark in delimiter + SEPARATORS.replace(delimiter, ""):
        try:
            counts = {len(row) for row in csv.reader(first, delimiter=mark)}
        except csv.Error:  # reading the file has a better message
            return delimiter
        columns[mark] = counts.pop() if len(counts) == 1 else 0
    best = max(columns, key=lambda mark: columns[mark])  # of equals the first, which is the delimiter
    return best if columns[best] > 1 else delimiter


def _text(path: Path) -> Iterator[str]:
    for number, line in numbered_lines(path):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")  # -sig drops the byte order mark of Excel
        except UnicodeDecodeError:
            raise bad_file(path, f"line {number}: is not UTF-8 text", "save the file as UTF-8") from None


def _number(line: int, cell: str) -> float:
    text = cell.strip().lower()
    try:
        value = math.nan if "_" in text else float(BOOLEANS.get(text, text))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _Untidy(line)
    return value


def _targets(cells: list[str], line: int) -> np.ndarray:
    """The target column, all numbers (true and false are 1 and 0) or all text."""
    try:
        numbers = [_number(line, cell) for cell in cells]
    except _Untidy:
        if any(map(_is_number, cells)):
            raise
        return as_targets(np.array(cells))
    if any(map(written_too_long, cells)):
        raise _Untidy(line)
    return as_targets(numbers)


def _is_number(cell: str) -> bool:
    try:
        float(BOOLEANS.get(cell.lower(), cell))
    except ValueError:
        return False
    return "_" not in cell
