"""One process at a time works on a file or folder; another one is refused with the owner's name."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from fedconvex import locks, owners
from fedconvex.errors import InvalidInput
from fedconvex.locks import InUse, lock_of, locked, locked_folder
from fedconvex.owners import Owner

HOLDS = """
import sys, pathlib
from fedconvex.locks import locked
with locked(pathlib.Path(sys.argv[1]), "out"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "SECONDS_OF_PATIENCE", 0.0)


def left_by(path: Path, owner: Owner) -> Path:
    """The lock's file of a process that has not removed it."""
    place = lock_of(path)
    place.write_text(json.dumps(asdict(owner)))
    return place


def is_free(path: Path) -> None:
    with locked(path, "out"):
        pass


def is_refused(path: Path, words: str, error: type[Exception] = InUse) -> None:
    with pytest.raises(error, match=words), locked(path, "out"):
        pass


@pytest.mark.parametrize("name", ["run.npz", ""])
def test_it_is_there_while_it_is_held_and_names_its_owner(tmp_path: Path, name: str) -> None:
    with locked(tmp_path / name, "checkpoint"):
        (place,) = tmp_path.iterdir()
        assert json.loads(place.read_text()).items() >= asdict(Owner.this()).items()
        refusal = re.escape(f"checkpoint = {tmp_path / name}: process {os.getpid()} on {Owner.this().host} works on it")
        with (
            pytest.raises(InUse, match=f"{refusal} since .*; wait .* delete {place}"),
            locked(tmp_path / name, "checkpoint"),
        ):
            pass
    assert list(tmp_path.iterdir()) == []


def test_it_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path, "out"):
        raise KeyError
    is_free(tmp_path)


def test_an_owner_that_has_not_written_its_name_yet_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with locked(tmp_path, "out"):
        name = lock_of(tmp_path).read_bytes()
        lock_of(tmp_path).write_bytes(b"")
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", lambda _: lock_of(tmp_path).write_bytes(name))
            is_refused(tmp_path, f"process {os.getpid()} on")
        lock_of(tmp_path).write_bytes(b"")
        monkeypatch.setattr(locks, "SECONDS_FOR_A_NAME", 0.0)
        is_refused(tmp_path, "another process works on it; wait")


@pytest.mark.beyond_core
def test_another_process_is_refused_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        is_refused(tmp_path, f"process {other.pid} on")
        other.kill()
        other.wait()
        assert lock_of(tmp_path).exists()
        is_free(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_a_process_that_has_ended_is_taken_over(tmp_path: Path) -> None:
    here = Owner.this()
    for owner in (
        replace(here, process=2**22 + 1), replace(here, process=1), replace(here, system="before it was started again"),
        replace(here, host="a container of this machine"),
    ):  # fmt: skip
        left_by(tmp_path, owner)
        is_free(tmp_path)
        assert list(tmp_path.iterdir()) == []
    left_by(tmp_path, replace(here, process=2**22 + 1, host="a container with a long name" * 9))
    with locked(tmp_path, "out"):  # nothing is left behind the new name
        assert json.loads(lock_of(tmp_path).read_text())["process"] == here.process


def test_what_another_machine_has_left_is_for_a_person_to_delete(tmp_path: Path) -> None:
    place = left_by(tmp_path, Owner(4711, "node17", "another"))
    refusal = f"out = {tmp_path}: process 4711 on node17 works on it; wait .*; if it has ended, delete {place}"
    is_refused(tmp_path, refusal)
    place.unlink()
    is_free(tmp_path)


def test_a_file_that_is_no_lock_is_left_alone(tmp_path: Path) -> None:
    for content in ("notes", "[]", '{"process": "1"}', "[" * 4000):
        lock_of(tmp_path).write_text(content)
        is_refused(tmp_path, "is there and is no lock; move it away", InvalidInput)
        assert lock_of(tmp_path).read_text() == content


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to, lambda place, _: os.mkfifo(place)])
def test_nothing_is_written_through_what_only_leads_to_a_file(make: Callable[..., None], tmp_path: Path) -> None:
    """A link to an empty file, which has no owner's name either, or a pipe."""
    (tmp_path / "target").touch()
    make(lock_of(tmp_path), tmp_path / "target")
    is_refused(tmp_path, "is there and is no lock; move it away", InvalidInput)
    assert (tmp_path / "target").read_text() == ""


def test_a_process_of_another_user_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    assert owners.is_running(4711)


def test_an_owner_that_was_killed_before_it_wrote_its_name_holds_nothing(tmp_path: Path) -> None:
    lock_of(tmp_path).touch()
    is_free(tmp_path)


def test_a_lock_that_somebody_deleted_is_not_deleted_for_its_next_owner(tmp_path: Path) -> None:
    with locked(tmp_path, "out"):
        lock_of(tmp_path).unlink()
        lock_of(tmp_path).touch()  # by its next owner
    assert lock_of(tmp_path).exists()


def test_where_files_cannot_be_locked_the_number_of_the_process_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "fcntl", None)
    left_by(tmp_path, replace(Owner.this(), process=os.getppid()))
    is_refused(tmp_path, f"process {os.getppid()} on")
    left_by(tmp_path, replace(Owner.this(), process=2**22 + 1))
    is_free(tmp_path)


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "run.npz"
    is_refused(missing, r"out = .*: cannot be written: No such file", InvalidInput)
    is_refused(tmp_path / ("x" * 250), "cannot be written: File name too long", InvalidInput)


def test_leftovers_beside_the_file_are_removed(tmp_path: Path) -> None:
    (tmp_path / f".fedconvex-{replace(Owner.this(), process=1).mark}-abcdefgh.npz").touch()
    with locked(tmp_path / "run.npz", "checkpoint"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_that_stays_empty_is_deleted_and_no_other(tmp_path: Path) -> None:
    new, old = tmp_path / "parent" / "new", tmp_path / "old"
    old.mkdir()
    for folder in (new, old):
        with pytest.raises(KeyError), locked_folder(folder, "out"):
            raise KeyError
    assert not new.exists()
    assert old.is_dir()
    with locked_folder(new, "out"):
        (new / "result").touch()
    assert [*new.iterdir()] == [new / "result"]
