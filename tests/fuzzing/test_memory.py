"""Small files that announce or need much memory: an answer or an error, no abort, and memory in proportion."""

import json
import re
import sys
from pathlib import Path

import pytest
from memory_attacks import attempt, frugal
from processes import python, require

from fedconvex import memory

pytestmark = pytest.mark.beyond_core

PROGRAM = Path(__file__).with_name("memory_attacks.py")
SMALL_FILE = 64.0  # MB that reading a file of some hundred bytes may add
MEDIUM_FILE = 400.0  # likewise of some kilobytes that announce gigabytes; half as much again passes through buffers


def outcomes(folder: Path, seed: int, attacks: str = "attacks") -> dict[str, tuple[str, float]]:
    """The outcome of every attack of the set, and the megabytes that it added."""
    output = require(python("-W", "ignore", PROGRAM, folder, seed, attacks))
    # commands and libraries print other lines
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["name"]: (line["outcome"], line["added"]) for line in lines}


def faults(found: dict[str, tuple[str, float]]) -> dict[str, str]:
    """The attacks that ended in neither an answer nor an error of fedconvex."""
    return {name: outcome for name, (outcome, _) in found.items() if outcome.startswith("FAULT")}


@pytest.mark.skipif(sys.platform != "linux", reason="limits and measures memory as Linux does")
class TestTwoGibibytes:
    @pytest.mark.slow
    def test_small_files_take_little_or_are_too_large(self, tmp_path: Path) -> None:
        found = outcomes(tmp_path, 0, "frugal")
        assert faults(found) == {}
        for name in ("repeated_t.parquet", "nested.parquet"):
            assert found[f"load {name}"][0] == "answer"
        for name, (outcome, added) in found.items():
            assert outcome == "answer" or re.search("are left|unpacks to more", outcome), name  # not: damaged
            assert added < MEDIUM_FILE or name == "idx", name  # which takes what there is, block by block

    @pytest.mark.slow
    def test_an_answer_or_a_refusal_and_no_abort(self, tmp_path: Path) -> None:
        found = outcomes(tmp_path, 0)
        assert faults(found) == {}
        for name, (_, added) in found.items():
            if name.startswith("load features_"):
                assert added < SMALL_FILE, name
        assert found["load features_5000000_2_0.svm"][0] == "answer"
        assert found["audit features_20000_12_2.svm"][0] == "status 0"
        assert found["audit features_20000_2_0.svm"][0] == "status 0"
        assert "takes 146.0 GiB" in found["ball least-squares features_20000_12_2.svm"][0]
        assert "are left" in found["load ones.npz"][0]
        assert found["load zeros.npz"][0] == "answer"

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("seed", [15])
    def test_of_random_sizes(self, seed: int, tmp_path: Path) -> None:
        assert faults(outcomes(tmp_path, seed)) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="limits and measures memory as Linux does")
def test_readers_that_do_not_ask_would_be_noticed(tmp_path: Path) -> None:
    """The program reports a process that dies, as FLINT's abort makes it die, and what others take."""
    found = outcomes(tmp_path, 0, "careless")
    assert faults(found).keys() == {"pandas", "fill", "flint"}
    assert found["flint"][0] == "FAULT: signal 6"
    assert found["fill"][0].startswith("FAULT: MemoryError")
    assert found["touch"][1] > MEDIUM_FILE


def test_every_reader_asks_before_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where next to nothing is left, each names the memory, not damage; a nested column is not read at all."""
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    for name, attack in frugal(tmp_path, 0):
        outcome = attempt(attack)
        assert re.search("are left|unpacks to more", outcome) or (name, outcome) == ("load nested.parquet", "answer")
