"""The numbers that the guide's pages on looseness and rates show are what the code computes, row by row."""

import json
import re

import numpy as np
import pytest
from documents import DOCS, making

pytestmark = pytest.mark.beyond_core  # takes seconds

ROWS: dict[str, list[list[str]]] = json.loads((DOCS / "making/recorded_tables.json").read_text("utf-8"))
# How many of a row's first cells say what it is about.
ABOUT = {"looseness_of_theorems": 2, "looseness_of_lemmas": 2, "used_by_instances": 1, "theorems_on_rates": 1}
ABOUT |= {"rates": 3, "error_floors": 4, "convex_clients": 3, "nonconvex_clients": 2}
# How much its numbers may differ: on other processors, solvers in floating point find a little other ones.
NEAR, MINIMISED = 2e-3, 0.05
AT_ONCE = 8  # rows of a test: few tests start sooner, and none shall take minutes
INTERVAL = re.compile(r"(\d+(?:\.\d+)?)(?: … (\d+(?:\.\d+)?))?")


def agree(now: list[str], before: list[str], about: int, tolerance: float) -> bool:
    """Equal in what the row is about and where it says that it is exact, and near in its other numbers."""
    if now[:about] != before[:about] or "exact" in before:
        return now == before
    if "an interval" in before:  # whose width and name depend on the solver
        now, before = now[:-2], before[:-2]
    numbers, words = ([], []), ([], [])
    for i, row in enumerate((now, before)):
        for cell in row[about:]:
            # An interval may be so short that one number stands for both its bounds.
            numbers[i].extend(float(x) for one in INTERVAL.findall(cell) for x in (one[0], one[1] or one[0]))
            words[i].append(INTERVAL.sub("#", cell))
    return words[0] == words[1] and np.allclose(*numbers, rtol=tolerance, atol=1e-6)


def test_what_agrees() -> None:
    row = ["`FedGD(stepsize=1/8)`", "all", "0.5359", "1.236 … 1.239", "1.001 and 0"]
    for near in ({2: "0.54"}, {3: "1.238"}, {4: "1 and 0"}):
        assert agree([near.get(i, cell) for i, cell in enumerate(row)], row, 2, 0.05)
    for far in ({0: "`FedGD(stepsize=1/9)`"}, {2: "0.6"}, {3: "1.2 … 1.4"}, {4: "1.001 and 1"}, {4: "none found"}):
        assert not agree([far.get(i, cell) for i, cell in enumerate(row)], row, 2, 0.05)
    assert not agree([*row[:2], "0.54", *row[3:], "exact"], [*row, "exact"], 2, 0.05)
    assert agree(["a", "0.91 … 0.92", "tight", "x"], ["a", "0.91 … 0.93", "an interval", "y"], 1, 0.05)


PARTS = [(name, part) for name, rows in ROWS.items() for part in range(0, len(rows), AT_ONCE)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PARTS)
def test_rows_are_what_the_code_computes(name: str, part: int) -> None:
    made, rows = making("recorded_tables"), slice(part, part + AT_ONCE)
    table, tolerance = made.TABLES[name], MINIMISED if "clients" in name or name in ("rates", "error_floors") else NEAR
    now = [made.recorded_cells(name, table.cells(*case)) for case in list(table.cases())[rows]]
    differ = [
        one for one, before in zip(now, ROWS[name][rows], strict=True) if not agree(one, before, ABOUT[name], tolerance)
    ]
    assert differ == [], f"run `python docs/making/recorded_tables.py {name}`"


def test_every_case_has_a_row() -> None:
    tables = making("recorded_tables").TABLES
    lengths = {name: len(list(table.cases())) for name, table in tables.items()}
    assert lengths == {name: len(rows) for name, rows in ROWS.items()}, "run `python docs/making/recorded_tables.py`"
    assert ROWS.keys() == ABOUT.keys()


def test_most_rates_are_exact() -> None:
    everyone = [row for row in ROWS["rates"] if row[2] == "all"]
    assert sum(row[4] == "exact" for row in everyone) > 0.8 * len(everyone)
    assert not any(row[4] == "an interval" for row in everyone)
