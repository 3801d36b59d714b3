"""Long CSV files: what is asked of the system while reading does not grow with the rows."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import fedconvex as fc
from fedconvex import memory
from fedconvex.data import delimited, table
from fedconvex.data.delimited import read_delimited

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
