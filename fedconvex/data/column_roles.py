"""Which columns are target, client and features where the user did not say it, and which could be the client."""

import re
from collections.abc import Sequence

import numpy as np

from fedconvex.data.columns import Column
from fedconvex.data.findings import Finding, TableSource
from fedconvex.data.table import CLIENT_COLUMNS, TARGET_COLUMNS, ColumnRoles, listed, roles
from fedconvex.errors import InvalidInput
from fedconvex.validation import instance_of

CLIENT_NAME = re.compile(
    r"client|hospital|clinic|site|cent(?:er|re)|ward|institut|bank|branch|store|shop|device|user|phone|node|school|region"
    r"|country|state|city|county|group|station|plant|writer|speaker",
    re.IGNORECASE,
)
DEFAULT_CLIENTS = 10
SHOWN = 3  # candidates that a message names


def find_roles(
    columns: Sequence[Column],
    source: TableSource,
    target_column: str | None,
    client_column: str | None,
    dropped: Sequence[str],
    has_clients: bool,
) -> tuple[ColumnRoles, list[Finding]]:
    """The roles of the columns, as `fedconvex.data.table.roles` has them, or as suggested in the findings.

    has_clients: whether the rows are divided among clients without a client column.
    """
    for name, option in ((target_column, source.target), (client_column, source.client)):
        if name is not None:
            instance_of(name, str, option, "text", "give the column's name as text")
    findings: list[Finding] = []
    names = [column.name for column in columns]
    free = [column for column in columns if column.name not in (*dropped, target_column, client_column)]
    suggested: str | None = None
    if client_column is None and not has_clients and not set(CLIENT_COLUMNS) & {column.name for column in free}:
        candidates = client_candidates(
            [column for column in free if target_column is not None or column.name not in TARGET_COLUMNS]
        )
        suggested = candidates[0].name if candidates else None
        findings.append(_clients(candidates, len(source.numbers), source))
    if target_column is None and not any(column.name in TARGET_COLUMNS for column in free):
        target_column = _likely_target([column for column in free if column.name != suggested], names)
        if target_column is None:  # `roles` has the error
            return _roles(source, names, None, client_column), findings
        problem = f"no column is named {' or '.join(TARGET_COLUMNS)}; the columns are {listed(names)}"
        findings.insert(0, Finding(problem, {source.target: target_column}, "name the column to predict"))
        if suggested == target_column:
            suggested = None
    return _roles(source, names, target_column, client_column or suggested), findings


def _roles(source: TableSource, names: Sequence[str], target: str | None, client: str | None) -> ColumnRoles:
    return roles(source.value, names, target, client, source.argument, (source.target, source.client))


def client_candidates(columns: Sequence[Column]) -> list[Column]:
    """The columns that could say which client has a row: texts or whole numbers with few values, the likeliest first.

    Each value must have two rows on average, and there must be two values. Names such as `hospital` come before others,
    then text before numbers.
    """
    found = [column for column in columns if _could_be_clients(column)]
    return sorted(found, key=lambda column: (CLIENT_NAME.search(column.name) is None, column.typed is not None))


def _could_be_clients(column: Column) -> bool:
    named = CLIENT_NAME.search(column.name) is not None
    if column.content not in ("texts", "numbers", "mixed") or not 2 <= column.distinct <= column.present / 2:
        return False
    if column.content == "numbers":
        values = column.values[~column.missing]
        # numbers that are measured have few values, too: only names tell 0/1 features from clients
        return named and bool(np.all(values == np.rint(values)))
    return named or column.distinct > 2  # texts of two values: mostly sex, or yes and no


def _clients(candidates: Sequence[Column], rows: int, source: TableSource) -> Finding:
    problem = "has no client column that assigns its rows to clients"
    if not candidates:
        divided = {"clients": min(DEFAULT_CLIENTS, rows), "partition": "iid"}
        return Finding(problem, divided, f"name one with {_option(source.client, source)}")
    shown = " or ".join(f"{column.name!r} ({column.distinct} values)" for column in candidates[:SHOWN])
    command = "" if source.style == "Python" else " (--clients N --partition iid)"
    cure = f"divide the rows with clients and partition{command}"
    return Finding(f"{problem}, which {shown} could be", {source.client: candidates[0].name}, cure)


def _option(name: str, source: TableSource) -> str:
    return name if source.style == "Python" else f"{name} (--{name.replace('_', '-')} NAME)"


def _likely_target(columns: Sequence[Column], names: Sequence[str]) -> str | None:
    """The last column that can be predicted, which is where most tables have it."""
    if len(names) < 2:
        return None
    for column in reversed(columns):
        if column.content in ("numbers", "texts") and not column.is_identifier and column.distinct > 1:
            return column.name
    return None


def check_names(
    columns: Sequence[Column], place: ColumnRoles, dropped: Sequence[str], encoded: Sequence[str], source: TableSource
) -> None:
    """Raises InvalidInput where `drop` or `one_hot` names no column, or one that is no feature."""
    names = [column.name for column in columns]
    taken = {names[place.target]: "the target"} | ({} if place.client is None else {names[place.client]: "the client"})
    for argument, given in (("drop", dropped), ("one_hot", encoded)):
        for name in given:
            if name not in names:
                raise InvalidInput(argument, name, f"is no column; the columns are {listed(names)}", "name one of them")
            if name in taken:
                raise InvalidInput(argument, name, f"is {taken[name]} column", "name a feature")
