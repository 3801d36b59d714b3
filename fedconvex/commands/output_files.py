"""Folders that commands write their results to."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from fedconvex.errors import InvalidInput


def require_writable(folder: Path, option: str = "--out") -> None:
    """Refuses before the work what could not be saved after it."""
    parent = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=parent):  # tried: permissions do not tell for root, nor for /proc
            return
    except OSError:
        problem = f"{parent} is no folder that can be written to"
        raise InvalidInput(option, folder, problem, "choose another folder") from None


def saved(files: Mapping[Path, bool]) -> str:
    """The line that says what was saved, and where something of other contents is lost."""
    return f"saved {', '.join(f'{file} (replaced)' if lost else str(file) for file, lost in files.items())}"


def require_file(path: Path, option: str) -> None:
    """Refuses before the work a file that could not be written after it."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(option, path, "is no file that can be written", "name a file in an existing folder")
    require_writable(path.absolute().parent, option)
