"""Atomic writing of files: a file is complete or absent, even if the program is killed while it writes.

A killed program leaves a temporary file. `remove_leftovers` deletes those of programs that have ended, and only those:
another one may be writing beside this one.
"""

import errno
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fedconvex.errors import InvalidInput
from fedconvex.owners import Owner, is_abandoned, take

PREFIX = ".fedconvex-"
TEMPORARY = re.compile(re.escape(PREFIX) + r"([0-9a-f]{8}-[0-9a-f]{8}-[0-9]+)-[a-z0-9_]{8}(\..*)?")  # 1: owner's mark
LONGEST_ENDING = 16
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NO_SYNC_OF_FOLDERS = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)  # what file systems without it answer


def replaces(path: Path, content: bytes) -> bool:
    """Whether a file exists at this path whose content differs."""
    return path.is_file() and (path.stat().st_size != len(content) or path.read_bytes() != content)


def write_atomically(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Writes a temporary file beside `path` and renames it, so that no reader ever sees half a file.

    Args:
        content: bytes, or a function that writes them to a binary file.
    """
    with replacing(path) as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            content(file)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A temporary file to write to, which is renamed to `path` afterwards; deleted if an error ends the writing.

    The file's `name` is its path, with the ending of `path`.
    """
    handle, temporary = _temporary_for(path)
    try:
        with open(temporary, "wb", opener=lambda *_: handle) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # else, after a crash, the renamed file may be empty
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes files that only their owner can read
            # Before the file is closed: that ends its lock, and another process might take it for abandoned.
            os.replace(temporary, path)
    except BaseException as error:
        with suppress(FileNotFoundError):  # Ctrl-C just after the renaming
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in NO_ROOM:  # these name no file
            raise OSError(error.errno, f"{error.strerror}; free some space, then start again", str(path)) from error
        raise
    _sync(path.parent)  # else, after a crash, the old file may be back


def require_place(path: Path, argument: str) -> None:
    """Raises InvalidInput unless the path is a file's, or free, in a folder: reading a pipe would never end."""
    if not path.absolute().parent.is_dir():
        problem = "lies in a folder that does not exist"
    elif path.exists() and not path.is_file():
        problem = "is a folder" if path.is_dir() else "is a pipe or a device, not a file"
    else:
        return
    raise InvalidInput(argument, path, problem, "give the path of a file in an existing folder")


def require_room_for(path: Path, argument: str) -> None:
    """Raises InvalidInput where the path's folder is not writable; call it before long work whose result goes there.

    Deletes the temporary files in the folder whose writers were killed.
    """
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        remove_leftovers(folder)
    except OSError as error:
        problem = f"cannot be written: {error.strerror} in {folder}"
        raise InvalidInput(argument, path, problem, "give a path in a folder that you may write to") from None


def remove_leftovers(folder: Path) -> None:
    """Removes the temporary files in the folder whose processes were killed while they wrote; those of others stay."""
    for entry in list(os.scandir(folder)):
        if (match := TEMPORARY.fullmatch(entry.name)) is None:
            continue
        # Another process may rename, delete or own it. Opened for writing, as some file systems lock no other files.
        with suppress(OSError):  # it is gone, somebody else's, or a link or folder
            handle = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if is_abandoned(handle, match[1]):
                    os.unlink(entry.path)
            finally:
                os.close(handle)


def _temporary_for(path: Path) -> tuple[int, str]:
    """A new file in the same folder, open and locked, and its path."""
    ending = path.suffix if len(path.suffix) <= LONGEST_ENDING else ""
    while True:
        handle, temporary = tempfile.mkstemp(ending, f"{PREFIX}{Owner.this().mark}-", path.parent)
        # Before it was locked, another process may have taken it for abandoned: it has deleted it, or is about to.
        if take(handle) is not False and os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)


def _sync(folder: Path) -> None:
    """Waits until the disk has the names of the folder's files."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder that may be written to and not read, or a system that opens no folders
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in NO_SYNC_OF_FOLDERS:
            raise
    finally:
        os.close(handle)
