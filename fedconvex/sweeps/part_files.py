"""The finished runs of a sweep on disk, one Parquet file each, from which an interrupted sweep continues."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fedconvex.atomic_files import remove_leftovers, write_atomically
from fedconvex.errors import InvalidInput

SUFFIX = ".parts"  # the folder has the name of the result with this suffix
DIGITS = 32  # hexadecimal digits of the key and of the digest in a file's name: 128 bits each
NAME = re.compile(rf"([0-9a-f]{{{DIGITS}}})-[0-9a-f]{{{DIGITS}}}\.parquet")


@final
@dataclass(frozen=True)
class PartFiles:
    """The folder of the part files. The name of a file holds its cell's key and a digest of that key and the content.

    `load` therefore accepts a file only if it is complete, unchanged and belongs to its cell. The key covers all that
    the run depends on, so that a part of another method, problem or library version is never taken for this cell's.
    """

    folder: Path

    @staticmethod
    def beside(out: Path) -> "PartFiles":
        """The part files of the sweep that writes its result to `out`."""
        return PartFiles(out.with_name(out.name + SUFFIX))

    def load(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The contents of the existing part files of these cells, by key. Files of other sweeps are ignored.

        Raises InvalidInput for a file that is not a part file, for a damaged one, and for two files of one cell.
        """
        wanted, found = {_short(key): key for key in keys}, dict[str, bytes]()
        if not self.folder.exists():
            return found
        if not self.folder.is_dir():
            raise self._refused("its parts go to {}, which is no folder", self.folder, "move it away")
        remove_leftovers(self.folder)
        for path in self._files():
            match = NAME.fullmatch(path.name)
            if match is None:
                raise self._refused("in the folder of its parts, {} is none", path, "move it out of the folder")
            if match[1] not in wanted:
                continue
            key = wanted[match[1]]
            content = path.read_bytes()
            if path.name != _name(key, content):
                raise self._refused("its part {} is damaged", path, "delete this file: its run will be repeated")
            if key in found:
                problem = "its part {} is another one of a run that has one already"
                raise self._refused(problem, path, "delete one of the two, or both")
            found[key] = content
        return found

    def add(self, key: str, content: bytes) -> None:
        """Writes the part file of a cell, completely or not at all."""
        self.folder.mkdir(exist_ok=True)
        write_atomically(self.folder / _name(key, content), content)

    def remove(self, keys: Iterable[str]) -> None:
        """Deletes these cells' part files and what killed processes left; the folder too, if it is then empty."""
        gone = {_short(key) for key in keys}
        if not self.folder.is_dir():
            return
        remove_leftovers(self.folder)
        for path in list(self.folder.iterdir()):
            if _short(path.name.lstrip(".")) in gone:
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _refused(self, problem: str, path: Path, cure: str) -> InvalidInput:
        return InvalidInput("out", self.folder.name.removesuffix(SUFFIX), problem.format(path), cure)

    def _files(self) -> Iterator[Path]:
        """All files that are not hidden: a killed process may leave a hidden, half-written temporary file."""
        return (path for path in sorted(self.folder.iterdir()) if not path.name.startswith("."))


def _name(key: str, content: bytes) -> str:
    return f"{_short(key)}-{_short(hashlib.sha256(key.encode() + content).hexdigest())}.parquet"


def _short(digits: str) -> str:
    return digits[:DIGITS]
