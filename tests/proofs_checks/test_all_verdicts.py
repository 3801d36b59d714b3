"""The whole catalogue, verified anew: verdicts as recorded and as in the guide; witnesses run without the package."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fedconvex.proofs_checks import catalogue, papers_with_proofs, verify, verify_all
from fedconvex.proofs_checks.proof import Role
from fedconvex.proofs_checks.reporting.markdown import as_markdown
from fedconvex.proofs_checks.reporting.recorded import differences, recorded
from fedconvex.proofs_checks.reporting.records import Record, record, totals
from fedconvex.proofs_checks.reporting.results import chosen
from fedconvex.proofs_checks.reporting.screen import screen
from fedconvex.theory import papers
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes a minute

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verdicts.md"
RENEW = "run `python -m fedconvex.proofs_checks.reporting.markdown > docs/verdicts.md`"


def test_every_statement_is_decided_as_recorded() -> None:
    results = list(verify_all(chosen([])))
    records = [record(result) for result in results]
    assert not differences(records)
    assert set(recorded()) == {r.identifier for r in records}
    page = PAGE.read_text("utf-8")
    listed = set(re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE))  # the guide adds what is newer when it is built
    assert page == as_markdown([r for r in records if r.identifier in listed]), RENEW
    sums = totals(records)
    assert sums["statements"][Verdict.UNKNOWN.value] == sums["statements"][Verdict.ASSUMED.value] == 0
    assert sums["displayed_steps_decided"] >= 0.95 * sums["displayed_steps"]
    for found in records:
        check_one(found)
    used = [float(r.tightness["quotient"]) for r in records if r.tightness]
    assert max(used) <= 1
    assert len(used) > 60


def check_one(found: Record) -> None:
    assert found.steps
    assert len(screen(found).splitlines()) <= 40, found.identifier
    assert "undecided" not in (found.as_printed, found.holds), found.identifier
    refuted = found.verdict == Verdict.REFUTED.value
    assert refuted == (found.witness is not None) == (found.corrected is not None), found.identifier
    for step in found.steps:
        proof = step.role == Role.PROOF.value
        assert step.verdict == Verdict.PROVED.value or not proof or refuted, (found.identifier, step)


def test_refuted_statements_have_a_program_that_runs_alone_and_something_that_holds(tmp_path: Path) -> None:
    refuted = [name for name, entry in recorded().items() if entry["verdict"] == Verdict.REFUTED.value]
    assert len(refuted) >= 4
    for name in refuted:
        result = verify(name)
        assert result.witness is not None
        assert result.corrected is not None
        assert verify(result.corrected).verdict is Verdict.PROVED
        program = result.witness.program
        assert len([line for line in program.splitlines() if line.strip()]) <= 20
        file = tmp_path / "witness.py"
        compared = {"<=": "left > right", "<": "left >= right", "=": "left != right"}[result.witness.relation]
        file.write_text(f"{program}\nprint({compared})\n", "utf-8")
        ran = subprocess.run([sys.executable, "-I", file], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == "True", name


def test_every_statement_of_the_papers_has_an_entry() -> None:
    known = set(recorded())
    assert {"fedprox", "fedsplit", "feddyn"} <= set(papers_with_proofs())
    for name in papers_with_proofs():
        assert {s.identifier for s in papers()[name].everything} <= known
    assert {s.identifier for s in catalogue()} == {s.identifier for paper in papers().values() for s in paper}


def test_the_file_is_written_one_statement_a_line() -> None:
    path = Path(__file__).resolve().parents[2] / "proofs_checks" / "verdicts.json"
    assert len(path.read_text("utf-8").splitlines()) == len(json.loads(path.read_text("utf-8"))) + 2
