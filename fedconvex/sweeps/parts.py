"""The finished runs of a sweep on disk, one Parquet file each: what a sweep that was stopped goes on from."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fedconvex.atomic_files import write_atomically
from fedconvex.errors import InvalidInput

SUFFIX = ".parts"  # of the folder, after the name of the result
DIGITS = 32  # of a key and of a digest in a part's name: 128 bits each
NAME = re.compile(rf"([0-9a-f]{{{DIGITS}}})-[0-9a-f]{{{DIGITS}}}\.parquet")


@final
@dataclass(frozen=True)
class Parts:
    """The folder of the parts. A part's name has its cell's key, and a digest of the key and the file's bytes.

    So every part is whole, unchanged and the right one, or it is refused.
    """

    folder: Path

    @staticmethod
    def beside(out: Path) -> "Parts":
        """Those of the sweep whose result goes to `out`."""
        return Parts(out.with_name(out.name + SUFFIX))

    def load(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The contents of the parts of these cells that are there; those of other sweeps are left alone.

        Raises InvalidInput for a file that is no part, for a damaged part, and for two parts of one cell.
        """
        wanted, found = {_short(key): key for key in keys}, dict[str, bytes]()
        if not self.folder.exists():
            return found
        if not self.folder.is_dir():
            raise self._refused("its parts go to {}, which is no folder", self.folder, "move it away")
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
        """Writes a cell's part: whole, or not at all."""
        self.folder.mkdir(exist_ok=True)
        write_atomically(self.folder / _name(key, content), content)

    def remove(self, keys: Iterable[str]) -> None:
        """Deletes the parts of these cells and what writing them may have left behind; the folder, if it is empty."""
        gone = {_short(key) for key in keys}
        if not self.folder.is_dir():
            return
        for path in list(self.folder.iterdir()):
            if _short(path.name.removeprefix(".")) in gone:
                path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _refused(self, problem: str, path: Path, cure: str) -> InvalidInput:
        return InvalidInput("out", self.folder.name.removesuffix(SUFFIX), problem.format(path), cure)

    def _files(self) -> Iterator[Path]:
        """All but hidden ones: among these are files that were being written when their process was killed."""
        return (path for path in sorted(self.folder.iterdir()) if not path.name.startswith("."))


def _name(key: str, content: bytes) -> str:
    return f"{_short(key)}-{_short(hashlib.sha256(key.encode() + content).hexdigest())}.parquet"


def _short(digits: str) -> str:
    return digits[:DIGITS]
