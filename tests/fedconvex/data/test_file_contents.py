"""Reading asks for the memory that a file needs, not for that of the largest file allowed."""

import gzip
import io
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from fedconvex.data.file_contents import buffered, contents
from fedconvex.deep.datasets.reading import checksum
from fedconvex.errors import InvalidInput

MEBIBYTE = 2**20


@contextmanager
def at_most(limit: int) -> Iterator[None]:
    """What happens inside never holds more than `limit` bytes at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] <= limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["data.npz", "data.gz"])
def test_a_small_file_takes_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"content") if name.endswith(".gz") else b"content")
    with at_most(4 * MEBIBYTE):
        assert contents(path) == b"content"
        checksum(path)


def test_a_large_file_is_in_memory_once(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(bytes(32 * MEBIBYTE))
    with at_most(42 * MEBIBYTE):
        assert len(contents(path)) == 32 * MEBIBYTE


def test_the_limit_of_memory_notices_a_second_copy() -> None:
    with pytest.raises(AssertionError), at_most(42 * MEBIBYTE):
        _ = [bytes(32 * MEBIBYTE), bytes(32 * MEBIBYTE)]


def test_a_stream_is_read_to_its_limit_and_no_further() -> None:
    stream = io.BytesIO(bytes(range(10)))
    assert buffered(stream, 4).getvalue() == bytes(range(4))
    assert np.frombuffer(buffered(stream).getbuffer(), np.uint8).flags.writeable
    assert stream.read() == b""


def test_a_file_for_which_memory_runs_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> io.BytesIO:
        raise MemoryError

    path = tmp_path / "data.npz"
    path.write_bytes(b"content")
    monkeypatch.setattr("fedconvex.data.file_contents.buffered", full)
    with pytest.raises(InvalidInput, match=r"data\.npz: does not fit into the memory; give a smaller file"):
        contents(path)
