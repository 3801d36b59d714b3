"""Stopped or killed runs continue to the trajectory of an uninterrupted run, bit for bit."""

import os
import signal
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import python
from run_makers import UNEQUAL, bits, instance, read
from run_makers import stoppable as run

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS
from fedconvex.runs import checkpoints
from fedconvex.runs.rounds import Rounds

pytestmark = pytest.mark.beyond_core  # takes seconds

T = 4
HALF = Fraction(1, 2)
STEPS = fc.GradientDescent(steps=3, stepsize=Fraction(1, 16))


def everything(found: Any) -> dict[str, Any]:
    """All that a trajectory holds."""
    parts = {"server": found.state.server, "points": found.points}
    parts |= {f"shared {name}": part for name, part in found.state.shared.items()}
    parts |= {f"memory {name}": part for name, part in found.state.memory.items()}
    parts |= {f"recorded {name}": part for name, part in found.recorded.items()}
    frame = found.to_frame()
    return {name: bits(part) for name, part in parts.items()} | {f"frame {name}": bits(frame[name]) for name in frame}


def require_going_on(method: Any, folder: Path, stops: Iterable[int] = range(1, T), **options: Any) -> dict[str, Any]:
    """A run that stops after so many rounds and goes on is the whole one, which is returned."""
    expected = everything(run(method, **options))
    for stop in stops:
        run(method, stop, folder / f"{stop}.npz", **options)
        assert everything(run(method, T, folder / f"{stop}.npz", **options)) == expected
    return expected


