"""Files and folders that commands write: checked before the work, reported after it."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fedconvex.atomic_files import remove_leftovers
from fedconvex.errors import InvalidInput
from fedconvex.safe_text import one_line


def require_writable(folder: Path, option: str = "--out") -> None:
    """Raises InvalidInput, before any work, for a folder to which results cannot be written after it.

    Deletes the temporary files in the folder whose writers were killed.
    """
    parent = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=parent):  # tried: permission bits say nothing for root, nor in /proc
            remove_leftovers(parent)
    except OSError:
        problem = f"{parent} is no folder that can be written to"
        raise InvalidInput(option, folder, problem, "choose another folder") from None


def require_file(path: Path, option: str, endings: Sequence[str] = ()) -> None:
    """Raises InvalidInput, before any work, for a file that cannot be written, or has none of the endings."""
    if endings and path.suffix.lower() not in endings:
        raise InvalidInput(option, path, "has an unknown ending", f"choose {', '.join(endings)}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(option, path, "is no file that can be written", "name a file in an existing folder")
    require_writable(path.absolute().parent, option)


def saved(files: Mapping[Path, bool]) -> str:
    """The line that lists the files that were saved; True marks one that replaced a file of other contents."""
    names = (one_line(str(file)) + " (replaced)" * lost for file, lost in files.items())
    return f"saved {', '.join(names)}"
