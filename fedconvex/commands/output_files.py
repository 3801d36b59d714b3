"""Files and folders that commands write: checked before the work, reported after it."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fedconvex.atomic_files import remove_leftovers
from fedconvex.errors import InvalidInput
from fedconvex.safe_text import one_line

DEVICES = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def require_writable(folder: Path, option: str = "--out", names: Sequence[str] = ()) -> None:
    """Raises InvalidInput, before any work, for a folder to which files of these names cannot be written after it.

    Deletes the temporary files in the folder whose writers were killed.
    """
    parent = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=parent):  # tried: permission bits say nothing for root, nor in /proc
            remove_leftovers(parent)
    except OSError:
        problem = f"{parent} is no folder that can be written to"
        raise InvalidInput(option, folder, problem, "choose another folder") from None
    for path in (folder / name for name in names):
        if path.exists() and not path.is_file():
            problem = f"{one_line(str(path))} is no file that can be replaced"
            raise InvalidInput(option, folder, problem, "move it away, or choose another folder")


def require_file(path: Path, option: str, endings: Sequence[str] = ()) -> None:
    """Raises InvalidInput, before any work, for a file that cannot be written, or has none of the endings."""
    if endings and path.suffix.lower() not in endings:
        raise InvalidInput(option, path, "has an unknown ending", f"choose {', '.join(endings)}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InvalidInput(option, path, "is no file that can be written", "name a file in an existing folder")
    # writing renames a file to this path: that would put a file in the place of /dev/null, or of the link /dev/stdout
    if (path.exists() and not path.is_file()) or path.absolute().parent in DEVICES:
        raise InvalidInput(option, path, "is a device, not a file", "name a file")
    require_writable(path.absolute().parent, option)


def require_files(outputs: Mapping[str, Path | None], read: Path | None = None) -> None:
    """`require_file` for the path of every option, which must be another file than the others and the one read."""
    taken = {} if read is None else {read.resolve(): "is the file that is read"}
    for option, path in outputs.items():
        if path is not None:
            require_file(path, option)
            if (found := taken.get(path.resolve())) is not None:
                raise InvalidInput(option, path, found, "name a file of its own")
            taken[path.resolve()] = f"is the file of {option}"


def require_not_replaced(read: Path, folder: Path, names: Sequence[str], option: str = "--out") -> None:
    """Raises InvalidInput where one of the files that a command writes to the folder is the file that it reads."""
    if read.resolve() in {(folder / name).resolve() for name in names}:
        problem = f"the results would replace {one_line(str(read))}, which is read"
        raise InvalidInput(option, folder, problem, "choose another folder")


def saved(files: Mapping[Path, bool]) -> str:
    """The line that lists the files that were saved; True marks one that replaced a file of other contents."""
    names = (one_line(str(file)) + " (replaced)" * lost for file, lost in files.items())
    return f"saved {', '.join(names)}"
