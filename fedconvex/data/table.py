"""`Table`, the samples of a file, and the rules by which columns become target, client or features."""

import os
from collections import Counter
from collections.abc import Sequence
from operator import eq
from pathlib import Path
from typing import NamedTuple, final, overload

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.memory import FREE, NUMBER, readable, require
from fedconvex.sparse import Features, dense

TARGET_COLUMNS = ("target", "label", "y")
CLIENT_COLUMNS = ("client", "client_id")
MAX_BYTES = 4 * 2**30  # of a file and of a dense table
FEWER = "use fewer rows or fewer features"


class Table(NamedTuple):
    """Samples: features (n, p) as float64, p feature names, targets (n,) in the form of `as_targets`, and clients.

    features: a NumPy array, or a SciPy CSR array where that takes far less (`fedconvex.sparse`).
    clients: the name of every sample's client, or None if the file does not state it.
    """

    features: Features
    feature_names: Sequence[str]
    targets: np.ndarray
    clients: tuple[str, ...] | None


class ColumnRoles(NamedTuple):
    """The indices of the target column, the client column (None without one) and the feature columns."""

    target: int
    client: int | None
    features: tuple[int, ...]


def bad_file(path: str | os.PathLike[str], problem: str, cure: str) -> InvalidInput:
    """The error for a file that cannot be used."""
    return InvalidInput("path", Path(path), problem, cure)


@final
class NumberedNames(Sequence[str]):
    """The names x1 … xp, made when they are read: sparse files have millions of features, most of them absent."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        numbers = range(1, self._count + 1)[index]
        return f"x{numbers}" if isinstance(numbers, int) else tuple(f"x{number}" for number in numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberedNames):
            return len(self) == len(other)
        return isinstance(other, tuple) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))  # as the tuple that it equals

    def __repr__(self) -> str:
        return f"NumberedNames({self._count})"


def default_names(num_features: int) -> NumberedNames:
    """x1 … xp, for files without names of features."""
    return NumberedNames(num_features)


def check_size(path: str | os.PathLike[str], rows: int, columns: int, copies: int = 1) -> None:
    """Raises InvalidInput for a dense table of more than `MAX_BYTES`, or of which `copies` do not fit into memory."""
    needed = rows * columns * NUMBER
    if needed > MAX_BYTES:
        size = f"{rows} rows by {columns} features take {readable(needed)} as a dense table"
        raise bad_file(path, f"{size}, the limit is {readable(MAX_BYTES)}", FEWER)
    if needed * copies > FREE:  # readers call this for growing tables: words and paths only where they are needed
        require(copies * needed, "path", Path(path), f"{copies} times its {rows} rows by {columns} features", FEWER)


def standardized(features: Features, like: Features | None = None) -> np.ndarray:
    """Every column of features (n, p) shifted and scaled to mean 0, variance 1 (over n); constant columns become 0.

    like: samples (n', p) that determine shift and scale instead, such as the training set.
    """
    features = dense(features, "features", copies=3)  # shifting fills the zeros
    known = features if like is None else dense(like, "like")
    scale = np.abs(known).max(axis=0)
    scale = np.where(
        scale > 0, scale, 1.0
    )  # scaling first: the squares of the variance can neither overflow nor underflow
    scaled = known / scale
    mean = scaled.mean(axis=0)
    varies = known.min(axis=0) < known.max(axis=0)  # exact, unlike a comparison of the deviation with 0
    deviation = np.where(varies, (scaled - mean).std(axis=0), 1.0)
    centred = features / scale - mean
    return np.where(varies, centred / np.where(deviation > 0, deviation, 1.0), 0.0)


def client_names(values: np.ndarray) -> tuple[str, ...]:
    """The clients' names from a column of text or numbers; 3.0 and 3 are the same client."""
    whole = values.dtype.kind == "f" and bool(np.all(values == np.rint(values)))
    return tuple(str(value).strip() for value in (values.astype(np.int64) if whole else values).tolist())


def roles(
    path: str | os.PathLike[str], columns: Sequence[str], target_column: str | None, client_column: str | None
) -> ColumnRoles:
    """Finds the target and the client column; all others are features.

    By default the target is the column `target`, `label` or `y`, and the client is `client` or `client_id` if there is
    one. Raises InvalidInput, with the list of columns, if they cannot be determined.
    """
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise bad_file(path, f"the column {repeated[0]!r} comes more than once", "give every column its own name")
    target = _find(path, columns, "target_column", target_column, TARGET_COLUMNS)
    if target is None:
        problem = f"no column is named {' or '.join(TARGET_COLUMNS)}; the columns are {_listed(columns)}"
        raise bad_file(path, problem + _hint(columns), "name the target with target_column (--target-column)")
    client = _find(path, columns, "client_column", client_column, CLIENT_COLUMNS)
    if client == target:
        problem = f"is the target column of {os.fspath(path)} as well"
        raise InvalidInput("client_column", columns[target], problem, "name another column")
    features = tuple(j for j in range(len(columns)) if j not in (target, client))
    if not features:
        problem = f"has no features beside {' and '.join(columns)}{_hint(columns)}"
        raise bad_file(path, problem, "give at least one feature column")
    return ColumnRoles(target, client, features)


def _find(
    path: str | os.PathLike[str], columns: Sequence[str], argument: str, name: str | None, defaults: tuple[str, ...]
) -> int | None:
    if name is not None:
        if name not in columns:
            problem = f"{os.fspath(path)} has no such column; its columns are {_listed(columns)}"
            raise InvalidInput(argument, name, problem + _hint(columns), "name one of them")
        return columns.index(name)
    present = [default for default in defaults if default in columns]
    if len(present) > 1:
        option = "--" + argument.replace("_", "-")
        raise bad_file(path, f"has the columns {' and '.join(present)}", f"say which one with {argument} ({option})")
    return columns.index(present[0]) if present else None


def _listed(columns: Sequence[str], limit: int = 20) -> str:
    shown = ", ".join(repr(name) for name in columns[:limit])
    return shown if len(columns) <= limit else f"{shown} and {len(columns) - limit} more"


def _hint(columns: Sequence[str]) -> str:
    # a file with one column usually has another separator
    separator = next((mark for mark in ";\t|" if mark in columns[0]), None) if len(columns) == 1 else None
    return "" if separator is None else f" (the columns seem to be separated by {separator!r}, which is not read here)"