class TestGoingOn:
    @pytest.mark.sample(5)
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
    def test_after_every_round(self, name, arithmetic, tmp_path, played) -> None:
        if arithmetic == "exact" and METHODS[name].takes_square_roots:
            return
        options = {"arithmetic": arithmetic, "measure": ["inexactness", "control_error"]}
        expected = require_going_on(instance(name), tmp_path, range(T + 1), **options)
        assert played == list(range(T)) * (T + 2)  # every round once
        assert everything(run(instance(name), **{**options, "seed": 5})) != expected
        assert sorted(os.listdir(tmp_path)) == [f"{stop}.npz" for stop in range(T + 1)]

    @pytest.mark.parametrize("solver", [STEPS, fc.SGD(epochs=2, batch_size=1, stepsize=HALF / 8, decay=HALF)], ids=repr)
    @pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
    def test_partial_work_and_random_batches(self, solver, arithmetic, tmp_path) -> None:
        options = {
            "local_solver": solver, "stragglers": who.Stragglers(HALF, "use"), "participation": who.Weighted(4),
            "arithmetic": arithmetic,
        }  # fmt: skip
        require_going_on(fc.FedNova(stepsize=1), tmp_path, **options)

    def test_local_rounds_and_empty_ones(self, tmp_path) -> None:
        skipping = {"participation": None, "stragglers": None}
        empty = {"participation": who.Schedule([[0], [], [], [1, 2]]), "stragglers": None}
        nobody = {"stragglers": who.Stragglers(1, "drop"), "measure": "inexactness"}
        for number, (method, options) in enumerate(
            [(fc.FedPD(eta=1, skip=HALF), skipping), (fc.Scaffold(stepsize=1), empty), (fc.FedDyn(alpha=1), nobody)]
        ):
            (tmp_path / str(number)).mkdir()
            require_going_on(method, tmp_path / str(number), **options)

    def test_in_steps_of_one(self, tmp_path, played) -> None:
        method = fc.FedDyn(alpha=HALF)
        expected = everything(run(method, 6))
        played.clear()
        for rounds in range(7):
            found = run(method, rounds, tmp_path / "run")
            assert len(found.points) == rounds + 1
        assert everything(found) == expected
        assert played == list(range(6))

    def test_nan_and_infinity_are_kept(self, tmp_path) -> None:
        with np.errstate(all="ignore"):
            options = {
                "problem": fc.Quadratic([[[1e200]]], [[1.0]]),
                "x0": [1.0],
                "participation": None,
                "stragglers": None,
            }
            expected = run(fc.FedGD(stepsize=1), **options)
            run(fc.FedGD(stepsize=1), 3, tmp_path / "run", **options)
            assert bits(run(fc.FedGD(stepsize=1), T, tmp_path / "run", **options).points) == bits(expected.points)
        assert not np.isfinite(expected.points).all()

    def test_extending_a_finished_run(self, tmp_path, played) -> None:
        path, method = tmp_path / "run", fc.Scaffold(stepsize=HALF / 4)
        expected = everything(run(method, 9))
        run(method, 5, path)
        played.clear()
        assert everything(run(method, 9, path)) == expected
        assert played == [5, 6, 7, 8]
        played.clear()
        before = path.read_bytes(), path.stat().st_mtime_ns
        assert everything(run(method, 9, path)) == expected  # finds the work done
        assert played == []
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before

    @pytest.mark.parametrize(("every", "written"), [(1, [1, 2, 3, 4, 5, 6, 7]), (3, [3, 6, 7]), (7, [7]), (100, [7])])
    def test_when_it_is_written(self, every, written, tmp_path, monkeypatch) -> None:
        rounds: list[int] = []
        save = checkpoints.Checkpoint.save
        monkeypatch.setattr(
            checkpoints.Checkpoint, "save", lambda self, *what: rounds.append(what[0].round) or save(self, *what)
        )
        run(fc.FedGD(stepsize=HALF), 7, tmp_path / "run", checkpoint_every=every)
        assert rounds == written
        rounds.clear()
        run(fc.FedGD(stepsize=HALF), 8, tmp_path / "run", checkpoint_every=3)  # how often is no part of the run
        assert rounds == [8]

    @pytest.mark.parametrize("kind", [str, Path, os.path.relpath])
    def test_kinds_of_paths(self, kind, tmp_path, monkeypatch, played) -> None:
        monkeypatch.chdir(tmp_path)
        path = kind(tmp_path / "a run.npz")
        run(fc.FedGD(stepsize=HALF), 3, path)
        assert os.listdir() == ["a run.npz"]
        run(fc.FedGD(stepsize=HALF), 3, path)
        assert played == [0, 1, 2]

    def test_the_same_run_described_anew(self, tmp_path, played) -> None:
        """Equal content, other objects."""
        run(fc.FedGD(stepsize=HALF), 3, tmp_path / "run")
        A, b = ([np.array(part) for part in parts] for parts in (UNEQUAL.A, UNEQUAL.b))
        again = fc.LeastSquares(A, b, weights=UNEQUAL.exact_weights)
        run(fc.FedGD(stepsize=HALF), 3, tmp_path / "run", again, participation=who.Uniform(3.0), progress=False)
        assert played == [0, 1, 2]


# Runs rounds 0, …, 11 and writes after every one; killed in the middle of the local work of the round that is given, or
# when the file of so many rounds has been written beside the old one but not yet put into its place.
KILLED = """
import os, signal, sys
import numpy as np
import fedconvex as fc

path, result, place, number = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

def killed_at(call):
    calls = []
    def counted(*given, **options):
        calls.append(1)
        if len(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **options)
    return counted

if place == "work":
    fc.GradientDescent.solve = killed_at(fc.GradientDescent.solve)
elif place == "replace":
    os.replace = killed_at(os.replace)
elif place == "writing":
    np.savez = killed_at(np.savez)
elif place == "closing":
    os.fsync = killed_at(os.fsync)
A, b = np.arange(24.0).reshape(3, 4, 2) % 7 / 8, np.arange(12.0).reshape(3, 4) % 5
problem = fc.LeastSquares(A, b, weights=[1, 2, 3])
found = fc.simulate(
    fc.FedDyn(alpha=0.5), problem, 12, fc.participation.Uniform(2), fc.GradientDescent(steps=3, stepsize=0.05),
    seed=9, stragglers=fc.participation.Stragglers(0.5), measure="inexactness",
    checkpoint=path if path != "none" else None, checkpoint_every=1,
)
state = found.state
np.savez(result, points=found.points, h=state.shared["h"], gradient=state.memory["gradient"], **found.recorded)
"""


