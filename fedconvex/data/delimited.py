"""Reads CSV and TSV text with a header line into a `Table`, with errors that name the line and the column."""

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from fedconvex.data import table as tables
from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.table import Table, bad_file, check_size, roles
from fedconvex.data.targets import TOO_LONG_CURE, as_targets, written_too_long
from fedconvex.memory import NUMBER

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
BOOLEANS = {"true": 1.0, "false": 0.0}
CHECKED = 2**18  # bytes of features; asking the system what memory is left takes as long as reading dozens of rows
MISSING_CURE = "fill it in or remove the row"


def read_delimited(path: Path, delimiter: str, target_column: str | None, client_column: str | None) -> Table:
    """Reads a CSV or TSV file, whose columns except target and client must hold finite numbers, true or false.

    target_column, client_column: see `fedconvex.data.table.roles`. Raises InvalidInput with the line and the column.
    """
    rows = _rows(path, delimiter)
    _, header = next(rows, (0, None))
    if header is None:
        raise bad_file(path, "the file is empty", "give a header line and one line per sample")
    names = [name.strip() for name in header]
    target, client, chosen = roles(path, names, target_column, client_column)
    most, between_checks = (max(1, size // (NUMBER * len(chosen))) for size in (tables.MAX_BYTES, CHECKED))
    features, lines = array("d"), array("q")  # 8 bytes a number, where lists of Python floats take 32
    targets: list[str] = []
    clients: list[str] = []
    for number, row in rows:
        if len(row) != len(names):
            problem = f"line {number}: has {len(row)} fields, the header has {len(names)}"
            raise bad_file(path, problem, "repair the line (the last line of a truncated file looks like this)")
        cells = [row[j] for j in chosen]
        # Fast path: convert the whole row at once. Anything unusual (text, NaN, an underscore, which float() accepts)
        # goes through _number, which handles it cell by cell and knows the column for its error.
        try:
            values = list(map(float, cells))
        except ValueError:
            values = []
        if not values or not math.isfinite(sum(map(abs, values))) or "_" in "".join(cells):
            values = [_number(path, number, names[j], row[j]) for j in chosen]
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
    if client is not None:
        _refuse_missing(path, names[client], clients, lines)
    # pandas writes its index as a first column without a name
    if names[chosen[0]] == "" and chosen[0] == 0 and _are_row_numbers(features[:: len(chosen)]):
        cure = "write the file with to_csv(…, index=False), drop the column, or give it a name if it is a feature"
        raise bad_file(path, "the first column has no name and holds row numbers, which are no feature", cure)
    return Table(
        np.array(features).reshape(len(lines), len(chosen)),
        tuple(names[j] for j in chosen),
        _targets(path, names[target], targets, lines),
        tuple(clients) if client is not None else None,
    )


def _are_row_numbers(values: Sequence[float]) -> bool:
    """Whether the numbers are distinct integers, as in an index column, of which rows may have been removed."""
    return all(map(float.is_integer, values)) and len(set(values)) == len(values)


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with its line number (a quoted cell may span lines: then the last one)."""
    reader = csv.reader(_text(path), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            cure = "repair the quotes and line ends there"
            raise bad_file(path, f"line {reader.line_num}: is not valid CSV ({error})", cure) from error
        if row is None:
            return
        if row:
            yield reader.line_num, row


def _text(path: Path) -> Iterator[str]:
    for number, line in numbered_lines(path):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")  # -sig drops the byte order mark of Excel
        except UnicodeDecodeError:
            raise bad_file(path, f"line {number}: is not UTF-8 text", "save the file as UTF-8") from None


def _number(path: Path, line: int, column: str, cell: str) -> float:
    text = cell.strip()
    where = f"line {line}, column {column!r}: "
    if text.lower() in MISSING:
        raise bad_file(path, f"{where}the value is missing ({cell!r})", MISSING_CURE)
    try:
        value = float("not a number" if "_" in text else BOOLEANS.get(text.lower(), text))
    except ValueError:
        cure = "encode the column as numbers, or delete it from the file"
        raise bad_file(path, f"{where}{text[:40]!r} is not a number", cure) from None
    if not math.isfinite(value):
        raise bad_file(path, f"{where}{text[:40]!r} is not finite", MISSING_CURE)
    return value


def _targets(path: Path, column: str, cells: list[str], lines: Sequence[int]) -> np.ndarray:
    """The target column, all numbers (true and false are 1 and 0) or all text."""
    _refuse_missing(path, column, cells, lines)
    text = [line for cell, line in zip(cells, lines, strict=True) if not _is_number(cell)]
    if len(text) == len(cells):
        return as_targets(np.array(cells))
    if text:
        problem = f"line {text[0]}, column {column!r}: text in a target column that has numbers elsewhere"
        raise bad_file(path, problem, "make the targets all numbers or all text")
    for cell, line in zip(cells, lines, strict=True):
        if written_too_long(cell):
            problem = (
                f"line {line}, column {column!r}: {cell.strip()[:40]} is beyond 2^53, where floats merge neighbours"
            )
            raise bad_file(path, problem, TOO_LONG_CURE)
    return as_targets([_number(path, line, column, cell) for cell, line in zip(cells, lines, strict=True)])


def _is_number(cell: str) -> bool:
    try:
        float(BOOLEANS.get(cell.lower(), cell))
    except ValueError:
        return False
    return "_" not in cell


def _refuse_missing(path: Path, column: str, cells: list[str], lines: Sequence[int]) -> None:
    for cell, line in zip(cells, lines, strict=True):
        if cell.lower() in MISSING:
            raise bad_file(path, f"line {line}, column {column!r}: the value is missing ({cell!r})", MISSING_CURE)
