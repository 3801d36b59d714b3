"""The script for an issue runs in NumPy alone, and its expected numbers are the exact trajectory's."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted_edits import CASES, EDITS, report_on

from fedconvex.conformance.issue import LONGEST
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

SCRIPTED = [case for case in CASES if "pFedMe" not in case and case not in ("Ditto", "FedAvg", "FedNova, momentum")]


def printed(text: str) -> dict[str, np.ndarray]:
    """What the script prints, by its word."""
    rows = re.findall(r"^(expected|found) +\[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
    return {name: np.array([float(part) for part in numbers.split()]) for name, numbers in rows}


def executed(script: str) -> dict[str, np.ndarray]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, "issue", "exec"), {"__name__": "issue"})  # noqa: S102 - our own text
    return printed(out.getvalue())


@pytest.mark.sample(6)
@pytest.mark.parametrize("clients_known", [True, False])
@pytest.mark.parametrize("case", SCRIPTED)
def test_the_scripts_numbers_are_those_of_the_report(case: str, clients_known: bool) -> None:
    for name in list(EDITS[case])[:: max(1, len(EDITS[case]) // 3)]:
        report = report_on(case, name, clients_known=clients_known)
        script = report.issue()
        assert script.count("\n") <= LONGEST
        assert "fedconvex" not in script
        found = executed(script)
        shown = [d for d in report.deviations if np.allclose(found["found"], d.found, rtol=1e-6)]
        assert any(np.allclose(found["expected"], d.expected, rtol=1e-6, atol=1e-7) for d in shown), (name, script)


def test_the_script_runs_alone(tmp_path: Path) -> None:
    script = report_on("FedProx, steps", "the proximal gradient has the wrong sign").issue()
    (tmp_path / "issue.py").write_text(script, "utf-8")
    done = subprocess.run([sys.executable, "-I", "issue.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(printed(done.stdout)) == {"expected", "found"}


@pytest.mark.parametrize(
    ("case", "names"), [("FedGD", ()), ("pFedMe, exact", ("local steps lack the factor regularization",))]
)
def test_without_a_deviation_or_a_short_script_it_is_refused(case: str, names: Any) -> None:
    with pytest.raises(InvalidInput, match="report = "):
        report_on(case, *names).issue()
