"""Small files that announce or need much memory: an answer or an error, no abort, and memory in proportion."""

import json
import sys
from pathlib import Path

import pytest
from processes import python, require

pytestmark = pytest.mark.beyond_core

PROGRAM = Path(__file__).with_name("memory_attacks.py")
SMALL_FILE = 64.0  # MB that reading a file of some hundred bytes may add


def outcomes(folder: Path, seed: int) -> dict[str, tuple[str, float]]:
    """The outcome of every attack, and the megabytes that it added."""
    return read(require(python("-W", "ignore", PROGRAM, folder, seed)))


def read(output: str) -> dict[str, tuple[str, float]]:
    """What the program printed about the attacks; commands and libraries print other lines."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return {line["name"]: (line["outcome"], line["added"]) for line in lines}


def faults(found: dict[str, tuple[str, float]]) -> dict[str, str]:
    """The attacks that ended in neither an answer nor an error of fedconvex."""
    return {name: outcome for name, (outcome, _) in found.items() if outcome.startswith("FAULT")}


@pytest.mark.skipif(sys.platform != "linux", reason="limits and measures memory as Linux does")
class TestTwoGibibytes:
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


def test_an_abort_would_be_noticed(tmp_path: Path) -> None:
    """The program reports a process that dies, as FLINT's abort makes it die."""
    attack = "import flint; flint.arb_mat(20_000, 20_000)"
    program = tmp_path / "abort.py"
    program.write_text(
        f"import sys\nsys.path.insert(0, {str(PROGRAM.parent)!r})\nimport memory_attacks as m\n"
        f"def attacks(folder, seed):\n    def abort():\n        {attack}\n    yield 'flint', abort\n"
        "    def fill():\n        bytearray(3 * 2**30)\n    yield 'fill', fill\n"
        "m.attacks = attacks\nm.main()\n"
    )
    found = faults(read(require(python(program, ".", 0))))
    assert found["flint"] == "FAULT: signal 6"
    assert found["fill"].startswith("FAULT: MemoryError")
