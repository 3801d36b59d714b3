"""Reads NPZ files, once memory is there for what the headers of their arrays announce; nothing is unpickled."""

import math
import zipfile
from typing import IO

import numpy as np

from fedconvex.errors import TooLarge
from fedconvex.memory import NUMBER, readable, require

MAX_BYTES = 4 * 2**30
COPIES = 2  # of numbers as float64: whole, and divided among clients
TEXT_COPIES = 6  # of text, of which every entry takes as much as the longest, while data are divided among clients
SMALLER = "give fewer samples or features"


def names_of(archive: zipfile.ZipFile, argument: str, value: object, cure: str = SMALLER) -> list[str]:
    """The arrays' names in the order of the members, all of which are undamaged.

    Raises TooLarge for `argument` before anything is unpacked, and on damage nearly any exception.
    """
    needed = 0
    for member in archive.infolist():
        with archive.open(member) as stream:
            kind, count = _announced(stream)
        # numbers may become float64; a member that is no array is only compared with its checksum
        needed += count * (TEXT_COPIES * kind.itemsize if kind.kind in "SU" else kind.itemsize + COPIES * NUMBER)
    # also of what is no array: all are compared
    if max(needed // 2, sum(member.file_size for member in archive.infolist())) > MAX_BYTES:
        raise TooLarge(argument, value, f"unpacks to more than {readable(MAX_BYTES)} of numbers", cure)
    require(needed, argument, value, "unpacking its arrays and making them float64", cure)
    # all members, for what has a damaged name may be the clients'
    if (damaged := archive.testzip()) is not None:
        raise ValueError(f"its member {damaged} is damaged")
    return [name.removesuffix(".npy") for name in archive.namelist()]


def array(archive: zipfile.ZipFile, member: str) -> np.ndarray:
    """The array of that member. Raises ValueError where it is none, or is not all that the member holds."""
    with archive.open(member) as stream:
        found: np.ndarray = np.lib.format.read_array(stream, allow_pickle=False)
        if stream.read(1):  # a header of too few rows
            raise ValueError(f"{member} goes on after an array of shape {found.shape}")
    return found


def _announced(stream: IO[bytes]) -> tuple[np.dtype, int]:
    """The type and the number of entries of an .npy member, by its header; none where it is no such member."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    except ValueError:  # numpy refuses it, or the reader: it is no array
        return np.dtype(np.uint8), 0
    return dtype, math.prod(map(abs, shape))
