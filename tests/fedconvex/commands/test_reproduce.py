"""`fedconvex reproduce` as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_runner import running

from fedconvex.reproduce.specification import experiments
from fedconvex.reproduce.summary import PACKAGED, last_results

pytestmark = pytest.mark.beyond_core  # takes seconds
command = running("reproduce")


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FEDCONVEX_DATA", raising=False)


def test_the_two_fastest_from_end_to_end(command: Any, tmp_path: Path) -> None:
    out = command.prints("fedsplit.figure1", "feddyn.figure3", "--quick", "--out", "here", "--jobs", 1)
    for key in ("fedsplit.figure1", "feddyn.figure3"):
        folder = tmp_path / "here" / "quick" / key
        assert {"summary.json", "figure.png", "figure.svg"} <= {path.name for path in folder.iterdir()}
        assert json.loads((folder / "summary.json").read_text("utf-8"))["quick"] is True
    floors = json.loads((tmp_path / "here/quick/fedsplit.figure1/summary.json").read_text("utf-8"))
    assert all(row["ours"] == pytest.approx(row["theory"], rel=1e-6) for row in floors["numbers"])
    assert {claim["verdict"] for claim in floors["claims"]} == {"reproduced"}
    assert "reproduced: where they stop is the closed form" in out
    assert "digits of 8 × 8 pixels in place of MNIST" in out
    out = command.prints("claims", "--out", "here")
    assert "FedProx and FedGD with e > 1 fail to converge" in out
    out = command.prints("table", "--out", "here")
    assert "| `fedsplit.figure1` |" in out


def test_the_list_says_what_is_needed(command: Any) -> None:
    out = command.prints("list")
    assert all(key in out for key in experiments())
    assert "mnist (not found)" in out


def test_missing_files_fail_only_what_was_asked_for_by_its_id(command: Any) -> None:
    out = command.prints("fedsplit.figure2b", "--quick", status=1)
    assert "not run: needs femnist/*.json*" in out
    assert "--data-dir DIR or FEDCONVEX_DATA" in out
    out = command.prints("fedsplit.figure2b", "--quick", "--data-dir", ".", status=1)
    assert "not in ." in out


def test_a_whole_paper_goes_on_past_missing_files(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedconvex.reproduce import specification

    known = {k: e for k, e in experiments(quick=True).items() if k in ("fedsplit.figure2b", "fedsplit.other_claims")}
    monkeypatch.setattr(specification, "experiments", lambda quick=False: known)
    out = command.prints("all", "--quick")
    assert "not run: needs femnist" in out
    assert "not testable here: practitioners" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fedsplit.figure11",), "id = fedsplit.figure11: is not known; did you mean fedsplit.figure1?"),
        (("fedsplit", "--data-dir", "nowhere"), "--data-dir = nowhere: is no folder; give the folder that holds"),
        (("fedsplit", "--jobs", 0), "--jobs = 0: must be at least 1"),
        ((), "Missing argument"),
    ],
)
def test_bad_input_is_refused(command: Any, arguments: Any, message: str) -> None:
    assert message in command.refuses(*arguments)


def test_damaged_results_are_refused(command: Any, tmp_path: Path) -> None:
    folder = tmp_path / "here" / "fedsplit.figure1"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text("{")
    assert "is no JSON" in command.refuses("claims", "--out", "here")


def test_results_that_are_kept_belong_to_experiments(tmp_path: Path) -> None:
    known = experiments()
    files = sorted(PACKAGED.glob("*.json"))
    assert files
    for file in files:
        content = json.loads(file.read_text("utf-8"))
        assert content["id"] == file.stem
        assert content["quick"] is False
        assert [c["claim"] for c in content["claims"]] == [c["claim"] for c in known[file.stem].claims]
        assert [n["what"] for n in content["numbers"]] == [n["what"] for n in known[file.stem].numbers]
        assert content["processor"]
        assert content["date"]
    assert set(last_results(known, tmp_path)) >= {file.stem for file in files}
