"""Atomic writing of files: a file is complete or absent, even if the program is killed while it writes."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from fedconvex.errors import InvalidInput


def replaces(path: Path, content: bytes) -> bool:
    """Whether a file exists at this path whose content differs."""
    return path.is_file() and (path.stat().st_size != len(content) or path.read_bytes() != content)


def write_atomically(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Writes a temporary file beside `path` and renames it, so that no reader ever sees half a file.

    Args:
        content: bytes, or a function that writes them to a binary file.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())  # else, after a crash, the renamed file may be empty
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp makes files that only their owner can read
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def require_room_for(path: Path, argument: str) -> None:
    """Raises InvalidInput where the path's folder is not writable; call it before long work whose result goes there."""
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"cannot be written: {error.strerror} in {folder}"
        raise InvalidInput(argument, path, problem, "give a path in a folder that you may write to") from None


def remove_leftovers(path: Path) -> None:
    """Removes the temporary files of programs that were killed while they wrote this file."""
    temporary = re.compile(re.escape(f".{path.name}.") + "[a-z0-9_]{8}")  # the names that mkstemp gives
    for entry in os.scandir(path.absolute().parent):
        if temporary.fullmatch(entry.name):
            os.unlink(entry.path)
