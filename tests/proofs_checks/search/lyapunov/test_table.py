"""The page on rates is what the code computes."""

from pathlib import Path

import pytest

from fedconvex.proofs_checks.exact_rates import table as theorems
from fedconvex.proofs_checks.search.lyapunov import floors_and_convex_clients
from fedconvex.proofs_checks.search.lyapunov.table import as_markdown, rows

pytestmark = pytest.mark.beyond_core  # takes seconds

PAGE = Path(__file__).resolve().parents[4] / "docs" / "rates.md"


@pytest.mark.slow
def test_the_page_is_what_the_code_computes():
    """The last digits of bounds that are not exact come from a solver in floating point."""
    made, kept = as_markdown().splitlines(), PAGE.read_text("utf-8").splitlines()
    told = "run `python -m fedconvex.proofs_checks.search.lyapunov.table > docs/rates.md`"
    assert len(made) == len(kept), told
    for now, before in zip(made, kept, strict=True):
        if "| an interval |" not in now:
            assert now == before, told
    some = [
        *rows(),
        *theorems.rows(),
        *floors_and_convex_clients.floor_rows(),
        *floors_and_convex_clients.convex_rows(),
        *floors_and_convex_clients.nonconvex_methods(),
    ]
    assert sum(line.startswith("| `") for line in kept) == len(some)


def test_most_rows_are_exact():
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    everyone = [line for line in lines if "| all |" in line]
    assert sum("| exact |" in line for line in everyone) > 0.8 * len(everyone)
    assert not any("| an interval |" in line for line in everyone)
