"""Tables of single runs as Parquet, and how a sweep merges them into one tidy table."""

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedconvex.data.parquet import parquet_table, with_texts
from fedconvex.errors import InvalidInput
from fedconvex.sweeps.errors import IncompleteSweep
from fedconvex.sweeps.grid import Cell

if TYPE_CHECKING:
    import pandas

LABELS = ["method", "problem", "seed"]
GRID = b"fedconvex.sweep"  # the entry of a Parquet file's metadata that holds the grid's key
FRAME = b"fedconvex.frame"  # the entry with what the pages' checksums do not cover: the columns and the number of rows


def to_parquet(frame: "pandas.DataFrame") -> bytes:
    """The frame as a Parquet file, without its index."""
    import pyarrow

    # pandas' metadata names library versions: without it equal tables are equal bytes
    return table_to_parquet(pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None))


def table_to_parquet(table: Any) -> bytes:
    """The pyarrow table as a Parquet file whose pages carry checksums."""
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, write_page_checksum=True)
    return file.getvalue()


def from_parquet(content: bytes, out: object = "a run's table") -> Any:
    """The pyarrow table; raises OSError or pyarrow.ArrowException for a damaged file or one that is not Parquet."""
    return with_texts(*parquet_table(content, "out", out), "out", out)


def finished(path: Path, key: str) -> Any:
    """The table of the grid with this key, which an earlier call wrote. Raises InvalidInput if the file is another."""
    import pyarrow

    cure = "give another name, or move the file away"
    try:
        table = from_parquet(path.read_bytes(), path)
        frame = _frame(table)
    except InvalidInput:
        raise
    except (OSError, ValueError, ArithmeticError, MemoryError, pyarrow.ArrowException) as error:
        problem = f"the file is there and cannot be read ({' '.join(str(error).split())})"
        raise InvalidInput("out", path, problem, cure) from None
    about = table.schema.metadata or {}
    # the grid's key is in the file: another grid, option or library version is another sweep
    if about.get(GRID) != key.encode():
        raise InvalidInput("out", path, "the file is there and holds something else than this sweep", cure)
    if about.get(FRAME, frame) != frame:  # earlier versions wrote none
        raise InvalidInput("out", path, "the file is there and is damaged: its columns are others", cure)
    return table


def merged(cells: Sequence[Cell], contents: Iterable[tuple[str, bytes]], key: str = "") -> Any:
    """One pyarrow table with the rows of all cells, in the cells' order; its metadata hold the grid's key.

    Args:
        contents: each cell's key and Parquet file, in any order.

    Raises:
        IncompleteSweep: a cell is missing, occurs twice, is not in `cells`, or has the rows of another cell.
    """
    import pyarrow

    found = list(contents)
    _require_each_once(cells, [cell_key for cell_key, _ in found])
    by_key = dict(found)
    tables = []
    for cell in cells:
        table = from_parquet(by_key[cell.key])
        labels = table.select(LABELS).group_by(LABELS).aggregate([]).to_pylist()  # the distinct labels
        if labels != [{"method": cell.method, "problem": cell.problem, "seed": cell.seed}]:
            raise IncompleteSweep(f"the rows of {cell} are labelled {labels}")
        tables.append(table)
    # permissive: a column that is empty in some runs has type null there
    table = pyarrow.concat_tables(tables, promote_options="permissive") if tables else pyarrow.table({})
    return table.replace_schema_metadata({GRID: key.encode(), FRAME: _frame(table)})


def _frame(table: Any) -> bytes:
    """A digest of the columns' names and types, as Parquet gives them back, and of the number of rows."""
    types = from_parquet(table_to_parquet(table.schema.empty_table())).schema.types
    content = json.dumps([table.column_names, list(map(str, types)), table.num_rows])
    return hashlib.sha256(content.encode()).hexdigest().encode()


def _require_each_once(cells: Sequence[Cell], keys: Sequence[str]) -> None:
    times, known = Counter(keys), {cell.key for cell in cells}
    if foreign := times.keys() - known:
        raise IncompleteSweep(f"{len(foreign)} runs are none of this sweep's, the first is {min(foreign)}")
    for cell in cells:
        if times[cell.key] != 1:
            raise IncompleteSweep(f"{cell} is there {times[cell.key]} times instead of once")
