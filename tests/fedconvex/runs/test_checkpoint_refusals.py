"""Damaged, forged and foreign checkpoints are refused, and nothing in them is executed."""

import json
import os
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_makers import UNEQUAL, bits, read, write
from run_makers import stoppable as run

import fedconvex as fc
from fedconvex import locks
from fedconvex import participation as who
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import fingerprint
from fedconvex.runs import checkpoints

pytestmark = pytest.mark.beyond_core  # takes seconds

T = 4
HALF = Fraction(1, 2)
STEPS = fc.GradientDescent(steps=3, stepsize=Fraction(1, 16))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.npz"


def refused(path: Path, complaint: str, /, argument: str = "checkpoint", method: Any = None, **options: Any) -> str:
    """The whole message of the refusal, which must name the file and a way out."""
    with pytest.raises(InvalidInput) as caught:
        run(method or fc.FedDyn(alpha=1), path=path, **options)
    assert caught.value.argument == argument
    text = str(caught.value)
    shown = str(path) if len(str(path)) < 80 else str(path)[:79]
    for piece in (shown, complaint, "give"):
        assert piece in text
    return text


@pytest.fixture(scope="module", params=["float", "exact"])
def whole(request, tmp_path_factory) -> tuple[Path, bytes, Any, dict[str, str]]:
    path = tmp_path_factory.mktemp("damage") / "run.npz"
    options = {"arithmetic": request.param}
    run(fc.FedDyn(alpha=1), T, path, **options)
    return path, path.read_bytes(), bits(run(fc.FedDyn(alpha=1), T, **options).points), options


class TestDamage:
    """Whatever became of a file, the answer is the right one or a refusal."""

    def same_or_refused(self, whole: Any, damaged: bytes) -> bool:
        """Whether it was refused; any other result than the right one fails."""
        path, _, expected, options = whole
        path.write_bytes(damaged)
        try:
            found = run(fc.FedDyn(alpha=1), T, path, **options)
        except InvalidInput as error:
            refusal = error
        else:
            assert bits(found.points) == expected
            return False
        assert refusal.argument == "checkpoint"
        assert refusal.value == path
        assert "delete it to start anew" in str(refusal)
        return True

    def test_truncated_files_are_refused(self, whole) -> None:
        length = len(whole[1])
        for end in {0, 1, 2, 4, *range(5, length, 61), length - 23, length - 22, length - 2, length - 1}:
            assert self.same_or_refused(whole, whole[1][:end])

    def flipped(self, content: bytes, place: int) -> bytes:
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        return bytes(changed)

    @pytest.mark.sample(1)
    def test_flipped_bits(self, whole) -> None:
        """Some hit bytes without meaning (time stamps); none leads elsewhere."""
        places = range(0, 8 * len(whole[1]), 61)
        outcomes = [self.same_or_refused(whole, self.flipped(whole[1], place)) for place in places]
        assert np.mean(outcomes) > 0.5
        assert not self.same_or_refused(whole, whole[1])

    @pytest.mark.sample(1)
    def test_flipped_bits_of_the_table_of_contents(self, whole) -> None:
        """Compression methods, flags, sizes, versions of the archive's entries."""
        directory = whole[1].index(b"PK\x01\x02")
        for place in range(8 * directory, 8 * len(whole[1]), 13):
            self.same_or_refused(whole, self.flipped(whole[1], place))

    def test_rewritten_bytes(self, whole) -> None:
        chance = random.Random(1)
        for _ in range(150):
            damaged = bytearray(whole[1])
            begin = chance.randrange(len(damaged))
            piece = chance.randbytes(chance.choice([1, 2, 8, 64, 500]))
            damaged[begin : begin + len(piece)] = piece
            self.same_or_refused(whole, bytes(damaged))
        for damaged in (whole[1] * 2, whole[1] + b"x", b"x" + whole[1], whole[1][::-1], bytes(len(whole[1]))):
            self.same_or_refused(whole, damaged)

    def test_numbers_changed_by_a_program(self, whole) -> None:
        """A valid archive whose numbers are not those that were written."""
        path, raw, _, options = whole
        path.write_bytes(raw)
        arrays = read(path)
        for name in set(arrays) - {"about"}:
            for changed in (arrays[name][:-1], np.where(arrays[name] == arrays[name].flat[0], 7, arrays[name])):
                write(path, {**arrays, name: changed.astype(arrays[name].dtype)})
                refused(path, "is damaged", **options)
            write(path, {other: array for other, array in arrays.items() if other != name})
            refused(path, "is damaged", **options)
            write(path, {other if other != name else "x": array for other, array in arrays.items()})
            refused(path, "is damaged", **options)
        write(path, {**arrays, "extra": np.zeros(3)})
        refused(path, "is damaged", **options)
        write(path, arrays)
        run(fc.FedDyn(alpha=1), T, path, **options)  # and as it was


