"""Several tables, each of a client, as one: a list of files, a folder, a pattern, or a dict of files or tables."""

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.data import builtin
from fedconvex.data.delimited import text_columns
from fedconvex.data.findings import TableSource
from fedconvex.data.frame_tables import as_pandas, is_frame
from fedconvex.data.parquet import parquet_frame
from fedconvex.data.table import CLIENT_COLUMNS, bad_file, listed
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    import pandas

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """The tables below each other, with a column for the client that each row is from."""

    frame: "pandas.DataFrame"
    client: str
    argument: str
    places: np.ndarray  # (n,) of each row: a.csv line 7

    def source(self, names: tuple[str, str] = ("client_column", "target_column")) -> TableSource:
        """How messages name the tables."""
        value = f"{self.frame[self.client].nunique()} tables"
        return TableSource(self.argument, value, "", self.places, "Python", *names)


def of_several(source: Any) -> Mapping[str, Any] | None:
    """The tables by client where the source is several; None where it is one."""
    if isinstance(source, Mapping):
        return source
    if isinstance(source, list | tuple) and source:
        files = [Path(file) for file in source if isinstance(file, str | os.PathLike)]
        if len(files) < len(source):
            raise InvalidInput("source", source, "has entries that are no paths", "give a dict of tables by client")
    elif isinstance(source, str | os.PathLike) and source not in builtin.names():
        path = Path(source)
        pattern = str(path / "*") if path.is_dir() else str(source)
        if path.is_file() or not glob.has_magic(pattern):
            return None
        files = sorted(file for file in map(Path, glob.glob(pattern)) if _ending(file) in (*DELIMITERS, *PARQUET))
        if not files:
            raise bad_file(
                source, "has no CSV, TSV or Parquet file", "give a folder or a pattern with a file per client"
            )
    else:
        return None
    names = [file.name.removesuffix(".gz").removesuffix(_ending(file)) for file in files]
    if len(set(names)) < len(names):  # of several folders
        names = [str(file) for file in files]
    if len(set(names)) < len(names):
        raise InvalidInput("source", source, "has a file twice", "name each client's file once")
    return dict(zip(names, files, strict=True))


def join(tables: Mapping[Any, Any], argument: str, client: Any, clients: Any, partition: Any) -> JoinedTables:
    """The tables below each other. Raises InvalidInput with all differences where their columns are not the same."""
    import pandas as pd

    given = {"client_column": client, "clients": clients, "partition": partition}
    for option, value in given.items():
        if value is not None:
            raise InvalidInput(option, value, "is given with several tables, each of a client", "leave it out")
    if not tables:
        raise InvalidInput(argument, tables, "has no table", "give one table for each client")
    read = {str(name): _read(str(name), table, argument) for name, table in tables.items()}
    first, (frame, _) = next(iter(read.items()))
    columns = [str(name) for name in frame.columns]
    wrong = []
    for name, (other, _) in read.items():
        lacking = [column for column in columns if column not in other.columns]
        extra = [str(column) for column in other.columns if column not in columns]
        if lacking or extra:
            words = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has {listed(extra)} as well"] * bool(extra)
            wrong.append(f"{name} {' and '.join(words)}")
    if wrong:
        problem = f"have other columns than {first}: {'; '.join(wrong)}"
        raise InvalidInput(argument, f"{len(read)} tables", problem, "give all tables the same columns")
    free = [name for name in (*CLIENT_COLUMNS, "table") if name not in columns]
    parts = [part.assign(**{free[0]: name})[[*columns, free[0]]] for name, (part, _) in read.items()]
    places = np.array([place for _, own in read.values() for place in own], dtype=object)
    return JoinedTables(pd.concat(parts, ignore_index=True), free[0], argument, places)


def _read(name: str, table: Any, argument: str) -> tuple["pandas.DataFrame", list[str]]:
    """A table and the place of each row."""
    import pandas as pd

    if isinstance(table, str | os.PathLike):
        path = Path(table)
        if not path.is_file():
            raise bad_file(path, "is no file", "give one CSV, TSV or Parquet file for each client")
        if _ending(path) in DELIMITERS:
            cells, places = text_columns(path, DELIMITERS[_ending(path)])
            return pd.DataFrame(cells, dtype=object), places
        if _ending(path) not in PARQUET:
            raise bad_file(path, "is neither CSV, TSV nor Parquet", "give several files in one of these formats")
        frame = parquet_frame(path)
        return frame, [f"{path.name} row {i + 1}" for i in range(len(frame))]
    if not is_frame(table):
        raise InvalidInput(f"{argument}[{name!r}]", table, "is no table", "give a table of pandas, polars or Arrow")
    frame = as_pandas(table, argument)
    return frame, [f"{name} row {i + 1}" for i in range(len(frame))]


def _ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()
