"""Reads delimited text (CSV, TSV and their relatives) into a `Table`; `made_names` is for files without a header.

A file of numbers is read by `_tidy`, without keeping its text, and in blocks where nothing in it is unusual. Any other
one is read once more as text, all of it, and `preparation.prepare` makes numbers of its columns or lists what keeps it
from that.
"""

import csv
import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedconvex.data import table as tables
from fedconvex.data.columns import (
    BOOLEANS,
    DATE_NAME,
    IDENTIFIER_NAME,
    IDENTIFIER_WORDS,
    MISSING,
    Column,
    are_dates,
    is_any_number,
    of_numbers,
    of_texts,
)
from fedconvex.data.file_contents import numbered_lines
from fedconvex.data.findings import Finding, TableSource
from fedconvex.data.number_blocks import number_columns
from fedconvex.data.preparation import Preparation, prepare
from fedconvex.data.table import TARGET_COLUMNS, ColumnRoles, Table, bad_file, check_size, listed, roles
from fedconvex.data.targets import as_targets, written_too_long
from fedconvex.errors import InvalidInput
from fedconvex.memory import NUMBER
from fedconvex.sparse import is_sparse

CHECKED = 2**18  # bytes of features; asking the system what memory is left takes as long as reading dozens of rows
SEPARATORS = ",;\t|"
SEPARATOR_LINE = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
KNOWN = 2**16  # distinct texts that are kept as one object each; measurements have too many to gain by it
TEXT = 8  # copies of a table of floats that take as much memory as its text in Python and in pandas


class _Rows(NamedTuple):
    """The names of a file's columns and its rows, with line numbers, what separates the columns, and notes on both."""

    header: list[str] | None
    rows: Iterator[tuple[int, list[str]]]
    notes: tuple[str, ...]
    named_here: str  # where the file has no header line: the sentence that says so
    separator: str = ","
    header_line: int = 0


class _Untidy(Exception):
    """The columns must be prepared, or chosen: a file holds something else than numbers, or has no target column."""

    def __init__(self, line: int, problem: str = "holds something else than numbers") -> None:
        super().__init__(line)
        self.problem = f"line {line}: {problem}"


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
        if options.missing is not None or options.categories:
            raise _Untidy(1)
        table, lines, notes = _tidy(path, delimiter, target_column, client_column)
    except _Untidy as untidy:
        if not path.is_file():  # a pipe is gone once it is read
            problem = f"{untidy.problem}, and the file cannot be read a second time"
            raise bad_file(path, problem, "save it as a file, whose columns can be prepared") from None
    else:
        return completed(table, TableSource.file(path, "line", lines), options, notes)
    columns, numbers, findings, notes = _texts(path, delimiter, target_column, options)
    source = TableSource.file(path, "line", numbers)
    prepared = prepare(columns, source, target_column, client_column, options, findings)
    return prepared._replace(notes=notes + prepared.notes)


