"""Reader of the idx format of MNIST and EMNIST: a number type, the sizes of the axes, then the numbers, big-endian.

Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", section on file formats.
"""

import math
import os
from pathlib import Path
from typing import IO

import numpy as np

from fedconvex.data.file_contents import buffered
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.reading import opened

TYPES = {0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}
MAX_AXES = 32


def read_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """Read the array of an idx file, in the machine's byte order; a file whose name ends in .gz is uncompressed.

    Use it for idx files that no loader of this package knows; `mnist` and `emnist` call it themselves.

    Raises InvalidInput for a wrong magic number, a file that is too short or too long, and an array over 4 GiB. Memory
    grows with the bytes that arrive, so a header that announces a huge array costs nothing.
    """
    path = Path(path)
    with opened(path) as stream:
        kind, shape = _header(path, stream)
        size = math.prod(shape) * kind.itemsize
        data = buffered(stream, size).getbuffer()
        if len(data) < size:
            problem = f"is truncated: {len(data)} of the {size} bytes for an array of shape {shape}"
            raise bad_file(path, problem, "download or copy the file again")
        if stream.read(1):  # trailing bytes mean that header and content do not belong together
            raise bad_file(path, f"goes on after the array of shape {shape}", "download or copy the file again")
    array = np.frombuffer(data, dtype=kind.newbyteorder(">")).reshape(shape)
    return array.astype(kind, copy=False)


def _header(path: Path, stream: IO[bytes]) -> tuple[np.dtype[np.generic], tuple[int, ...]]:
    magic = buffered(stream, 4).getvalue()
    if len(magic) < 4:
        raise bad_file(path, f"is truncated: {len(magic)} bytes", "download or copy the file again")
    if magic[:2] != b"\0\0" or magic[2] not in TYPES or magic[3] > MAX_AXES:
        cure = "give an idx file; a compressed one needs .gz at the end of its name"
        raise bad_file(path, f"starts with {magic.hex(' ')}, which is not the head of an idx file", cure)
    kind, axes = np.dtype(TYPES[magic[2]]), magic[3]
    sizes = buffered(stream, 4 * axes).getvalue()
    if len(sizes) < 4 * axes:
        raise bad_file(path, f"is truncated in the sizes of its {axes} axes", "download or copy the file again")
    shape = tuple(np.frombuffer(sizes, dtype=">u4").tolist())
    # Axes of size 0 are left out of the product: beside one of them, the other sizes could be absurd unnoticed.
    if math.prod(size for size in shape if size) * kind.itemsize > MAX_BYTES:
        problem = f"announces an array of shape {shape}, which is more than {MAX_BYTES / 2**30:.0f} GiB"
        raise bad_file(path, problem, "give a smaller file, or an undamaged one")
    return kind, shape