class TestOtherFiles:
    @pytest.mark.parametrize(
        "raw",
        [b"", b"\n", b"method,round\nFedDyn,3\n", b'{"round": 3}', b"PK\x05\x06" + bytes(18), b"PK\x03\x04"]
        + [b"\x93NUMPY\x01\x00", bytes(100), b"\x80\x04N."],
    )
    def test_are_refused(self, path, raw) -> None:
        path.write_bytes(raw)
        refused(path, "is no checkpoint")
        assert path.read_bytes() == raw  # not overwritten

    @pytest.mark.parametrize("array", [np.zeros(3), np.array("text"), np.zeros(0)])
    def test_an_array(self, array, tmp_path) -> None:
        with open(tmp_path / "run.npy", "wb") as file:
            np.save(file, array)
        refused(tmp_path / "run.npy", "is no checkpoint")

    def test_arrays(self, tmp_path) -> None:
        np.savez(tmp_path / "run.npz", points=np.zeros((5, 2)))
        refused(tmp_path / "run.npz", "is no checkpoint")
        for about in (np.zeros(3), np.frombuffer(b"[1, 2]", np.uint8), np.frombuffer(b'{"format": 1}', np.uint8),
                      np.frombuffer(b"\xff\xfe", np.uint8), np.frombuffer(b"null", np.uint8)):  # fmt: skip
            np.savez(tmp_path / "run.npz", points=np.zeros((5, 2)), about=about)
            refused(tmp_path / "run.npz", "is no checkpoint")

    def test_a_folder_or_a_pipe(self, tmp_path) -> None:
        refused(tmp_path, "is a folder")
        assert os.listdir(tmp_path) == []
        os.mkfifo(tmp_path / "run.npz")
        refused(tmp_path / "run.npz", "is a pipe")  # not: waits for what another process may never write

    def test_a_folder_that_is_not_there(self, tmp_path, played) -> None:
        refused(tmp_path / "results" / "run.npz", "lies in a folder that does not exist")
        (tmp_path / "file").touch()
        refused(tmp_path / "file" / "run.npz", "lies in a folder that does not exist")
        assert played == []
        assert os.listdir(tmp_path) == ["file"]


