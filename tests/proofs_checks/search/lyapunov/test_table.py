"""The page on rates is what the code computes."""

import re
from pathlib import Path

import numpy as np
import pytest

from fedconvex.proofs_checks.exact_rates import table as theorems
from fedconvex.proofs_checks.search.lyapunov import floors_and_convex_clients
from fedconvex.proofs_checks.search.lyapunov.table import as_markdown, rows

pytestmark = pytest.mark.beyond_core  # takes seconds

PAGE = Path(__file__).resolve().parents[4] / "docs" / "rates.md"


NUMBER = re.compile(r"(?<![\w/])\d+\.\d+|(?<=\| )\d+(?= )|(?<=and )\d+(?= \|)")


def says_the_same(now, before):
    """Equal where the row says that it is exact, and else up to a twentieth of its numbers."""
    if "| exact |" in now or not now.startswith("| `"):
        return now == before
    numbers = [[float(x) for x in NUMBER.findall(line)] for line in (now, before)]
    return NUMBER.sub("#", now) == NUMBER.sub("#", before) and np.allclose(*numbers, rtol=0.05, atol=1e-6)


def test_what_says_the_same():
    row = "| `FedGD(stepsize=1/8)` | all | 0.5359 | 1 | 0.0676 | 1.001 and 0 |"
    assert says_the_same(row, row.replace("0.5359", "0.54").replace("1.001", "1"))
    assert not says_the_same(row, row.replace("0.5359", "0.6"))
    assert not says_the_same(row, row.replace("1/8", "1/9"))
    assert not says_the_same(row, row.replace("and 0", "and 1"))
    assert not says_the_same(row + " exact |", row.replace("0.5359", "0.54") + " exact |")


@pytest.mark.slow
def test_the_page_is_what_the_code_computes():
    """Constants that are not exact come from a solver in floating point: other processors find them a little larger."""
    made, kept = as_markdown().splitlines(), PAGE.read_text("utf-8").splitlines()
    told = "run `python -m fedconvex.proofs_checks.search.lyapunov.table > docs/rates.md`"
    assert len(made) == len(kept), told
    for now, before in zip(made, kept, strict=True):
        if "| an interval |" not in now:
            assert says_the_same(now, before), told
    some = [
        *rows(),
        *theorems.rows(),
        *floors_and_convex_clients.floor_rows(),
        *floors_and_convex_clients.convex_rows(),
        *floors_and_convex_clients.nonconvex_rows(),
    ]
    assert sum(line.startswith("| `") for line in kept) == len(some)


def test_most_rows_are_exact():
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    everyone = [line for line in lines if "| all |" in line]
    assert sum("| exact |" in line for line in everyone) > 0.8 * len(everyone)
    assert not any("| an interval |" in line for line in everyone)
