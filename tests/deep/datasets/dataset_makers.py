"""Small files in the formats of the data sets, packed by hand, and a context that checks the texts of errors."""

import gzip
import io
import struct
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fedconvex.errors import InvalidInput

REAL = Path(__file__).parents[3] / ".." / "shared" / "data"
CODES = {
    "u1": (0x08, "B"),
    "i1": (0x09, "b"),
    "i2": (0x0B, "h"),
    "i4": (0x0C, "i"),
    "f4": (0x0D, "f"),
    "f8": (0x0E, "d"),
}


def packed(array: np.ndarray) -> bytes:
    """An idx file, number by number: a second route that shares nothing with NumPy's own byte order."""
    code, letter = CODES[array.dtype.str[1:]]
    head = bytes([0, 0, code, array.ndim]) + b"".join(struct.pack(">I", size) for size in array.shape)
    return head + b"".join(struct.pack(">" + letter, number) for number in array.ravel().tolist())


def images(count: int, height: int = 4, width: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, height, width), dtype=np.uint8)


def write_pair(folder: Path, image_name: str, label_name: str, pictures: np.ndarray, labels: list[int]) -> None:
    """An image and a label file, gzipped where the name says so."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in ((image_name, pictures), (label_name, np.array(labels, dtype=np.uint8))):
        data = packed(array)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def tarred(members: dict[str, bytes], mode: Literal["w", "w:gz"] = "w") -> bytes:
    """An archive of these files."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode) as whole:
        for name, content in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            whole.addfile(about, io.BytesIO(content))
    return written.getvalue()


@contextmanager
def refused(*says: str) -> Iterator[None]:
    """What happens inside raises InvalidInput whose text has all of these parts, and a cure."""
    with pytest.raises(InvalidInput) as caught:
        yield
    for part in says:
        assert part in str(caught.value), str(caught.value)
    assert caught.value.cure


def real(*parts: str) -> Path:
    """A real file, or a loud skip: what was not tested, and because of which file."""
    path = REAL.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"NOT TESTED ON REAL DATA: {path} is missing")
    return path
