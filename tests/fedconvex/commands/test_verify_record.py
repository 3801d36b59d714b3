"""`fedconvex verify --record` writes the verdicts whole, keeps the others, and refuses before any work."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from command_runner import running

from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.reporting import cache, recorded
from fedconvex.proofs_checks.reporting.records import Record, record

SOME = ("fedprox.equation6", "fedprox.equation7")
LINES = "fedprox.equation7: proved (lines: 8 proved; as printed: false: w_k^t is printed for w^t"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of one statement, and of one that no paper has."""
    path = tmp_path / "verdicts.json"
    monkeypatch.setattr(recorded, "PATH", path)
    monkeypatch.setenv(cache.ENVIRONMENT_VARIABLE, str(tmp_path / "cache"))
    path.write_text(recorded.as_text(results(SOME[:1])).replace("\n}", ',\n "lost.lemma1": {}\n}'))
    return path


run = running("verify")


def results(names: Iterable[str]) -> list[Record]:
    return [record(verify(name)) for name in names]


def test_a_new_verdict_is_recorded_and_the_others_stay(run: Run, verdicts: Path) -> None:
    assert run(*SOME)[0] == 1  # one is not recorded
    out = run.prints(SOME[1], "--record")
    assert f"recorded: {LINES}" in out
    assert list(json.loads(verdicts.read_text("utf-8"))) == [*SOME, "lost.lemma1"]
    assert run(*SOME)[0] == 0
    assert len(verdicts.read_text("utf-8").splitlines()) == 3 + 2  # one statement a line


def test_a_changed_verdict_is_named_with_the_one_before(run: Run, verdicts: Path) -> None:
    verdicts.write_text(verdicts.read_text("utf-8").replace('"verdict": "proved"', '"verdict": "refuted"'))
    status, out, _ = run(SOME[0], "--record")
    assert (status, "fedprox.equation6: proved (lines: " in out, "; before: refuted (lines: " in out) == (0, True, True)
    assert run(SOME[0])[0] == 0


def test_a_cached_result_is_not_recorded(run: Run, verdicts: Path) -> None:
    run(SOME[0])
    kept = cache.folder() / f"{SOME[0]}.json"
    assert kept.is_file()
    found = cache.load(SOME[0])
    assert found is not None
    cache.store_content(SOME[0], {**found.to_dictionary(), "verdict": "unknown"})
    assert "unknown" in run(SOME[0])[1].lower()
    assert run(SOME[0], "--record")[0] == 0
    assert json.loads(verdicts.read_text("utf-8"))[SOME[0]]["verdict"] == "proved"


def test_all_statements_replace_all_entries(verdicts: Path) -> None:
    new, dropped = recorded.record_verdicts(results(SOME), replace_all=True)
    assert new.startswith(f"{LINES}; holds: with w^t for w_k^t in the first line; content ")
    assert new.endswith("); new")
    assert dropped == "lost.lemma1: dropped, there is no such statement"
    assert list(recorded.recorded()) == list(SOME)


def test_a_damaged_record_is_replaced_only_as_a_whole(run: Run, verdicts: Path) -> None:
    verdicts.write_text("{")
    status, _, error = run(SOME[0], "--record")
    assert status == 1
    assert "recorded verdicts cannot be read" in error
    assert verdicts.read_text() == "{"
    recorded.record_verdicts(results(SOME), replace_all=True)
    assert list(recorded.recorded()) == list(SOME)


def test_an_interrupted_writing_leaves_the_old_record(verdicts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = verdicts.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        recorded.record_verdicts(results(SOME), replace_all=False)
    assert verdicts.read_bytes() == before
    assert [path.name for path in verdicts.parent.iterdir() if path.suffix != ""] == ["verdicts.json"]


@pytest.mark.parametrize("names", [SOME, ()])
def test_a_record_that_cannot_be_written_is_refused_before_any_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr(recorded, "PATH", tmp_path / "none" / "verdicts.json")
    monkeypatch.setattr("fedconvex.proofs_checks.verification._verified", lambda *_: pytest.fail("work was done"))
    error = run.refuses(*names, "--record")
    assert "--record = " in error
    assert "install fedconvex from a checkout" in error
    assert "--record" in run("fedprox.equation6", "--record", "--step", 1)[2]