class Payload:
    """What it unpickles to makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.folder),)


class TestPickles:
    """Code in a file is not run."""

    def evil(self, tmp_path: Path) -> np.ndarray:
        array = np.empty(1, dtype=object)
        array[0] = Payload(tmp_path / "executed")
        return array

    def test_the_payload_works(self, tmp_path) -> None:
        np.savez(tmp_path / "evil.npz", about=self.evil(tmp_path))
        assert not (tmp_path / "executed").exists()
        with np.load(tmp_path / "evil.npz", allow_pickle=True) as file:
            assert file["about"] is not None
        assert (tmp_path / "executed").is_dir()

    @pytest.mark.parametrize("name", ["about", "server", "points", "memory/gradient", "recorded/participants", "extra"])
    def test_in_any_place(self, path, name, tmp_path) -> None:
        run(fc.FedDyn(alpha=1), 2, path)
        write(path, {**read(path), name: self.evil(tmp_path)})
        refused(path, "is no checkpoint of a run, or is damaged")
        assert not (tmp_path / "executed").exists()

    @pytest.mark.parametrize("kind", ["pickle", "npy"])
    def test_as_the_whole_file(self, path, kind, tmp_path) -> None:
        if kind == "pickle":
            path.write_bytes(pickle.dumps(Payload(tmp_path / "executed")))
        else:
            with path.open("wb") as file:
                np.save(file, self.evil(tmp_path), allow_pickle=True)
        refused(path, "is no checkpoint of a run, or is damaged")
        assert not (tmp_path / "executed").exists()


class TestForgeries:
    """Files of this run whose fingerprint of the content was made to fit: wrong numbers cannot be told, shapes can."""

    def forged(self, path: Path, changes: dict[str, Any]) -> None:
        arrays = read(path)
        about = json.loads(arrays.pop("about").tobytes())
        arrays = {name: array for name, array in {**arrays, **changes}.items() if array is not None}
        about["content"] = fingerprint(arrays)
        write(path, {**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)})

    @pytest.mark.parametrize(
        "changes",
        [{"server": None}, {"points": None}, {"recorded/participants": np.zeros(1)}, {"points": np.zeros(())},
         {"server": np.array(["a", "b"])}, {"points": np.array([["a", "b"]])}],
        ids=str,
    )  # fmt: skip
    def test_what_does_not_fit_together_is_refused(self, path, changes) -> None:
        run(fc.FedDyn(alpha=1), 3, path)
        self.forged(path, {})
        run(fc.FedDyn(alpha=1), 3, path)  # the forger knows his trade
        self.forged(path, changes)
        refused(path, "is no checkpoint of a run, or is damaged")


OTHER_PROBLEM = fc.LeastSquares(UNEQUAL.A, UNEQUAL.b, weights=[1, 2, 3, 4])


class TestOtherRuns:
    @pytest.mark.parametrize(
        "other",
        [
            {"method": fc.FedDyn(alpha=2)},
            {"method": fc.FedDynOneGD(alpha=1)},
            {"problem": OTHER_PROBLEM},
            {"problem": fc.LeastSquares(UNEQUAL.A[::-1], UNEQUAL.b[::-1], UNEQUAL.exact_weights)},
            {"seed": 5},
            {"participation": who.Uniform(2)},
            {"participation": who.UniformThenWeighted(3)},
            {"participation": None},
            {"stragglers": None},
            {"stragglers": who.Stragglers(HALF / 2, "drop")},
            {"local_solver": STEPS},
            {"local_solver": fc.Newton()},
            {"x0": [1, -1]},
            {"x0": None},
            {"arithmetic": "exact"},
            {"arithmetic": "torch"},
            {"measure": "drift"},
        ],
        ids=repr,
    )
    def test_are_refused(self, path, other, tmp_path, played) -> None:
        run(fc.FedDyn(alpha=1), 2, path)
        played.clear()
        before = path.read_bytes()
        refused(path, "belongs to another run", **other)
        assert played == []
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["run.npz"]

    def test_of_another_policy(self, path) -> None:
        run(fc.FedDyn(alpha=1), 2, path, local_solver=STEPS)
        refused(path, "belongs to another run", local_solver=STEPS, stragglers=who.Stragglers(HALF, "use"))

    def test_of_another_momentum(self, tmp_path) -> None:
        path, solver = tmp_path / "run.npz", fc.SGD(epochs=1, stepsize=HALF / 8, momentum=HALF)
        run(fc.FedDyn(alpha=1), 2, path, local_solver=solver)
        refused(path, "belongs to another run", local_solver=replace(solver, momentum=HALF / 2))
        run(fc.FedDyn(alpha=1), 3, path, local_solver=solver)

    @pytest.mark.parametrize("library", checkpoints.LIBRARIES)
    def test_of_other_versions(self, library, tmp_path, monkeypatch) -> None:
        path, here = tmp_path / "run.npz", checkpoints.version_of(library)
        with monkeypatch.context() as patch:
            real = checkpoints.version_of
            patch.setattr(checkpoints, "version_of", lambda name: "0.0.1" if name == library else real(name))
            run(fc.FedDyn(alpha=1), 2, path)
            run(fc.FedDyn(alpha=1), 2, path)  # that version reads it
        text = refused(path, f"was written with {library} 0.0.1, this is {here}")
        assert "delete it to start anew, or give another path" in text

    def test_of_another_format(self, tmp_path, monkeypatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(checkpoints, "FORMAT", 99)
            run(fc.FedDyn(alpha=1), 2, tmp_path / "run.npz")
        refused(tmp_path / "run.npz", "has format 99, this version reads format 1")

    def test_that_have_come_further(self, path, played) -> None:
        run(fc.FedDyn(alpha=1), 5, path)
        played.clear()
        before = path.read_bytes()
        text = refused(path, "already holds round 5 of this run", argument="rounds", rounds=T)
        assert text.startswith("rounds = 4: ")
        assert "request 5 rounds or more, or give another path" in text
        assert played == []
        assert path.read_bytes() == before

    def test_balls_are_not_saved_and_that_is_said_at_once(self, tmp_path, played) -> None:
        with pytest.raises(InvalidInput, match="balls are not saved; use 'float' or 'exact' arithmetic"):
            run(fc.FedDyn(alpha=1), path=tmp_path / "run.npz", arithmetic="ball")
        assert played == []
        assert os.listdir(tmp_path) == []


def test_a_checkpoint_that_another_process_works_on_is_refused_with_its_name(path, tmp_path, monkeypatch):
    """Both would have written it, each over the other's rounds."""
    monkeypatch.setattr(locks, "SECONDS_OF_PATIENCE", 0.0)
    with locks.locked(path, "checkpoint"), pytest.raises(locks.InUse, match=f"process {os.getpid()} on .* works on it"):
        run(fc.FedDyn(alpha=1), T, path)
    assert list(tmp_path.iterdir()) == []


def test_a_finished_run_in_a_folder_that_is_only_read_is_read(path, monkeypatch):
    expected = run(fc.FedDyn(alpha=1), T, path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with locks.locked(path, "checkpoint"):
        found = run(fc.FedDyn(alpha=1), T, path)
    np.testing.assert_array_equal(found.points, expected.points)
