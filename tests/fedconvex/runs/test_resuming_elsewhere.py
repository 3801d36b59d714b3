"""A checkpoint says which instruction sets computed it; resuming on others is a warning, or refused."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import python, require
from run_makers import bits, read, write
from run_makers import stoppable as run

import fedconvex as fc
from fedconvex.arithmetic.instruction_sets import distinct, instruction_sets, require_same
from fedconvex.errors import InvalidInput, ResumedElsewhere
from fedconvex.runs import checkpoints

HERE = {"processor": "A", "numpy": "AVX2", "BLAS": "openblas Haswell"}
WIDER = HERE | {"processor": "B", "numpy": "AVX512"}
METHOD = fc.FedDyn(alpha=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.npz"


def machine(monkeypatch: pytest.MonkeyPatch, sets: dict[str, str]) -> None:
    monkeypatch.setattr(checkpoints, "instruction_sets", lambda device: sets)


def edited(path: Path, computed_with: Any) -> None:
    arrays = read(path)
    about = json.loads(arrays["about"].tobytes()) | {"computed_with": computed_with}
    if computed_with is None:
        del about["computed_with"]
    write(path, arrays | {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)})


class TestAnotherProcessor:
    def test_resuming_warns_with_both_names_and_what_differs(self, path, monkeypatch) -> None:
        machine(monkeypatch, HERE)
        run(METHOD, 2, path, exactly=True)
        run(METHOD, 2, path, exactly=True)  # the same machine
        machine(monkeypatch, HERE | {"processor": "A with another name"})
        run(METHOD, 2, path, exactly=True)  # names alone round nothing
        machine(monkeypatch, WIDER)
        with pytest.warns(
            ResumedElsewhere, match=r"run\.npz: was computed on A \[numpy: AVX2\], this is B \[numpy: AV"
        ):
            resumed = run(METHOD, 4, path)
        assert bits(resumed.points) == bits(run(METHOD, 4).points)

    def test_exactly_refuses_and_changes_nothing(self, path, monkeypatch) -> None:
        machine(monkeypatch, HERE)
        run(METHOD, 2, path)
        before = path.read_bytes()
        machine(monkeypatch, WIDER)
        with pytest.raises(InvalidInput, match=r"checkpoint = .* was computed on A .*; resume on such processors"):
            run(METHOD, 4, path, exactly=True)
        assert path.read_bytes() == before

    def test_a_run_of_two_machines_is_exact_on_neither(self, path, monkeypatch) -> None:
        for sets, rounds in ((HERE, 2), (WIDER, 3)):
            machine(monkeypatch, sets)
            with warnings.catch_warnings(action="ignore"):
                run(METHOD, rounds, path)
        for sets in (HERE, WIDER):
            machine(monkeypatch, sets)
            with pytest.raises(InvalidInput, match=r"A .* and B "):
                run(METHOD, 4, path, exactly=True)

    def test_exact_points_depend_on_no_processor(self, tmp_path, monkeypatch) -> None:
        machine(monkeypatch, HERE)
        for name, measure in (("points", None), ("measured", "drift")):
            run(METHOD, 2, tmp_path / name, arithmetic="exact", measure=measure)
        machine(monkeypatch, WIDER)
        run(METHOD, 4, tmp_path / "points", arithmetic="exact", exactly=True)
        with pytest.raises(InvalidInput, match="AVX512"):  # measurements are floats
            run(METHOD, 4, tmp_path / "measured", arithmetic="exact", measure="drift", exactly=True)

    @pytest.mark.parametrize("exactly", [1, "no", None, np.zeros(1)], ids=str)
    def test_exactly_is_a_truth_value(self, exactly, tmp_path) -> None:
        with pytest.raises(InvalidInput, match="exactly = "):
            run(METHOD, 2, tmp_path / "run.npz", exactly=exactly)


class TestTheFilesWords:
    def test_older_files_do_not_say(self, path) -> None:
        run(METHOD, 2, path)
        edited(path, None)
        with pytest.raises(InvalidInput, match="does not record the processor that computed it"):
            run(METHOD, 4, path, exactly=True)
        with pytest.warns(ResumedElsewhere, match="does not record the processor"):
            run(METHOD, 4, path)

    @pytest.mark.parametrize("wrong", [3, "x", {"numpy": "AVX2"}, ["x"], [{"numpy": 3}], [[]]], ids=str)
    def test_others_are_damage(self, path, wrong) -> None:
        run(METHOD, 2, path)
        edited(path, wrong)
        with pytest.raises(InvalidInput, match="is damaged"):
            run(METHOD, 4, path)

    def test_control_characters_reach_no_terminal(self) -> None:
        with pytest.warns(ResumedElsewhere) as caught:
            require_same("checkpoint", "run.npz", [{"processor": "\x1b[2J", "numpy\x07": "\x9b1"}], [HERE], False)
        assert str(caught[0].message).isprintable()


def test_distinct_machines() -> None:
    assert distinct([HERE, WIDER], [dict(reversed(HERE.items()))]) == [dict(sorted(s.items())) for s in (HERE, WIDER)]


@pytest.mark.slow
@pytest.mark.beyond_core  # starts a process
def test_the_libraries_say_what_they_compute_with(path) -> None:
    """In a process in which numba compiles for any processor of this architecture."""
    program = (
        "import sys, fedconvex as fc\n"
        "problem = fc.LeastSquares(A=[[[1.0, 2.0]], [[3.0, 1.0]]], b=[[1.0], [2.0]])\n"
        "fc.simulate(fc.FedGD(stepsize=0.1), problem, int(sys.argv[2]), checkpoint=sys.argv[1], exactly=True)\n"
    )

    for rounds in (2, 3):
        require(python("-c", program, path, rounds, NUMBA_CPU_NAME="generic"))
    refusal = python("-c", program, path, 4)
    assert refusal.returncode != 0
    assert "[numba: generic]" in refusal.stderr
    assert instruction_sets()["numba"] in refusal.stderr
