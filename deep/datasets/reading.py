"""Finding and reading the files of data sets, plain or gzipped (.gz), and their checksums (of what is uncompressed).

Files come from users and from the network: they may be missing, damaged or too large, and are never executed.
"""

import hashlib
import os
import string
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fedconvex.data.file_contents import chunks, open_bytes, unreadable
from fedconvex.data.table import MAX_BYTES, bad_file
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


Checksums = str | Mapping[str, str] | None


def checksum(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's content, as 64 hexadecimal digits; a file whose name ends in .gz is uncompressed first.

    Use it to find the value for a loader's argument `sha256`, which then refuses any other file.
    Raises InvalidInput for a file that cannot be read, or whose content is larger than 4 GiB.
    """
    path = Path(path)
    digest, size = hashlib.sha256(), 0
    with opened(path) as stream:
        for piece in chunks(stream, MAX_BYTES + 1):  # one byte more than allowed shows that the content is too large
            digest.update(piece)
            size += len(piece)
    if size > MAX_BYTES:
        raise bad_file(path, f"holds more than {MAX_BYTES / 2**30:.0f} GiB", "give a smaller file")
    return digest.hexdigest()


def require_checksums(paths: Sequence[Path], sha256: Checksums) -> None:
    """Compare files with their expected checksums.

    sha256: one checksum for a single file, or a mapping from file names (without .gz) to checksums, for some or all of
    the files; None compares nothing.
    Raises InvalidInput that names the file that differs, and for a checksum of a file that is not among the paths.
    """
    if sha256 is None:
        return
    if isinstance(sha256, str):
        if len(paths) != 1:
            cure = f"give a mapping from names to checksums: {', '.join(_name(path) for path in paths)}"
            raise InvalidInput("sha256", sha256, f"is one checksum for {len(paths)} files", cure)
        sha256 = {_name(paths[0]): sha256}
    by_name = {_name(path): path for path in paths}
    for name, wanted in sha256.items():
        # A checksum of another name protects nothing, so a misspelt name is an error.
        if name not in by_name:
            raise InvalidInput("sha256", name, "is not among the files of this data set", f"give {', '.join(by_name)}")
        if len(wanted) != 64 or set(wanted) - set(string.hexdigits):
            raise InvalidInput(f"sha256[{name!r}]", wanted, "is not a SHA-256 checksum", "give 64 hexadecimal digits")
        found = checksum(by_name[name])
        if found != wanted.lower():
            problem = f"its content has SHA-256 {found}, not {wanted.lower()}"
            raise bad_file(by_name[name], problem, "this is another file, or a damaged one: get it again")


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz")
