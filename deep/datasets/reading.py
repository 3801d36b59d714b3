"""Find and read the files of data sets, plain or gzipped (.gz), as data that may be wrong or too large."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fedconvex.data.stream import open_bytes, unreadable
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.errors import InvalidInput

CHUNK = 2**20


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's uncompressed bytes as a stream; every failure to read them is an InvalidInput."""
    try:
        with open_bytes(path) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def chunks(stream: IO[bytes], limit: int) -> Iterator[bytes]:
    """At most `limit` bytes of the stream, piece by piece: memory is asked for as the bytes come."""
    while limit > 0 and (piece := stream.read(min(limit, CHUNK))):
        limit -= len(piece)
        yield piece


def read(stream: IO[bytes], limit: int = MAX_BYTES) -> bytearray:
    """At most `limit` bytes of the stream."""
    data = bytearray()
    for piece in chunks(stream, limit):
        data += piece
    return data


def find(folder: Path, names: Sequence[str], data: str, origin: str) -> Path:
    """The first of `names` that is there, with or without .gz; names may have folders in them (a/b).

    Raises InvalidInput that says which files are looked for and where `data` can be had.
    """
    require_folder(folder, names, data, origin)
    for name in names:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    raise missing(folder, f"has no file {' or '.join(names)} (plain or .gz)", data, origin)


def require_folder(folder: Path, names: Sequence[str], data: str, origin: str) -> None:
    """Raises InvalidInput where the folder is not there, or is a file."""
    if not folder.is_dir():
        what = "is a file, not the folder of" if folder.exists() else "there is no such folder to look for"
        raise missing(folder, f"{what} {', '.join(names)}", data, origin)


def missing(place: Path, problem: str, data: str, origin: str) -> InvalidInput:
    """The error for files of a data set that are not there."""
    return bad_file(place, problem, f"nothing is downloaded here: get {data} from {origin}")


def texts(place: Path, suffixes: Sequence[str], data: str, origin: str) -> list[Path]:
    """The file itself, or those files of a folder, in the order of their names, that end in one of the suffixes."""
    if not place.is_dir():
        if not place.exists():
            raise missing(place, "there is no such file or folder", data, origin)
        return [place]
    found = sorted(path for path in place.iterdir() if path.is_file() and path.name.lower().endswith(tuple(suffixes)))
    if not found:
        raise missing(place, f"has no file *{' or *'.join(suffixes)}", data, origin)
    return found