def child(path: Any, result: Path, place: str = "nowhere", number: int = 0) -> int:
    return python("-c", KILLED, path, result, place, number).returncode


def content(result: Path) -> dict[str, Any]:
    return {name: bits(array) for name, array in read(result).items()}


class TestKill9:
    @pytest.mark.slow
    @pytest.mark.beyond_core  # starts a process
    def test_again_and_again(self, tmp_path) -> None:
        """In the work, while writing, before and after the file is closed: then the run is as if nothing had been."""
        (tmp_path / "folder").mkdir()
        path, expected = tmp_path / "folder" / "run.npz", tmp_path / "expected.npz"
        assert child("none", expected) == 0
        rounds = []
        for place, number in (("work", 4), ("replace", 3), ("writing", 2), ("closing", 1), ("work", 3)):
            before = path.read_bytes() if path.exists() else b""
            assert child(path, tmp_path / "no.npz", place, number) == -signal.SIGKILL
            assert not (tmp_path / "no.npz").exists()
            rounds.append(len(read(path)["points"]) - 1)  # whole, whatever happened
            assert (path.read_bytes() == before) == (number == 1)
        assert rounds == [3, 5, 6, 6, 8]  # nothing that was written is lost
        assert child(path, tmp_path / "found.npz") == 0
        assert content(tmp_path / "found.npz") == content(expected)
        strays = [name for name in os.listdir(path.parent) if name != path.name]
        assert strays == []  # the temporary files of three that were killed, and the locks of five, are gone


class TestWriting:
    def saved(self, tmp_path: Path) -> tuple[Path, bytes]:
        path = tmp_path / "run.npz"
        run(fc.FedDyn(alpha=1), 2, path)
        return path, path.read_bytes()

    @pytest.mark.parametrize("place", ["replace", "fsync", "chmod", "savez"])
    def test_a_failure_leaves_the_old_file(self, place, tmp_path, monkeypatch) -> None:
        path, before = self.saved(tmp_path)

        def fails(file: Any, *_: Any, **__: Any) -> None:
            if place == "savez":
                file.write(b"PK\x03\x04 and no more")
            raise OSError("disk full")

        monkeypatch.setattr(np if place == "savez" else os, place, fails)
        with pytest.raises(OSError, match="disk full"):
            run(fc.FedDyn(alpha=1), T, path, checkpoint_every=1)
        monkeypatch.undo()
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["run.npz"]
        assert everything(run(fc.FedDyn(alpha=1), T, path)) == everything(run(fc.FedDyn(alpha=1)))

    def test_ctrl_c_between_rounds(self, tmp_path, monkeypatch) -> None:
        path, _ = self.saved(tmp_path)
        play = Rounds.play

        def interrupted(self: Any, state: Any, draw: Any, *rest: Any, **options: Any) -> Any:
            if draw.round == 3:
                raise KeyboardInterrupt
            return play(self, state, draw, *rest, **options)

        monkeypatch.setattr(Rounds, "play", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(fc.FedDyn(alpha=1), T, path, checkpoint_every=1)
        monkeypatch.undo()
        assert len(read(path)["points"]) == 4  # three rounds
        assert everything(run(fc.FedDyn(alpha=1), T, path)) == everything(run(fc.FedDyn(alpha=1)))

    def test_a_clean_run_leaves_one_file_of_data(self, tmp_path) -> None:
        path, _ = self.saved(tmp_path)
        assert os.listdir(tmp_path) == ["run.npz"]
        kinds = {name: array.dtype for name, array in read(path).items()}
        assert set(kinds.values()) == {np.dtype(np.float64), np.dtype(np.uint8)}
        assert set(kinds) == {"server", "points", "shared/h", "memory/gradient", "about", "recorded/participants",
                              "recorded/bytes_down", "recorded/bytes_up"}  # fmt: skip