def _tidy(
    path: Path, delimiter: str, target_column: str | None, client_column: str | None
) -> tuple[Table, np.ndarray, tuple[str, ...]]:
    """The table of a file of numbers, its line numbers, and notes on its form; raises _Untidy for other files."""
    names, rows, notes, named_here, separator, header_line = _rows(path, delimiter)
    if names is None:
        raise bad_file(path, "the file is empty", "give a header line and one line per sample")
    if named_here:
        require_made_names(names, {"target_column": target_column, "client_column": client_column}, path, named_here)
    if target_column is None and not set(names) & set(TARGET_COLUMNS):
        raise _Untidy(1, f"no column is named {' or '.join(TARGET_COLUMNS)}; the columns are {listed(names)}")
    target, client, chosen = found = roles(path, names, target_column, client_column)
    if not named_here and header_line == 1 and (plain := number_columns(path, separator, len(names), found)):
        lines = np.arange(2, 2 + len(plain.features))
        return _table(names, found, plain.features, plain.targets, plain.clients, lines), lines, notes
    most, between_checks = (max(1, size // (NUMBER * len(chosen))) for size in (tables.MAX_BYTES, CHECKED))
    features, line_numbers = array("d"), array("q")  # 8 bytes a number, where lists of Python floats take 32
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
        line_numbers.append(number)
        if len(line_numbers) > most or len(line_numbers) % between_checks == 0:
            check_size(path, len(line_numbers), len(chosen))
    check_size(path, len(line_numbers), len(chosen))
    if not line_numbers:
        raise bad_file(path, "has a header but no rows", "give one line per sample")
    lines = np.array(line_numbers)
    numbers = np.array(features).reshape(len(lines), len(chosen))
    return _table(names, found, numbers, targets, clients, lines), lines, notes


def _table(
    names: Sequence[str],
    found: ColumnRoles,
    features: np.ndarray,
    targets: np.ndarray | list[str],
    clients: list[str],
    lines: np.ndarray,
) -> Table:
    """The table of a file of numbers; raises _Untidy where targets or clients are missing."""
    texts = [column for column in (targets, clients) if isinstance(column, list)]
    if not all(MISSING.isdisjoint(map(str.lower, set(column))) for column in texts):
        raise _Untidy(int(lines[0]))
    return Table(
        features,
        tuple(names[j] for j in found.features),
        _targets(targets, int(lines[0])) if isinstance(targets, list) else as_targets(targets),
        None if found.client is None else tuple(clients),
        names[found.target],
        "client" if found.client is None else names[found.client],
    )


def text_columns(path: Path, delimiter: str) -> tuple[dict[str, list[str]], list[str]]:
    """A file's cells by column, and the place of each row. Raises InvalidInput for lines of another length."""
    header, rows, *_ = _rows(path, delimiter)
    names, found, places = header or [], [], []
    for number, row in rows:
        if len(row) != len(names):
            problem = f"line {number}: has {len(row)} fields, the header has {len(names)}"
            raise bad_file(path, problem, "repair the line (the last line of a truncated file looks like this)")
        found.append(row)
        places.append(f"{path.name} line {number}")
    if not found or len(set(names)) < len(names):
        raise bad_file(path, "has no rows, or two columns of one name", "give one line per sample under unique names")
    return dict(zip(names, map(list, zip(*found, strict=True)), strict=True)), places


def _texts(
    path: Path, delimiter: str, target_column: str | None, options: Preparation
) -> tuple[list[Column], np.ndarray, list[Finding], tuple[str, ...]]:
    """All columns as text, the line numbers, findings on the header and on lines of another length, and notes."""
    header, rows, notes, named_here, *_ = _rows(path, delimiter)
    names = header or []
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
    findings = [Finding(named_here, {}, ADD_A_HEADER)] if named_here and target_column is None else []
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
    columns = [of_texts(name, column, options.missing_in(name)) for name, column in zip(names, cells, strict=True)]
    return columns, np.array(lines), findings, notes


def _rows(path: Path, delimiter: str) -> _Rows:
    """The columns' names and the rows that are not blank, each with its line number (the last of several)."""
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
    notes = () if separator == delimiter else (f"columns are separated by {separator!r}",)
    number, header = next(every, (0, None))
    if header is None:
        return _Rows(None, every, notes, "")
    if holds_data(header):
        made, sentence = made_names(len(header)), without_header(number, len(header))
        return _Rows(made, chain([(number, header)], every), (*notes, sentence), sentence)
    names = [name.strip() for name in header]
    return _Rows(names, every, (*notes, *doubtful(number, names)), "", separator, number)


def _separator(first: Sequence[str], delimiter: str) -> str:
    """What separates the first two lines into equally many columns, and the most; the delimiter, if nothing does.

    Where there is no header, decimal commas separate, too: what leaves nothing but numbers comes first.
    """
    columns: dict[str, tuple[bool, int]] = {}
    for mark in delimiter + SEPARATORS.replace(delimiter, ""):
        try:
            rows = list(csv.reader(first, delimiter=mark))
        except csv.Error:  # reading the file has a better message
            return delimiter
        count = len(rows[0]) if len({len(row) for row in rows}) == 1 else 0
        columns[mark] = (count > 1 and all(map(holds_data, rows)), count)
    best = max(columns, key=lambda mark: columns[mark])  # of equals the first, which is the delimiter
    return best if columns[best][1] > 1 else delimiter


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
        return as_targets(np.array(cells, dtype=object))
    if any(map(written_too_long, cells)):
        raise _Untidy(line)
    return as_targets(numbers)


def _is_number(cell: str) -> bool:
    try:
        float(BOOLEANS.get(cell.lower(), cell))
    except ValueError:
        return False
    return "_" not in cell


LOOKED_AT = 1000  # columns; wider tables come from programs


def completed(table: Table, source: TableSource, options: Preparation, notes: tuple[str, ...] = ()) -> Table:
    """The table as it is, or prepared where its columns or the options call for that. Raises UntidyTable."""
    if not needs_preparation(table, options):
        return table._replace(notes=table.notes + notes)
    columns = [of_numbers(name, table.features[:, j]) for j, name in enumerate(table.feature_names)]
    name, targets = table.target_name, table.targets
    columns.append(of_texts(name, targets.tolist()) if targets.dtype.kind == "U" else of_numbers(name, targets))
    if table.clients is not None:
        columns.append(of_texts(table.client_name, list(table.clients)))
    client = None if table.clients is None else table.client_name
    prepared = prepare(columns, source, table.target_name, client, options)
    return prepared._replace(notes=notes + prepared.notes)


def needs_preparation(table: Table, options: Preparation) -> bool:
    """Whether the options ask for it, or a table of numbers has something to say or to refuse."""
    if options.given or (table.clients is None and not options.has_clients):
        return True
    if is_sparse(table.features) or len(table.feature_names) > LOOKED_AT:
        return False
    for j, name in enumerate(table.feature_names):
        if name == "" or any(pattern.search(name) for pattern in (IDENTIFIER_NAME, IDENTIFIER_WORDS, DATE_NAME)):
            column = of_numbers(name, table.features[:, j])
            if name == "" or column.is_identifier or column.content == "dates":
                return True
    return False


# A first line of numbers is a sample. To read it as names would lose it, and nobody would notice.

ADD_A_HEADER = "name the columns by these names, or add a header line to the file"


def holds_data(first: Sequence[str]) -> bool:
    """Whether a file's first line is a sample: numbers, beside missing values and dates.

    pandas and NumPy name the columns of a matrix 0, 1, 2, …: such a line is a header.
    """
    cells = [cell.strip() for cell in first]
    present = [cell for cell in cells if cell.lower() not in MISSING]
    others = [cell for cell in present if not is_any_number(cell)]
    return len(others) < len(present) and not are_indices(cells) and all(are_dates([cell]) for cell in others)


def are_indices(names: Sequence[str]) -> bool:
    """Whether the names are 0, 1, 2, …, or 1, 2, 3, …, perhaps beside one empty name, which pandas gives its index."""
    named = [name for name in names if name]
    if len(named) < max(2, len(names) - 1) or not all(name.isascii() and name.isdecimal() for name in named):
        return False
    return named[0] in ("0", "1") and all(int(b) == int(a) + 1 for a, b in pairwise(named))


def doubtful(line: int, names: Sequence[str]) -> tuple[str, ...]:
    """What is said of a header line that may be a sample after all: of indices, or with a number that is not whole."""
    if are_indices(names):
        return (f"line {line} ({names[0]} to {names[-1]}) is taken as the header",)
    fractional = next((name for name in names if not name.isdecimal() and is_any_number(name)), None)
    return () if fractional is None else (f"line {line} is taken as the header, although {fractional!r} is a number",)


def made_names(count: int) -> list[str]:
    """column1 … columnN, by position."""
    return [f"column{number}" for number in range(1, count + 1)]


def without_header(line: int, count: int) -> str:
    """The sentence that says why the columns have made names."""
    return (
        f"line {line} holds numbers, not names: the file has no header line, its columns are column1 to column{count}"
    )


def require_made_names(names: Sequence[str], given: Mapping[str, str | None], path: Path, sentence: str) -> None:
    """Raises InvalidInput for an option that names a column that a file without a header line cannot have."""
    for option, name in given.items():
        if isinstance(name, str) and name not in names:
            raise InvalidInput(option, name, f"{path}: {sentence}", ADD_A_HEADER)
