"""The guide's tables of computed numbers, and the record of them with which tests compare every row.

`python docs/making/recorded_tables.py [NAME …]` computes them anew, or those of these names, and records them: minutes.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import looseness_tables
import rate_tables

from fedconvex.safe_text import markdown_table

FILE = Path(__file__).with_suffix(".json")
TABLES = {**looseness_tables.TABLES, **rate_tables.TABLES}
# Tables that take a second: the guide computes them, and the record has the columns with numbers.
QUICK = {"used_by_instances": (0, 1), "theorems_on_rates": (0, 2, 6)}


@cache
def recorded_rows() -> dict[str, list[list[str]]]:
    """The recorded rows of every table."""
    found: dict[str, list[list[str]]] = json.loads(FILE.read_text("utf-8"))
    return found


def recorded_cells(name: str, cells: Sequence[str]) -> list[str]:
    """What the record has of a row of this table."""
    return [cells[i] for i in QUICK.get(name, range(len(cells)))]


def as_markdown(name: str) -> str:
    """The table as the guide shows it."""
    return TABLES[name].as_markdown() if name in QUICK else markdown_table(TABLES[name].head, recorded_rows()[name])


def write(tables: Mapping[str, Sequence[Sequence[str]]]) -> None:
    """Records the tables, one row a line, so that a change can be read."""
    rows = {name: ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in tables[name]) for name in tables}
    FILE.write_text("{\n" + ",\n".join(f' "{name}": [\n{rows[name]}\n ]' for name in rows) + "\n}\n", "utf-8")


if __name__ == "__main__":
    new = {n: [recorded_cells(n, cells) for cells in TABLES[n].rows()] for n in sys.argv[1:] or TABLES}
    write({**recorded_rows(), **new})
