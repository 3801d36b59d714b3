"""`read_table`: reads the samples of a CSV, TSV, Parquet, NPZ or LIBSVM file."""

import io
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fedconvex import npz_files
from fedconvex.data.delimited import read_delimited
from fedconvex.data.file_contents import contents
from fedconvex.data.findings import TableSource
from fedconvex.data.frame_tables import table_of
from fedconvex.data.libsvm import MAX_INDEX, read_libsvm
from fedconvex.data.parquet import parquet_frame
from fedconvex.data.preparation import Preparation
from fedconvex.data.table import Table, bad_file, client_names, default_names, roles
from fedconvex.data.targets import as_targets, too_long
from fedconvex.errors import InvalidInput
from fedconvex.sparse import Features, dense, is_sparse, stays_sparse
from fedconvex.validation import integer_at_least

FORMATS = ("csv", "tsv", "parquet", "npz", "libsvm")
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    **dict.fromkeys((".svm", ".libsvm", ".svmlight", ".txt", ".t", ""), "libsvm"),
}
NPZ_CURE = "write it with numpy.savez(path, X=…, y=…), client=… if there is one, all of them plain numbers or strings"


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    target_column: str | None = None,
    client_column: str | None = None,
    num_features: int | None = None,
    options: Preparation | None = None,
) -> Table:
    """Reads a file, gzipped or not, as a `Table`: features (n, p), feature names, targets (n,), client names or None.

    format: csv, tsv, parquet, npz or libsvm; by default the suffix decides, without .gz: .csv, .tsv, .parquet, .npz;
        .svm, .libsvm, .svmlight, .txt, .t or none for LIBSVM text.
    target_column: default `target`, `label` or `y`. client_column: default `client` or `client_id` if there is one.
        In an NPZ file they name arrays (n,), beside the features `X` (n, p). LIBSVM files have neither.
    num_features: p, for LIBSVM files in which the last features never occur.
    options: how the columns of CSV, TSV and Parquet files are prepared; see `fedconvex.data.load`.

    Files are data, never code: nothing is unpickled. Raises InvalidInput with the path, the place and the cure for
    anything that cannot be read completely. Missing values are never filled in without `options`, and texts become
    numbers only where they are few (one-hot encoding): a note says so. UntidyTable lists what the user must decide.

    Damage is noticed where the file has checksums: gzip and NPZ files do; Parquet files do if they were written with
    them (pyarrow: `write_page_checksum=True`; pandas: `to_parquet(path, write_page_checksum=True)`), and then they
    cover the values, not the columns' names. In other Parquet files, in CSV, TSV and LIBSVM text, a changed digit is
    another number.
    """
    path = Path(path)
    format = _format(path, format)
    options = Preparation() if options is None else options
    if format in ("libsvm", "npz"):
        for argument, value in options.given.items():
            problem = f"{path} has no columns of text or dates, nor missing values"
            raise InvalidInput(argument, value, problem, "leave it out")
    if format == "libsvm":
        for argument, column in (("target_column", target_column), ("client_column", client_column)):
            if column is not None:
                problem = f"{path} is LIBSVM text, which has no named columns"
                raise InvalidInput(
                    argument, column, problem, "leave it out; divide the rows with clients and partition"
                )
        width = None if num_features is None else integer_at_least(num_features, 1, "num_features")
        if width is not None and width > MAX_INDEX:
            raise InvalidInput("num_features", num_features, f"is larger than {MAX_INDEX}", "give fewer features")
        return read_libsvm(path, width)
    if num_features is not None:
        raise InvalidInput("num_features", num_features, f"{path} states how many it has", "leave it out")
    if format == "parquet":
        return _read_parquet(path, target_column, client_column, options)
    if format == "npz":
        return _read_npz(path, target_column, client_column)
    return read_delimited(path, "," if format == "csv" else "\t", target_column, client_column, options)


def _format(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise InvalidInput("format", format, "is not a known format", f"give one of {', '.join(FORMATS)}")
        return format
    suffix = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    if suffix not in SUFFIXES:
        cure = f"give format (--format), one of {', '.join(FORMATS)}"
        raise bad_file(path, f"the suffix {suffix!r} does not determine the format", cure)
    return SUFFIXES[suffix]


def _read_parquet(path: Path, target_column: str | None, client_column: str | None, options: Preparation) -> Table:
    frame = parquet_frame(path)
    _check_rows(path, len(frame))
    source = TableSource.file(path, "row", np.arange(1, len(frame) + 1))
    return table_of(frame, source, target_column, client_column, options)


def _read_npz(path: Path, target_column: str | None, client_column: str | None) -> Table:
    try:
        with zipfile.ZipFile(io.BytesIO(contents(path))) as archive:
            names = npz_files.names_of(archive, "path", path)
            if "X" not in names:
                raise bad_file(path, f"has no array X; its arrays are {', '.join(names) or 'none'}", NPZ_CURE)
            target, client, _ = roles(path, names, target_column, client_column)
            members = [archive.namelist()[j] for j in (names.index("X"), target, client) if j is not None]
            features, targets, *clients = (npz_files.array(archive, member) for member in members)
    except (InvalidInput, MemoryError):  # our own, more precise errors from within the block
        raise
    except Exception as error:  # on damaged bytes the libraries raise nearly any exception
        raise bad_file(path, f"is not readable as NPZ ({error})", NPZ_CURE) from error
    if features.ndim != 2 or features.dtype.kind not in "biuf":
        problem = f"X has shape {features.shape} and type {features.dtype}, not samples by features of real numbers"
        raise bad_file(path, problem, NPZ_CURE)
    _check_rows(path, len(features))
    feature_names = default_names(features.shape[1])
    rows, columns = features.shape
    if stays_sparse(rows, columns, int(np.count_nonzero(features))):
        from scipy.sparse import csr_array

        return _table(path, csr_array(features).astype(np.float64), feature_names, targets, *clients)
    return _table(path, features.astype(np.float64, copy=False), feature_names, targets, *clients)


def _table(
    path: Path, features: Features, names: Sequence[str], targets: np.ndarray, clients: np.ndarray | None = None
) -> Table:
    """The checks that Parquet and NPZ files share; errors number the rows from 1."""
    stored = features.data if is_sparse(features) else features  # zeros that are not stored are finite
    if not np.isfinite(stored).all():
        row, column = np.argwhere(~np.isfinite(dense(features, "X")))[0]
        problem = f"row {row + 1}, column {names[column]!r}: {features[row, column]} is not finite"
        raise bad_file(path, problem, "fill it in or remove the row")
    for role, values in (("targets", targets), ("clients", clients)):
        if values is None:
            continue
        if values.shape != features.shape[:1] or values.dtype.kind not in "biufU":
            problem = f"the {role} have shape {values.shape} and type {values.dtype}"
            raise bad_file(path, problem, f"give {features.shape[0]} numbers or strings, one per row")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise bad_file(path, f"row {row + 1}: {values[row]} among the {role}", "repair or remove the row")
    if (index := too_long(targets)) is not None:
        problem = (
            f"row {index + 1}: the target {targets[index]} is an integer beyond 2^53, where floats merge neighbours"
        )
        raise bad_file(path, problem, "store labels as text, numbers to predict as floats")
    return Table(features, names, as_targets(targets), None if clients is None else client_names(clients))


def _check_rows(path: Path, rows: int) -> None:
    if rows == 0:
        raise bad_file(path, "has no rows", "give one row per sample")
