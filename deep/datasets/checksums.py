"""Is a file the published one? SHA-256 of its uncompressed content."""

import hashlib
import os
import string
from collections.abc import Mapping, Sequence
from pathlib import Path

from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.reading import chunks, opened
from fedconvex.errors import InvalidInput

Sums = str | Mapping[str, str] | None


def checksum(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of the file's content, uncompressed if its name ends in .gz, as 64 hexadecimal digits."""
    path = Path(path)
    digest, size = hashlib.sha256(), 0
    with opened(path) as stream:
        for piece in chunks(stream, MAX_BYTES + 1):
            digest.update(piece)
            size += len(piece)
    if size > MAX_BYTES:
        raise bad_file(path, f"holds more than {MAX_BYTES / 2**30:.0f} GiB", "give a smaller file")
    return digest.hexdigest()


def require_sums(paths: Sequence[Path], sha256: Sums) -> None:
    """Compare files with the sums that they should have.

    sha256: one sum for one file, or a mapping of file names (without .gz) to sums, for some or all of them.
    Raises InvalidInput that names the file that differs, and for sums of files that are not read.
    """
    if sha256 is None:
        return
    if isinstance(sha256, str):
        if len(paths) != 1:
            cure = f"give a mapping of names to sums: {', '.join(_name(path) for path in paths)}"
            raise InvalidInput("sha256", sha256, f"is one sum for {len(paths)} files", cure)
        sha256 = {_name(paths[0]): sha256}
    by_name = {_name(path): path for path in paths}
    for name, wanted in sha256.items():
        if name not in by_name:
            raise InvalidInput("sha256", name, "is no file that is read", f"give {', '.join(by_name)}")
        if len(wanted) != 64 or set(wanted) - set(string.hexdigits):
            raise InvalidInput(f"sha256[{name!r}]", wanted, "is no SHA-256", "give 64 hexadecimal digits")
        found = checksum(by_name[name])
        if found != wanted.lower():
            problem = f"its content has SHA-256 {found}, not {wanted.lower()}"
            raise bad_file(by_name[name], problem, "this is another file, or a damaged one: get it again")


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz")
