"""Tables of pandas, Arrow and polars as `Table`."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fedconvex.data.columns import of_series
from fedconvex.data.findings import TableSource
from fedconvex.data.preparation import Preparation, prepare
from fedconvex.data.table import CLIENT_COLUMNS, TARGET_COLUMNS, Table, check_size
from fedconvex.errors import InvalidInput
from fedconvex.optional import require_library

if TYPE_CHECKING:
    import pandas

COLLECT = "give the table that its collect() returns"


def is_frame(value: Any) -> bool:
    """Whether the value is a table of pandas, Arrow or polars, or a stream of one; a column alone is none."""
    return hasattr(value, "__arrow_c_stream__") and (hasattr(value, "columns") or not hasattr(value, "dtype"))


def is_lazy(value: Any) -> bool:
    """Whether the value is a query, such as a LazyFrame of polars, whose table must be computed first."""
    return hasattr(type(value), "collect_schema") and hasattr(type(value), "collect") and not is_frame(value)


def _named(value: Any) -> Any:
    """A table's shape instead of its picture of several lines; any other value as it is."""
    shape = getattr(value, "shape", None)
    return f"a table of shape {shape}" if isinstance(shape, tuple) and len(shape) == 2 else value


def as_pandas(frame: Any, argument: str) -> "pandas.DataFrame":
    """The table as a pandas frame: its own columns where it is one, else through Arrow's C stream."""
    if type(frame).__module__.startswith("pandas"):
        import pandas as pd

        if isinstance(frame, pd.DataFrame):
            return frame
    if not is_frame(frame):
        cure = "give a table of pandas, polars or Arrow; of a file, the path to fedconvex.data.load"
        raise InvalidInput(argument, _named(frame), "is no table", COLLECT if is_lazy(frame) else cure)
    require_library("pyarrow", "reading a table of polars or Arrow")
    import pyarrow as pa

    try:
        table = pa.RecordBatchReader.from_stream(frame).read_all()
        # what pandas wrote about its index would take columns away; floats merge long integers beside missing values
        found: Any = table.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    except Exception as error:  # of another library's data: the libraries raise nearly any exception
        cure = "convert columns whose type Arrow lacks, or give a pandas frame"
        raise InvalidInput(argument, _named(frame), f"cannot be read through Arrow ({error})", cure) from error
    return cast("pandas.DataFrame", found)


def table_of(
    frame: "pandas.DataFrame",
    source: TableSource,
    target_column: str | None,
    client_column: str | None,
    options: Preparation,
) -> Table:
    """The table of a frame with at least one row. Raises UntidyTable, InvalidInput."""
    names = [str(name) for name in frame.columns]
    in_index = {str(name) for name in frame.index.names if name is not None}.difference(names)
    clients = () if options.has_clients else CLIENT_COLUMNS
    for requested, defaults in ((client_column, clients), (target_column, TARGET_COLUMNS)):
        usual = () if set(names).intersection(defaults) else defaults
        if lost := sorted(name for name in in_index if (name in usual if requested is None else _is(requested, name))):
            problem = f"has {lost[0]!r} in its index, not as a column"
            raise InvalidInput(source.argument, source.value, problem, "make it a column with reset_index()")
    check_size(source.value, len(frame), max(1, len(names) - 1))
    columns = [of_series(name, frame.iloc[:, j], options.missing_in(name)) for j, name in enumerate(names)]
    return prepare(columns, source, target_column, client_column, options)


def _is(requested: Any, name: str) -> bool:
    """Whether this name is requested; what is no text is refused later."""
    return isinstance(requested, str) and requested == name


def source_of(frame: "pandas.DataFrame", argument: str, names: tuple[str, str]) -> TableSource:
    """How messages name the frame; `names` are the arguments for the client and the target column."""
    if 0 in frame.shape:
        what = "rows" if len(frame) == 0 else "columns"
        raise InvalidInput(argument, f"a table of shape {frame.shape}", f"has no {what}", "give one row per sample")
    rows = np.arange(1, len(frame) + 1)
    return TableSource(argument, f"a table of shape {frame.shape}", "row", rows, "Python", *names)
