"""Reads Parquet files, once memory is there for what their metadata announce; texts are kept once, not once a row."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedconvex.data.file_contents import contents
from fedconvex.data.table import FEWER, bad_file
from fedconvex.errors import InvalidInput
from fedconvex.memory import NUMBER, OBJECT, require
from fedconvex.optional import require_library

if TYPE_CHECKING:
    import pandas

WIDE = 1000  # columns from which a file is read by one thread
COLUMN = 2**14  # bytes of a column's schema, statistics and place in a table
COPIES = 4  # of numbers: as pyarrow's table, in pandas, as float64, divided among clients
TEXT_COPIES = 8  # of distinct texts: four bytes a character in Python, and as long again where they are compared
LIST: list[Any] = []  # stands for every value of a nested column, of which only the type is reported


def parquet_frame(path: Path) -> "pandas.DataFrame":
    """The file's table: texts are categories, values of nested columns empty lists. Raises InvalidInput, TooLarge."""
    require_library("pyarrow", "reading a Parquet file")
    import pandas as pd
    import pyarrow as pa

    data = contents(path)
    try:
        table, schema = parquet_table(data, "path", path)
        # What pandas wrote about its columns would copy texts into each row. Its own integers do not merge neighbours.
        exact = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
        frame: pandas.DataFrame = table.to_pandas(ignore_metadata=True, types_mapper=exact.get)
        for place, field in enumerate(schema):
            if _is_nested(field):
                frame.insert(place, field.name, [LIST] * len(frame))
        index = [name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
        return frame.set_index(index) if index else frame
    except (InvalidInput, MemoryError):
        raise
    except Exception as error:  # on damaged bytes the libraries raise nearly any exception
        raise bad_file(path, f"is not readable as Parquet ({error})", "write or copy the file again") from error


def parquet_table(data: bytes, argument: str, value: object) -> tuple[Any, Any]:
    """The pyarrow table of the columns that are not nested, with texts as dictionaries, and the file's whole schema.

    Raises TooLarge for `argument` before anything is read, and on damage nearly any exception.
    """
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(io.BytesIO(data))
    schema = metadata.schema.to_arrow_schema()
    flat = [field.name for field in schema if not _is_nested(field)]
    size = f"its {metadata.num_rows} rows by {len(schema)} columns"
    require(_bytes_of(metadata, set(flat)) + metadata.num_rows * NUMBER, argument, value, size, FEWER)
    few = len(schema) < WIDE  # each thread buffers all columns, which takes 90 kB for each of 20,000
    texts = [field.name for field in schema if _is_text(field.type)]
    file = pq.ParquetFile(
        io.BytesIO(data), metadata=metadata, pre_buffer=few, page_checksum_verification=True, read_dictionary=texts
    )
    return file.read(columns=flat if len(flat) < len(schema) else None, use_threads=few), schema


def with_texts(table: Any, schema: Any, argument: str, value: object) -> Any:
    """A table of `parquet_table` whose texts are in every row, in the types of the schema. Raises TooLarge before."""
    import pyarrow.compute as pc

    needed = 0
    for name, column in zip(table.column_names, table.columns, strict=True):
        if _is_text(schema.field(name).type):
            for part in column.chunks:
                needed += pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() or 0
    require(2 * needed, argument, value, "the texts in its rows", FEWER)
    return table.cast(schema)


def _is_nested(field: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_nested(getattr(field.type, "storage_type", field.type)))


def _is_text(kind: Any) -> bool:
    import pyarrow.types as types

    return any(is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_string_view))


def _bytes_of(metadata: Any, names: set[str]) -> int:
    """What the columns of these names take once read, by the counts and sizes that the file states for each part."""
    schema, needed = metadata.schema, metadata.num_columns * COLUMN
    for j in range(metadata.num_columns):
        column = schema.column(j)
        if column.path not in names:
            continue
        parts = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups)]
        count, size = (sum(getattr(part, what) for part in parts) for what in ("num_values", "total_uncompressed_size"))
        needed += COPIES * count * max(NUMBER, column.length)
        if column.physical_type == "BYTE_ARRAY":  # each distinct one is stored at least once, behind its length
            needed += TEXT_COPIES * size + COPIES * OBJECT * min(count, size // 4)
    return int(needed)
