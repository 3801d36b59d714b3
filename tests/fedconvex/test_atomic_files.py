"""Files are written completely or not at all."""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fedconvex import atomic_files, owners
from fedconvex.atomic_files import PREFIX, remove_leftovers, replacing, write_atomically
from fedconvex.owners import Owner


def test_content_replaces_the_old_one_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "result.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_failure_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_permissions_are_those_of_an_ordinary_file(tmp_path):
    (tmp_path / "ordinary").write_bytes(b"")
    write_atomically(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def leftover(folder: Path, owner: Owner, ending: str = "") -> Path:
    """A temporary file of that process, which holds no lock on it."""
    path = folder / f"{PREFIX}{owner.mark}-abcdefgh{ending}"
    path.write_bytes(b"half")
    return path


def test_a_full_disk_is_an_error_with_the_file_and_the_cure(tmp_path):
    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=f"left on device; free some space.*{tmp_path}/result.json"):
        write_atomically(tmp_path / "result.json", full)
    assert os.listdir(tmp_path) == []


def test_leftovers_are_not_looked_for_behind_links(tmp_path):
    """A link with the name of a temporary file may lead to somebody else's: it is neither opened nor an error."""
    target = leftover(tmp_path, replace(Owner.this(), process=2**22 + 1))
    link = tmp_path / "inside" / target.name
    link.parent.mkdir()
    link.symlink_to(target)
    remove_leftovers(link.parent)
    assert link.is_symlink()


def test_ctrl_c_just_after_the_renaming_is_ctrl_c(tmp_path, monkeypatch):
    """It was a FileNotFoundError: the temporary file, which has its name by then, was to be deleted."""
    replace = os.replace

    def interrupted(*paths: str) -> None:
        replace(*paths)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "result.json", b"new")
    assert (tmp_path / "result.json").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["result.json"]


def test_the_disk_has_the_content_before_the_renaming_and_the_name_after_it(tmp_path, monkeypatch):
    events = []
    sync, replace = os.fsync, os.replace

    def noted(handle: int) -> None:
        events.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "replace", lambda *paths: (events.append("renamed"), replace(*paths)))
    write_atomically(tmp_path / "result.json", b"new")
    assert events == ["file", "renamed", "folder"]


def test_a_folder_that_cannot_be_synced_is_no_error_and_a_failing_disk_is_one(tmp_path, monkeypatch):
    sync = os.fsync

    def failing(code: int) -> Callable[[int], None]:
        def of_folders(handle: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(code, os.strerror(code))
            sync(handle)

        return of_folders

    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    write_atomically(tmp_path / "result.json", b"new")
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        write_atomically(tmp_path / "result.json", b"newer")


def test_leftovers_of_processes_that_have_ended_are_removed_and_nothing_else(tmp_path):
    here = Owner.this()
    ended = replace(here, process=2**22 + 1)  # Linux has no number as large
    reused = replace(here, process=1)  # this number belongs to a process that runs, and did not write it
    rebooted, renamed = replace(here, system="an earlier one"), replace(here, host="a container")
    elsewhere = replace(here, host="another", system="another")
    for number, owner in enumerate((ended, reused, rebooted, renamed)):
        leftover(tmp_path, owner, f".{number}")
    kept = leftover(tmp_path, elsewhere)
    for name in (".result.json.abcdefgh", ".fedconvex-notes", "result.json"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        kept.name, ".result.json.abcdefgh", ".fedconvex-notes", "result.json",
    }  # fmt: skip


def test_a_file_that_is_being_written_is_no_leftover(tmp_path):
    """Deep runs deleted one another's temporary files."""
    with replacing(tmp_path / "result.json") as file:
        remove_leftovers(tmp_path)
        file.write(b"whole")
    assert (tmp_path / "result.json").read_bytes() == b"whole"


def test_without_locks_the_number_of_the_process_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(owners, "fcntl", None)
    leftover(tmp_path, replace(Owner.this(), process=2**22 + 1))
    kept = leftover(tmp_path, replace(Owner.this(), process=os.getppid()))
    remove_leftovers(tmp_path)
    assert list(tmp_path.iterdir()) == [kept]
    write_atomically(tmp_path / "result.json", b"new")


def test_a_file_that_was_deleted_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    """Another process may take it for abandoned in between."""
    deleted = []

    def late(handle: int) -> bool | None:
        if not deleted:
            deleted.extend(tmp_path.iterdir())
            deleted[0].unlink()
        return owners.take(handle)

    monkeypatch.setattr(atomic_files, "take", late)
    write_atomically(tmp_path / "result.json", b"new")
    assert os.listdir(tmp_path) == ["result.json"]


def test_names_as_long_as_the_disk_allows_can_be_written(tmp_path):
    """The temporary file's name was longer than the file's."""
    path = tmp_path / ("x" * 250 + ".json")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
