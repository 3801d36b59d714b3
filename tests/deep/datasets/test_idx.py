"""The idx reader against files packed by hand, and on damaged ones."""

import contextlib
import gzip
import struct
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from dataset_makers import CODES, packed, refused
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedconvex.deep.datasets import read_idx
from fedconvex.errors import InvalidInput

ARRAYS = hnp.arrays(
    st.sampled_from(sorted(CODES)).map(np.dtype), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
)


def read(data: bytes, name: str = "x") -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return read_idx(path)


@given(array=ARRAYS)
def test_what_is_written_is_read(array: np.ndarray) -> None:
    for found in (read(packed(array)), read(gzip.compress(packed(array)), "x.gz")):
        assert found.dtype == array.dtype
        assert found.dtype.isnative
        assert np.array_equal(found, array, equal_nan=array.dtype.kind == "f")


@given(array=ARRAYS, data=st.data())
def test_a_file_that_is_cut_off_is_refused(array: np.ndarray, data: st.DataObject) -> None:
    whole = packed(array)
    with pytest.raises(InvalidInput, match="truncated"):
        read(whole[: data.draw(st.integers(0, len(whole) - 1))])
    zipped = gzip.compress(whole)
    with pytest.raises(InvalidInput):
        read(zipped[: data.draw(st.integers(0, len(zipped) - 1))], "x.gz")


@given(array=ARRAYS, more=st.binary(min_size=1, max_size=3))
def test_a_file_that_goes_on_is_refused(array: np.ndarray, more: bytes) -> None:
    with pytest.raises(InvalidInput, match="goes on after the array"):
        read(packed(array) + more)


@given(array=ARRAYS, place=st.integers(0, 40), byte=st.integers(0, 255))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(array: np.ndarray, place: int, byte: int) -> None:
    whole = bytearray(packed(array))
    whole[place % len(whole)] = byte
    zipped = bytearray(gzip.compress(packed(array)))
    zipped[place % len(zipped)] = byte
    for data, name in ((whole, "x"), (zipped, "x.gz")):
        with contextlib.suppress(InvalidInput):
            read(bytes(data), name)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is truncated: 0 bytes"),
        (b"\x1f\x8b\x08\x00", "starts with 1f 8b 08 00, which is not the head of an idx file"),
        (b"\0\0\x0a\1\0\0\0\0", "starts with 00 00 0a 01"),
        (b"\0\1\x08\1\0\0\0\0", "starts with 00 01 08 01"),
        (b"\0\0\x08\xff", "starts with 00 00 08 ff"),
        (b"\0\0\x08\2\0\0\0\1", "truncated in the sizes of its 2 axes"),
        (b"\0\0\x0e\3" + b"\xff" * 12, "more than 4 GiB"),
        (b"\0\0\x08\4" + b"\0" * 4 + b"\xff" * 12, "more than 4 GiB"),
    ],
)
def test_wrong_headers(data: bytes, says: str) -> None:
    with refused(says):
        read(data)


@pytest.mark.parametrize("name", ["x", "x.gz"])
def test_no_memory_for_what_is_not_there(name: str) -> None:
    promise = b"\0\0\x08\1" + struct.pack(">I", 2**32 - 1) + b"\1\2\3"
    tracemalloc.start()
    try:
        with refused("is truncated: 3 of the 4294967295 bytes"):
            read(gzip.compress(promise) if name == "x.gz" else promise, name)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with refused(str(tmp_path / "x"), "no such file"):
        read_idx(tmp_path / "x")
    with refused("s a directory"):
        read_idx(tmp_path)
