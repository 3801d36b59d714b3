"""Damaged tables of finished sweeps: read as they were written, or refused."""

import random
from pathlib import Path

import pyarrow
import pytest

from fedconvex.errors import InvalidInput
from fedconvex.sweeps.tables import FRAME, GRID, _frame, finished, table_to_parquet

KEY = "0123"
counts = pytest.mark.parametrize("count", [150, pytest.param(3000, marks=pytest.mark.exhaustive)])


@counts
def test_a_damaged_table_is_refused_or_its_numbers_are_right(count: int, tmp_path: Path) -> None:
    table = pyarrow.table({"method": ["a", "b"] * 50, "seed": [*range(100)], "gap": [1 / (1 + t) for t in range(100)]})
    table = table.replace_schema_metadata({GRID: KEY.encode(), FRAME: _frame(table)})
    good, file, rng, refused = table_to_parquet(table), tmp_path / "sweep.parquet", random.Random(27), 0
    file.write_bytes(good)
    assert finished(file, KEY).equals(table)
    for _ in range(count):
        content = bytearray(good)
        for _ in range(rng.choice((1, 1, 1, 5))):
            content[rng.randrange(len(content))] = rng.randrange(256)
        file.write_bytes(content[: rng.randrange(len(content)) if rng.random() < 0.2 else len(content)])
        try:
            assert finished(file, KEY).to_pandas().equals(table.to_pandas())
        except InvalidInput as error:
            assert error.argument == "out"  # noqa: PT017 - whether it is raised is drawn
            refused += 1
    assert refused > count / 4


def test_the_table_of_another_grid_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.parquet").write_bytes(table_to_parquet(pyarrow.table({"a": [1]})))
    with pytest.raises(InvalidInput, match="something else"):
        finished(tmp_path / "sweep.parquet", KEY)
