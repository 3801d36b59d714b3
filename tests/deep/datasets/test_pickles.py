"""Pickles are read as data. What could be executed is refused, and shown not to be executed."""

import contextlib
import os
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_makers import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedconvex.deep.datasets import read_plain_pickle
from fedconvex.errors import InvalidInput

PROTOCOLS = range(6)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9) | st.binary(max_size=9)
)
KEYS = st.text(max_size=5) | st.binary(max_size=5) | st.integers()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)
NUMBERS = st.sampled_from(["u1", "i1", "<i4", ">i4", "<i8", "<f4", ">f8", "?"]).map(np.dtype)


def read(data: bytes) -> dict[Any, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        return read_plain_pickle(path)


@given(value=st.dictionaries(KEYS, VALUES, max_size=4), protocol=st.sampled_from(PROTOCOLS))
def test_what_python_writes_is_read(value: dict, protocol: int) -> None:
    assert repr(read(pickle.dumps(value, protocol))) == repr(value)


@given(
    array=NUMBERS.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0))),
    by_columns=st.booleans(),
    protocol=st.sampled_from(range(2, 6)),
)
def test_arrays_are_read(array: np.ndarray, by_columns: bool, protocol: int) -> None:
    array = np.asfortranarray(array) if by_columns else array
    found = read(pickle.dumps({"data": array, "again": array, "one": np.float64(0.5)}, protocol))
    assert found["data"].dtype == array.dtype
    assert found["data"].tobytes() == array.tobytes()
    assert found["data"].shape == array.shape
    assert found["again"] is found["data"]
    assert found["one"] == 0.5


