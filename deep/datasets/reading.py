"""Finding and reading the files of data sets, plain or gzipped (.gz).

Files come from users and from the network: they may be missing, damaged or too large, and are never executed.
"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fedconvex.data.file_contents import open_bytes, unreadable
from fedconvex.data.table import bad_file
from fedconvex.errors import InvalidInput


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as a stream of its uncompressed bytes; a failure to read, at any time, becomes an InvalidInput."""
    try:
        with open_bytes(path) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def find(folder: Path, names: Sequence[str], data: str, origin: str) -> Path:
    """Return the first of `names` that exists in the folder, plain or with .gz; a name may contain folders (a/b).

    Raises InvalidInput that lists the names, and says from where (`origin`) the data set `data` is available.
    """
    require_folder(folder, names, data, origin)
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise missing(folder, f"has no file {' or '.join(names)} (plain or .gz)", data, origin)


def require_folder(folder: Path, names: Sequence[str], data: str, origin: str) -> None:
    """Raise InvalidInput if the folder does not exist or is a file."""
    if not folder.is_dir():
        what = "is a file, not the folder of" if folder.exists() else "there is no such folder, expected with"
        raise missing(folder, f"{what} {', '.join(names)}", data, origin)


def missing(place: Path, problem: str, data: str, origin: str) -> InvalidInput:
    """Return the error for files of a data set that do not exist."""
    return bad_file(place, problem, f"nothing is downloaded here: get {data} from {origin}")


def files_with_suffix(place: Path, suffixes: Sequence[str], data: str, origin: str) -> list[Path]:
    """Return `place` itself if it is a file, or else the folder's files with one of the suffixes, sorted by name."""
    if not place.is_dir():
        if not place.exists():
            raise missing(place, "there is no such file or folder", data, origin)
        return [place]
    found = sorted(path for path in place.iterdir() if path.is_file() and path.name.lower().endswith(tuple(suffixes)))
    if not found:
        raise missing(place, f"has no file *{' or *'.join(suffixes)}", data, origin)
    return found
