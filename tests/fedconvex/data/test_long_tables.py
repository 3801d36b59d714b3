"""Long CSV files: the memory is checked now and then, and blocks of lines are read as single lines are."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex import memory
from fedconvex.data import delimited, number_blocks, table
from fedconvex.data.delimited import read_delimited
from fedconvex.data.number_blocks import number_columns
from fedconvex.data.table import roles

ROWS = 3000


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    path = tmp_path / "long.csv"
    rows = np.random.default_rng(0).standard_normal((ROWS, 3))
    np.savetxt(path, rows, delimiter=",", header="a,b,y", comments="", fmt="%.17g")
    return path


def test_the_size_is_checked_once_for_many_rows(long_file: Path) -> None:
    with (
        patch.object(delimited, "check_size", side_effect=table.check_size) as checked,
        patch.object(delimited, "CHECKED", 16 * 500),
        patch.object(delimited, "number_columns", return_value=None),
    ):
        found = read_delimited(long_file, ",", "y", None)
    assert checked.call_count == ROWS // 500 + 1
    assert (found.features == np.loadtxt(long_file, delimiter=",", skiprows=1)[:, :2]).all()


@pytest.mark.parametrize("between", [1, 16 * 500, 2**20])
def test_however_often_it_is_checked_what_is_too_large_is_refused(
    long_file: Path, between: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "CHECKED", between)
    with patch.object(table, "MAX_BYTES", 16 * ROWS):
        assert len(read_delimited(long_file, ",", "y", None).features) == ROWS
    with patch.object(table, "MAX_BYTES", 16 * (ROWS - 1)), pytest.raises(fc.InvalidInput, match=f"{ROWS} rows by 2"):
        read_delimited(long_file, ",", "y", None)
    monkeypatch.setattr(table, "FREE", 0)
    monkeypatch.setattr(memory, "FREE", 0)
    with patch.object(memory, "available", return_value=16 * ROWS), pytest.raises(fc.errors.TooLarge):
        read_delimited(long_file, ",", "y", None)


def found_in(path: Path, client: str | None) -> Any:
    """The table, or the error that refuses the file."""
    try:
        table = read_delimited(path, ",", "y", client)
    except fc.InvalidInput as error:
        return str(error)
    return table.features.tobytes(), table.targets.tobytes(), table.targets.dtype, table.clients, table.notes


CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.text("0123456789+-.eE_ ", max_size=6),
    st.sampled_from(
        ["", "nan", "inf", "true", "0x1p3", "1d5", "\u0661", "\u20031", "9007199254740993", '"1"', "1\r", "\x1c2"]
    ),
)
NUMBERS = st.floats(-1e6, 1e6).map(repr)
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\r"])


@given(
    st.lists(
        st.tuples(CELLS | NUMBERS, NUMBERS, NUMBERS | CELLS, st.text("ab #'_é", max_size=3)), min_size=1, max_size=6
    ),
    ENDS,
    st.booleans(),
    st.sampled_from([None, "c"]),
    st.integers(1, 40),
)
@example([("1", "2", "3", "a"), ("1", "2", "3", "na")], "\n", True, "c", 40)
@example([("1", "2", "yes", "a"), ("1", "2", "no", " b ")], "\n", True, None, 40)
def test_blocks_are_read_as_lines_are(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], end: str, closed: bool, client: str | None, block: int
) -> None:
    """A second route to every file: line by line, cell by cell, by Python's own `csv` and `float`."""
    path = tmp_path_factory.mktemp("blocks") / "data.csv"
    lines = [",".join(row if client else row[:3]) for row in rows]
    path.write_bytes((end.join(["a,b,y,c" if client else "a,b,y", *lines]) + end * closed).encode())
    with patch.object(number_blocks, "BLOCK", block):
        in_blocks = found_in(path, client)
    with patch.object(delimited, "number_columns", return_value=None):
        assert in_blocks == found_in(path, client)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (b"a,y\n1,2\n", True),
        (b"a,y\r\n1,2\r\n3,4", True),
        (b"a,y\n1,red\n", True),
        (b"a,y\n\n1,2\n", False),  # line numbers would be off
        (b"a,y\n1,2,3\n", False),
        (b"a,y\n1\n", False),
        (b'a,y\n"1",2\n', False),
        (b"a,y\n1_0,2\n", False),
        (b"a,y\nnan,2\n", False),
        (b"a,y\n1,9007199254740993\n", False),
        (b"a,y\n1,2\r3,4\n", False),
        (b"a,y\n\xff,2\n", False),
        (b"a,y", False),
    ],
)
def test_what_is_unusual_is_left_to_the_reader_of_lines(text: bytes, taken: bool, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text)
    assert (number_columns(path, ",", 2, roles(path, ["a", "y"], None, None)) is not None) == taken


def test_a_long_line_is_not_read_as_two_rows(tmp_path: Path) -> None:
    """Cut where a block ends, each half of its three cells would be a row of two."""
    path = tmp_path / "data.csv"
    path.write_text("a,y\n1,0000000000000000,7\n")
    with patch.object(number_blocks, "BLOCK", 4), patch.object(number_blocks, "LONGEST", 8):
        assert number_columns(path, ",", 2, roles(path, ["a", "y"], None, None)) is None
        with pytest.raises(fc.InvalidInput, match="line 2: has 3 fields"):
            read_delimited(path, ",", "y", None)
