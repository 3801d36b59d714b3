"""Files that are whole or not there at all."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from fedconvex.errors import InvalidInput


def replaces(path: Path, content: bytes) -> bool:
    """Whether a file is there that has other contents."""
    return path.is_file() and (path.stat().st_size != len(content) or path.read_bytes() != content)


def write_atomically(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Writes the content, or has it written, to a temporary file beside `path` and renames it into place."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                content(file)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp's files are for their owner alone
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def require_room_for(path: Path, argument: str) -> None:
    """Raises InvalidInput where no file can be made in the path's folder: tried now, since the work comes first."""
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        problem = f"cannot be written: {error.strerror} in {folder}"
        raise InvalidInput(argument, path, problem, "give a path in a folder that you may write to") from None


def remove_leftovers(path: Path) -> None:
    """Removes the temporary files that were to become this one, of programs that were killed as they wrote."""
    theirs = re.compile(re.escape(f".{path.name}.") + "[a-z0-9_]{8}")  # as mkstemp names them
    for entry in os.scandir(path.absolute().parent):
        if theirs.fullmatch(entry.name):
            os.unlink(entry.path)
