"""The whole catalogue, verified anew: verdicts as recorded and as in the guide, and each one by the rules."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import making
from rich.cells import cell_len

from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.proofs_checks import Result, catalogue, papers_with_proofs, verify, verify_all
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.readings import UNDECIDED
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting.recorded import differences, recorded
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.proofs_checks.reporting.results import chosen
from fedconvex.proofs_checks.reporting.views import screen
from fedconvex.shown import COLUMNS, LINES
from fedconvex.theory import papers
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core  # takes a minute

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {result.statement.identifier: result for result in verify_all(chosen([]))}


@pytest.fixture(scope="module")
def records(results: dict[str, Result]) -> list[Record]:
    return [record(result) for result in results.values()]


# ---- as recorded


def test_every_statement_is_decided_as_recorded(records: list[Record]) -> None:
    assert not differences(records)
    assert set(recorded()) == {r.identifier for r in records}


def test_the_guide_has_these_verdicts(records: list[Record]) -> None:
    listed = dict(re.findall(r"^\| `([\w.]+)` \| (\w+)", making("verdict_page").as_markdown(records), re.MULTILINE))
    assert listed == {r.identifier: r.verdict for r in records}


def test_every_recorded_statement_is_proved_refuted_or_compared() -> None:
    assert {found["verdict"] for found in recorded().values()} <= {"proved", "refuted", "compared"}


def test_every_statement_of_the_papers_has_an_entry() -> None:
    known = set(recorded())
    assert {"fedprox", "fedsplit", "feddyn"} <= set(papers_with_proofs())
    for name in papers_with_proofs():
        assert {s.identifier for s in papers()[name].everything} <= known
    assert {s.identifier for s in catalogue()} == {s.identifier for paper in papers().values() for s in paper}


def test_the_file_is_written_one_statement_a_line() -> None:
    text = (ROOT / "proofs_checks" / "verdicts.json").read_text("utf-8")
    assert len(text.splitlines()) == len(json.loads(text)) + 2


# ---- by the rules


def test_a_statement_is_proved_where_the_kernel_replays_its_proof(results: dict[str, Result]) -> None:
    """Or where each of its parts is, such as the cases of a theorem."""
    for name, found in results.items():
        parts = [part.identifier for part in found.statement.stated_by if part is not found.statement]
        assert (found.theorem is not None) == (builder_of(found.statement) is not None), name
        proved = found.theorem is not None or (bool(parts) and all(results[part].theorem is not None for part in parts))
        assert proved == (found.verdict is Verdict.PROVED), name
        if found.theorem is not None:
            assert found.theorem.claim == found.statement.claim, name
            assert found.theorem.setting == found.statement.setting, name


def test_the_other_verdicts_have_their_reasons(results: dict[str, Result]) -> None:
    for name, found in results.items():
        said = remarks_of(found.statement)
        refuted = found.verdict is Verdict.REFUTED
        assert refuted == (said.breaks is not None or said.refutation is not None) == (found.witness is not None), name
        assert refuted == (found.replayed is not None and found.replayed.verdict is Verdict.REFUTED), name
        assert refuted == (found.corrected is not None), name
        if refuted and found.statement.claim is not None:
            assert said.breaks is not None, name
            assert offences(found.statement.setting, said.breaks()) == [], name
            assert found.statement.claim.on(said.breaks()).holds is False, name
        if found.verdict is Verdict.COMPARED:
            assert said.compared, name
        if found.verdict is Verdict.UNKNOWN:
            assert not said.compared, name
            assert (found.as_printed, found.holds) == (UNDECIDED, UNDECIDED), name
        assert found.verdict is not Verdict.ASSUMED, name


def test_every_line_is_what_it_should_be(results: dict[str, Result], records: list[Record]) -> None:
    expected = {Role.PROOF: Verdict.PROVED, Role.COMPARED: Verdict.COMPARED, Role.PRINTED: Verdict.REFUTED}
    for found in records:
        for role, verdict in expected.items():
            assert found.lines(role) == found.lines(role, verdict), found.identifier
        assert bool(found.lines(Role.PROOF)) == (found.verdict == "proved"), found.identifier
        assert bool(found.kernel) == (results[found.identifier].theorem is not None), found.identifier
        lines = screen(found).splitlines()
        assert len(lines) <= LINES, found.identifier
        assert max(map(cell_len, lines)) <= COLUMNS, found.identifier
    used = [float(r.tightness["quotient"]) for r in records if r.tightness]
    assert max(used) <= 1
    assert len(used) > 60


def test_ours_and_what_is_false_are_told_apart(results: dict[str, Result]) -> None:
    for name, found in results.items():
        assert (found.as_printed == "false") == (found.verdict is Verdict.REFUTED), name
        if found.verdict is Verdict.REFUTED:
            assert found.corrected is not None
            corrected = results[found.corrected.identifier].verdict
            assert (found.holds != UNDECIDED) == (corrected is Verdict.PROVED), name


def test_refuted_statements_have_a_program_that_runs_alone(results: dict[str, Result], tmp_path: Path) -> None:
    refuted = {name: found for name, found in results.items() if found.verdict is Verdict.REFUTED}
    assert len(refuted) >= 4
    for name, found in refuted.items():
        assert found.witness is not None
        file = tmp_path / "witness.py"
        compared = {"<=": "left > right", "<": "left >= right", "=": "left != right"}[found.witness.relation]
        file.write_text(f"{found.witness.program}\nprint({compared})\n", "utf-8")
        ran = subprocess.run([sys.executable, "-I", file], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == "True", name


def test_what_is_corrected_holds_or_is_what_the_code_computes() -> None:
    for name, found in recorded().items():
        if found["verdict"] == "refuted":
            assert recorded()[found["corrected"]]["verdict"] in ("proved", "compared"), name
            assert verify(found["corrected"]).verdict is not Verdict.REFUTED, name