def of_python_2(key: bytes, data: bytes, columns: int) -> bytes:
    """A batch by hand as Python 2 and old NumPy wrote it: protocol 2, byte strings, the old names."""
    text = lambda value: b"U" + bytes([len(value)]) + value  # noqa: E731 - the opcode SHORT_BINSTRING
    long_text = b"T" + len(data).to_bytes(4, "little") + data
    rows = len(data) // columns
    shape = b"K" + bytes([rows]) + b"M" + columns.to_bytes(2, "little") + b"\x86"
    kind = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|") + b"NNN" + b"J\xff\xff\xff\xff" * 2
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R(K\x01" + shape
    array += kind + b"K\x00tb\x89" + long_text + b"tb"
    labels = b"]q\x05(" + b"".join(b"K" + bytes([row % 7]) for row in range(rows)) + b"e"
    return b"\x80\x02}q\x01(" + text(b"data") + b"q\x02" + array + text(key) + labels + b"u."


def test_what_python_2_wrote_is_read() -> None:
    data = bytes(range(256)) * 4
    found = read(of_python_2(b"labels", data, 512))
    assert found[b"data"].tolist() == [list(data[:512]), list(data[512:])]
    assert found[b"labels"] == [0, 1]
    same = pickle.loads(of_python_2(b"labels", data, 512), encoding="bytes")  # noqa: S301 - made here
    assert np.array_equal(same[b"data"], found[b"data"])


class Bomb:
    """Unpickling this makes a folder."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        self.reduced = call, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.reduced


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    for call, argument, name in ((os.system, f"mkdir {marker}", "system"), (os.mkdir, str(marker), "mkdir")):
        data = pickle.dumps({"data": Bomb(call, argument)}, protocol)
        with refused("contains code", name, "harm"):
            read(data)
        assert not marker.exists()
        pickle.loads(data)  # noqa: S301 - the example is a real one: run, it does what it should not
        assert marker.exists()
        marker.rmdir()


U1 = b"cnumpy\ndtype\nX\x02\x00\x00\x00u1\x85R(K\x03X\x01\x00\x00\x00"  # and the first of its state


def made(*parts: bytes) -> bytes:
    return b"\x80\x02}X\x01\x00\x00\x00a" + b"".join(parts) + b"s."


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (made(b"cbuiltins\neval\nX\x01\x00\x00\x001\x85R"), "contains code: the name builtins.eval"),
        (made(b"cnumpy\ndtype\n"), "contains code: a name that belongs to no array"),
        (made(b"cbuiltins\neval\n"), "contains code: the name builtins.eval"),
        (made(b"(X\x01\x00\x00\x001ios\nsystem\n"), "contains code"),
        (made(b"cnumpy\ndtype\n)\x81"), "contains code: the instruction NEWOBJ"),
        (made(b"cnumpy\ndtype\n(o"), "contains code: the instruction OBJ"),
        (made(b"X\x01\x00\x00\x00aQ"), "contains code: the instruction BINPERSID"),
        (made(b"\x82\x01"), "contains code: the instruction EXT1"),
        (made(b"}K\x01\x85R"), "contains code: a call of something"),
        (made(b"}}b"), "contains code: a state for something"),
        (made(b"cnumpy\ndtype\n}b"), "contains code: a state for something"),
        (made(b"cnumpy\ndtype\nX\x02\x00\x00\x00O8\x85R"), "a type that is no number"),
        (made(b"cnumpy\ndtype\nX\x02\x00\x00\x00i3\x85R"), "no readable pickle"),
        (made(U1, b"|NK\x01Ntb"), "a type that is no plain number"),
        (made(U1, b"!NNNtb"), "a type that is no plain number"),
        (made(b"cnumpy\nndarray\n)R"), "no readable pickle"),
        (made(b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x06\x00\x00\x00rot-13\x86R"), "not bytes"),
        (pickle.dumps([1]), "holds a list, not a dictionary"),
        (pickle.dumps({1: 2})[:-1], "no readable pickle"),
        (pickle.dumps({1: 2}) + b"x", "goes on after its end"),
        (b"", "the file is empty"),
        (b"\x80\x06}.", "protocol 6"),
        (b"PK\x03\x04", "no readable pickle"),
        (made(b"h\x07"), "no readable pickle"),
        (b"\x80\x02}(K\x01u.", "no readable pickle"),
        (b"\x80\x02}](K\x01e\x86s.", "no readable pickle"),
        (b"\x80\x02}(K\x01]K\x02tK\x01s.", "a key that is a tuple"),
        (pickle.dumps({"a": OrderedDict()}), "contains code: the name collections.OrderedDict"),
        (pickle.dumps({"a": np.array([None])}), "a type that is no number"),
        (pickle.dumps({"a": np.array(["x"])}), "a type that is no number"),
        (pickle.dumps({"a": np.zeros(1, [("x", "u1")])}), "no readable pickle"),
        (pickle.dumps({"a": np.arange(6)}, 4).replace(b"K\x06", b"K\x07", 1), "48 bytes for shape (7,)"),
        (pickle.dumps({"a": {1, 2}}), "contains code: the instruction EMPTY_SET"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_is_refused(data: bytes, says: str) -> None:
    with refused(says):
        read(data)


def test_decoding_may_not_make_more_bytes_than_the_file_has() -> None:
    text = b"X\xe8\x03\x00\x00" + b"a" * 1000 + b"q\x02"
    again = b"c_codecs\nencode\nh\x02X\x06\x00\x00\x00latin1\x86Rs"
    with refused("unpacks to more than it has bytes"):
        read(b"\x80\x02}X\x01\x00\x00\x00b" + text + b"s" + (b"K\x01" + again) * 30 + b".")


def test_buffers_outside_of_the_file_are_refused() -> None:
    data = pickle.dumps({"a": np.arange(6)}, 5, buffer_callback=lambda _: None)
    with refused("contains code: the instruction NEXT_BUFFER"):
        read(data)


def nothing_but_data(value: Any) -> bool:
    own = type(value).__module__ == "fedconvex.deep.datasets.pickled_arrays"  # an array that was never completed
    return own or type(value) in (dict, list, tuple, str, bytes, bytearray, int, float, bool, type(None), np.ndarray)


SAMPLES = [pickle.dumps({"data": np.arange(6, dtype=np.uint8), "labels": [1, 2], b"x": "y"}, p) for p in range(2, 6)]


@settings(max_examples=300)
@given(sample=st.sampled_from([*SAMPLES, of_python_2(b"labels", bytes(600), 300)]), data=st.data())
def test_a_damaged_pickle_is_read_or_refused_and_nothing_else(sample: bytes, data: st.DataObject) -> None:
    damaged = bytearray(sample)
    start = data.draw(st.integers(0, len(damaged)))
    damaged[start : start + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=6))
    with contextlib.suppress(InvalidInput):
        assert all(nothing_but_data(value) for value in read(bytes(damaged)).values())


@given(noise=st.binary(max_size=60))
def test_noise_is_read_or_refused_and_nothing_else(noise: bytes) -> None:
    for data in (noise, b"\x80\x02}(" + noise + b"u."):
        with contextlib.suppress(InvalidInput):
            read(data)
