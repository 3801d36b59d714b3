"""`Table`, the samples of a file, and the rules by which columns become target, client or features."""

import os
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from operator import eq
from pathlib import Path
from typing import NamedTuple, final, overload

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.memory import FREE, NUMBER, readable, require
from fedconvex.sparse import Features, dense
from fedconvex.validation import instance_of

TARGET_COLUMNS = ("target", "label", "y")
CLIENT_COLUMNS = ("client", "client_id")
MAX_BYTES = 4 * 2**30  # of a file and of a dense table
FEWER = "use fewer rows or fewer features"


class Table(NamedTuple):
    """Samples: features (n, p) as float64, p feature names, targets (n,) in the form of `as_targets`, and clients.

    features: a NumPy array, or a SciPy CSR array where that takes far less (`fedconvex.sparse`).
    clients: the name of every sample's client, or None if the file does not state it.
    target_name, client_name: of the columns. notes: what was done to the columns, a line each.
    """

    features: Features
    feature_names: Sequence[str]
    targets: np.ndarray
    clients: tuple[str, ...] | None
    target_name: str = "target"
    client_name: str = "client"
    notes: tuple[str, ...] = ()


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
    path: str | os.PathLike[str],
    columns: Sequence[str],
    target_column: str | None,
    client_column: str | None,
    argument: str = "path",
    options: tuple[str, str] = ("target_column", "client_column"),
) -> ColumnRoles:
    """Finds the target and the client column; all others are features.

    By default the target is the column `target`, `label` or `y`, and the client is `client` or `client_id` if there is
    one. Raises InvalidInput, with the list of columns, if they cannot be determined.

    argument, options: how an error names the table and the two columns.
    """
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        problem = f"the column {repeated[0]!r} comes more than once"
        raise InvalidInput(argument, path, problem, "give every column its own name")
    target = _find(argument, path, columns, options[0], target_column, TARGET_COLUMNS)
    if target is None:
        problem = f"no column is named {' or '.join(TARGET_COLUMNS)}; the columns are {listed(columns)}"
        raise InvalidInput(argument, path, problem, f"name the target with {_with_option(options[0], argument)}")
    client = _find(argument, path, columns, options[1], client_column, CLIENT_COLUMNS)
    if client == target:
        problem = f"is the target column of {_named(argument, path)} as well"
        raise InvalidInput(options[1], columns[target], problem, "name another column")
    features = tuple(j for j in range(len(columns)) if j not in (target, client))
    if not features:
        problem = f"has no features beside {' and '.join(columns)}"
        raise InvalidInput(argument, path, problem, "give at least one feature column")
    return ColumnRoles(target, client, features)


def _find(
    argument: str,
    path: str | os.PathLike[str],
    columns: Sequence[str],
    option: str,
    name: str | None,
    defaults: tuple[str, ...],
) -> int | None:
    if name is not None:
        instance_of(name, str, option, "text", "give the column's name as text")
        if name not in columns:
            problem = f"{_named(argument, path)} has no such column; its columns are {listed(columns)}"
            near = get_close_matches(name, columns, 1)
            raise InvalidInput(option, name, problem, f"name one of them{f', such as {near[0]!r}' if near else ''}")
        return columns.index(name)
    present = [default for default in defaults if default in columns]
    if len(present) > 1:
        cure = f"name it with {_with_option(option, argument)}"
        raise InvalidInput(argument, path, f"has the columns {' and '.join(present)}", cure)
    return columns.index(present[0]) if present else None


def _named(argument: str, path: str | os.PathLike[str]) -> str:
    return os.fspath(path) if argument == "path" else f"the {argument}"


def _with_option(option: str, argument: str) -> str:
    return f"{option} (--{option.replace('_', '-')})" if argument == "path" else option


def listed(columns: Sequence[str], limit: int = 20) -> str:
    """The first names, quoted, for an error."""
    shown = ", ".join(repr(name) for name in columns[:limit])
    return shown if len(columns) <= limit else f"{shown} and {len(columns) - limit} more"
