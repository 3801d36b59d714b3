"""Locks: one process at a time works on a run's file or folder, and another one is refused with the owner's name."""

import errno
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from fedconvex.atomic_files import remove_leftovers
from fedconvex.errors import InvalidInput
from fedconvex.owners import Owner, is_running, take

SUFFIX = ".fedconvex-lock"
SECONDS_OF_PATIENCE = 1.0  # a process that only reads a finished result has it for less
SECONDS_FOR_A_NAME = 5.0  # an owner writes its name at once, but a busy machine may stop it before
LONGEST = 4096  # bytes of the file


class InUse(InvalidInput):
    """Another process works on this file or folder; the message names it."""


@contextmanager
def locked(path: Path, argument: str) -> Iterator[None]:
    """Holds the file or folder for this process; a second process is refused meanwhile.

    The lock is a file, beside the file or inside the folder, that names its owner. That of a process that was killed is
    taken over. Temporary files in the folder whose writers were killed are deleted.

    Args:
        path: a folder, or a file that may not exist yet, in a folder that does.
        argument: the name that error messages give to the path.

    Raises:
        InUse: a process of this machine works on it, or one of another machine, of which it cannot be known whether it
            has ended. Threads of one process refuse each other, too.
        InvalidInput: the folder cannot be written to.
    """
    place = lock_of(path)
    handle = _acquired(place, path, argument)
    try:
        remove_leftovers(place.parent)
        yield
    finally:
        if _is_at(place, handle):  # else somebody has deleted it, and another process may have made its own
            place.unlink()
        os.close(handle)


@contextmanager
def locked_folder(folder: Path, argument: str) -> Iterator[None]:
    """Makes the folder and holds it for this process, as `locked` does; a new one that stays empty is deleted."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder, argument):
            yield
    finally:
        if new:
            with suppress(OSError):  # it has files
                folder.rmdir()


def lock_of(path: Path) -> Path:
    """The lock's file."""
    return path / SUFFIX if path.is_dir() else path.absolute().with_name(f".{path.name}{SUFFIX}")


def _acquired(place: Path, path: Path, argument: str) -> int:
    """The lock's file, open and locked, with this process's name in it."""
    begun = time.monotonic()
    while True:
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _no_lock(place, path, argument) from None
            with suppress(OSError):
                raise _in_use(place.read_bytes(), place, path, argument) from None  # another user's
            problem = f"cannot be written: {error.strerror} in {place.parent}"
            raise InvalidInput(argument, path, problem, "give a path in a folder that you may write to") from None
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:  # what is written may reach other files
                raise _no_lock(place, path, argument)
            taken, content = take(handle), os.pread(handle, LONGEST, 0)  # in this order: nobody else writes then
            if taken is not False and _is_at(place, handle) and _is_free(taken, content, place, path, argument):
                named = asdict(Owner.this()) | {"since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}
                os.ftruncate(handle, 0)
                os.pwrite(handle, json.dumps(named).encode(), 0)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() - begun > (SECONDS_OF_PATIENCE if content else SECONDS_FOR_A_NAME):
            raise _in_use(content, place, path, argument)
        time.sleep(0.02)


def _is_free(taken: bool | None, content: bytes, place: Path, path: Path, argument: str) -> bool:
    """Whether the owner that the file names, if any, has ended."""
    owner, here = _owner(content), Owner.this()
    if owner is None:
        if content:
            raise _no_lock(place, path, argument)
        return True
    if owner.host != here.host and owner.system != here.system:
        raise _in_use(content, place, path, argument)  # nothing here tells whether it is still running
    return taken is True or owner.process == here.process or not is_running(owner.process)


def _no_lock(place: Path, path: Path, argument: str) -> InvalidInput:
    return InvalidInput(argument, path, f"{place} is there and is no lock", "move it away, or give another path")


def _is_at(place: Path, handle: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), os.stat(place))
    return False


def _read(content: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        about = json.loads(content)
        if isinstance(about, dict):
            return about
    return {}


def _owner(content: bytes) -> Owner | None:
    about = _read(content)
    process, host, system = (about.get(name) for name in ("process", "host", "system"))
    if type(process) is int and process > 0 and isinstance(host, str) and isinstance(system, str):
        return Owner(process, host, system)
    return None


def _in_use(content: bytes, place: Path, path: Path, argument: str) -> InUse:
    owner = _owner(content)
    who = "another process" if owner is None else f"process {owner.process} on {owner.host}"
    since = _read(content).get("since")
    when = f" since {since}" if isinstance(since, str) else ""
    cure = f"wait until it ends, or give another path; if it has ended, delete {place}"
    return InUse(argument, path, f"{who} works on it{when}", cure)
