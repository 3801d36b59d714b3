"""`fedconvex verify --rocq` and `--kernel rocq`: files that need no Rocq, and errors before any work."""

from pathlib import Path

import pytest

from fedconvex.commands.verify import verify
from fedconvex.commands.verify_rocq import write_and_check
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.rocq import files, recording
from fedconvex.proofs_checks.rocq.accepted import accepted
from fedconvex.proofs_checks.rocq.files import exported
from fedconvex.proofs_checks.rocq.recording import unrecorded
from fedconvex.theory import statement


def test_it_writes_theorems_and_says_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "REFUSED_BY_ROCQ", frozenset({"fedprox.equation14"}))
    chosen = [statement("feddyn.equation4"), statement("fedprox.equation14"), statement("fedprox.definition1")]
    write_and_check(tmp_path / "theories", chosen, compiled=False)
    said = capsys.readouterr().out
    assert "fedprox.equation14: not exported: Rocq needs more than 20 seconds for the generated proof" in said
    assert "fedprox.definition1: not exported: it has no claim as data" in said
    assert "1 of 3 statements exported" in said
    assert "checked by Rocq" not in said
    assert (tmp_path / "theories" / "Statements" / "feddyn_equation4.v").is_file()


def test_without_rocq_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="apt install coq"):
        write_and_check(tmp_path / "theories", [statement("feddyn.equation4")], compiled=True)
    assert not (tmp_path / "theories").exists()


def test_only_what_the_record_does_not_have_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another text, one that a changed one cites, all of them with another version or library."""
    cites, cited, third = (exported(statement(f"feddyn.{name}")) for name in ("equation17", "lemma16", "equation4"))
    assert cites.cited == (cited.identifier,)
    chosen = [cited, cites, third]
    version = accepted()["rocq"]
    assert unrecorded(version, chosen) == []
    assert unrecorded("9.1.0", chosen) == chosen
    known = accepted()["theorems"]
    for name, found in ((third.identifier, [third]), (cited.identifier, [cited]), (cites.identifier, [cited, cites])):
        changed = {**accepted(), "theorems": {**known, name: "another"}}
        monkeypatch.setattr(recording, "accepted", lambda changed=changed: changed)
        assert unrecorded(version, chosen) == found
    monkeypatch.setattr(recording, "accepted", lambda: {**accepted(), "library": "another"})
    assert unrecorded(version, chosen) == chosen
    with pytest.raises(InvalidInput, match="give --kernel rocq as well"):
        verify(["feddyn.lemma1"], unrecorded=True)


def test_what_rocq_accepts_is_recorded_only_where_it_checks(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="give --kernel rocq as well"):
        verify(["feddyn.equation4"], rocq=tmp_path / "theories", record=True)
    assert not (tmp_path / "theories").exists()
