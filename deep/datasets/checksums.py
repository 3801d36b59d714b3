"""Checksums of data files: SHA-256 of the uncompressed content, so that a file may be gzipped or not."""

import hashlib
import os
import string
from collections.abc import Mapping, Sequence
from pathlib import Path

from fedconvex.data.file_contents import chunks
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.reading import opened
from fedconvex.errors import InvalidInput

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
