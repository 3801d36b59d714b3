"""Published tables in the experiments' files: a row for each accuracy of each data set, a column for each method.

[published]
methods = ["FedDyn", "SCAFFOLD"]
source = "Table 2"

[published.rows]
IID = { "98.2" = [100, 142], "97.2" = [31, 52] }  # accuracy in per cent = models sent until it is reached
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fedconvex.reproduce.toml_files import Section, require_known, wrong

KEYS = ("methods", "rows", "ours", "source", "within", "why")
OURS = "models(which, data, method)"


class PublishedRow(NamedTuple):
    """One row of a published table."""

    data: str
    which: int  # the position of the row's accuracy among those of its data
    label: str  # "98.2"; empty if the data have one accuracy, which the table does not name
    values: Sequence[Any]


def rows_of(published: Section) -> list[PublishedRow]:
    """All rows, in the file's order."""
    return [
        PublishedRow(data, i, label, values)
        for data, by_level in published["rows"].items()
        for i, (label, values) in enumerate((by_level if isinstance(by_level, Mapping) else {"": by_level}).items())
    ]


def require_table(file: Path, published: Section, data: Section) -> None:
    """Raises InvalidInput unless every row has a value for each method, a known data label and a valid accuracy."""
    require_known(file, "published", published, KEYS)
    for key in ("methods", "rows", "source"):
        if key not in published:
            raise wrong(file, f"published.{key}", None, "is missing", "add it")
    if not isinstance(published["rows"], Mapping):
        raise wrong(file, "published.rows", published["rows"], "is no table", "write [published.rows]")
    for row in rows_of(published):
        place = f"published.rows.{row.data}" + (f".{row.label}" if row.label else "")
        if row.data not in data:
            raise wrong(file, place, row.data, "is no data of this file", "correct the label")
        if not isinstance(row.values, list) or len(row.values) != len(published["methods"]):
            columns = ", ".join(published["methods"])
            raise wrong(file, place, row.values, "is not one value per method", f"give those of {columns}")
        if row.label and not re.fullmatch(r"\d+(\.\d+)?", row.label):
            raise wrong(file, place, row.label, "is no level in per cent", 'write such as "98.2"')


def levels_of(published: Section) -> dict[str, list[float]]:
    """The accuracies of the rows, by data label, as fractions of 1."""
    found: dict[str, list[float]] = {}
    for row in rows_of(published):
        if row.label:
            found.setdefault(row.data, []).append(float(f"{row.label}e-2"))  # 98.2 / 100 may round to another float
    return found


def numbers_of(published: Section, levels: Mapping[str, Sequence[float]]) -> list[Section]:
    """An entry of `numbers` for every cell of the table, to compare it with our runs."""
    rest = {"ours": OURS} | {key: value for key, value in published.items() if key not in ("methods", "rows")}
    return [
        {
            "what": f"{row.data}{f', {100 * levels[row.data][row.which]:.4g} %' if row.label else ''}: {method}",
            "published": value,
            "given": {"data": row.data, "which": row.which, "method": method},
            **rest,
        }
        for row in rows_of(published)
        for method, value in zip(published["methods"], row.values, strict=True)
    ]
