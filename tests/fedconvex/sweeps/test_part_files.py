"""A sweep refuses files of finished runs that are incomplete, changed or of another sweep."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
import sweep_makers as make

from fedconvex import locks
from fedconvex.errors import InvalidInput
from fedconvex.owners import Owner
from fedconvex.sweeps import sweep
from fedconvex.sweeps.cell_runs import run_cell
from fedconvex.sweeps.errors import IncompleteSweep
from fedconvex.sweeps.grid import Grid, make_grid
from fedconvex.sweeps.part_files import PartFiles
from fedconvex.sweeps.tables import merged

pytestmark = pytest.mark.beyond_core  # takes seconds


@pytest.fixture(scope="module")
def grid() -> Grid:
    arguments = make.grid()
    options = {"participation": arguments["participation"]}
    return make_grid(arguments["methods"], arguments["problems"], arguments["seeds"], arguments["rounds"], options)


@pytest.fixture(scope="module")
def contents(grid: Grid) -> list[tuple[str, bytes]]:
    outcomes = [run_cell(cell, grid.problems[cell.problem]) for cell in grid.cells]
    return [(outcome.key, outcome.content) for outcome in outcomes if outcome.content is not None]


@pytest.fixture
def parts(tmp_path: Path, contents: list[tuple[str, bytes]]) -> PartFiles:
    """Five of twelve."""
    parts = PartFiles.beside(tmp_path / "sweep.parquet")
    for key, content in contents[:5]:
        parts.add(key, content)
    return parts


def test_merging_keeps_the_order_of_the_grid(grid: Grid, contents: list[tuple[str, bytes]]) -> None:
    make.assert_identical(merged(grid.cells, contents[::-1]).to_pandas(), make.expected())


def test_merging_refuses_what_is_not_each_run_once(grid: Grid, contents: list[tuple[str, bytes]]) -> None:
    with pytest.raises(IncompleteSweep, match="gd on logistic, seed 1 is there 0 times instead of once"):
        merged(grid.cells, contents[:-1])
    with pytest.raises(IncompleteSweep, match="gd on logistic, seed 1 is there 2 times instead of once"):
        merged(grid.cells, [*contents, contents[-1]])
    with pytest.raises(IncompleteSweep, match="1 runs are none of this sweep's"):
        merged(grid.cells[:-1], contents)
    exchanged = [*contents[2:], (contents[0][0], contents[1][1]), (contents[1][0], contents[0][1])]
    with pytest.raises(IncompleteSweep, match=r"the rows of prox on squares, seed 3 are labelled .*'seed': 0"):
        merged(grid.cells, exchanged)


def test_what_is_there_is_not_run_again(tmp_path: Path, parts: PartFiles, contents: list[tuple[str, bytes]]) -> None:
    with make.watched() as keys:
        table = sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)
    assert sorted(keys) == sorted(key for key, _ in contents[5:])
    make.assert_identical(table, make.expected())
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.parquet"]


def test_parts_are_kept_until_the_table_is_written(
    tmp_path: Path, parts: PartFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("fedconvex.sweeps.run.write_atomically", full)
    with pytest.raises(OSError, match="disk full"):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)
    assert len(list(parts.folder.iterdir())) == 12
    assert not (tmp_path / "sweep.parquet").exists()


def test_killed_between_the_table_and_the_removal_of_its_parts(
    tmp_path: Path, parts: PartFiles, contents: list[tuple[str, bytes]]
) -> None:
    out = tmp_path / "sweep.parquet"
    table = sweep(**make.grid(), out=out, jobs=1)
    for key, content in contents[:5]:
        parts.add(key, content)
    make.assert_identical(sweep(**make.grid(), out=out), table)
    assert not parts.folder.exists()


def rewritten(change: Callable[[bytes, bytes], bytes]) -> Callable[[Path], Path]:
    """The first part, changed; `change` is given the second one's content, too."""

    def damage(folder: Path) -> Path:
        path, other = sorted(folder.iterdir())[:2]
        path.write_bytes(change(path.read_bytes(), other.read_bytes()))
        return path

    return damage


def flip(position: float) -> Callable[[bytes, bytes], bytes]:
    def flipped(content: bytes, _: bytes) -> bytes:
        at = int(position * (len(content) - 1))
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return flipped


def rename(folder: Path) -> Path:
    """Another run's part, digest and all, under this run's key."""
    path, other = sorted(folder.iterdir())[:2]
    path.unlink()
    return other.rename(folder / (path.name[:32] + other.name[32:]))


# shortened, empty, another run's rows under this run's name, a bit flipped
CHANGES = [lambda own, _: own[:-1], lambda *_: b"", lambda _, other: other, *(flip(i / 10) for i in range(11))]
DAMAGES = [*map(rewritten, CHANGES[:3]), rename, *map(rewritten, CHANGES[3:])]


@pytest.mark.sample(2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_refused_by_its_name(
    tmp_path: Path, parts: PartFiles, damage: Callable[[Path], Path]
) -> None:
    path = damage(parts.folder)
    with make.watched() as keys, pytest.raises(InvalidInput) as refused:
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)
    cure = "delete this file: its run will be repeated"
    assert str(refused.value) == f"out = sweep.parquet: its part {path} is damaged; {cure}"
    assert keys == []
    path.unlink()  # the cure
    make.assert_identical(sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1), make.expected())


def test_a_foreign_file_is_refused(tmp_path: Path, parts: PartFiles) -> None:
    (parts.folder / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"its parts, .*notes\.txt is none; move it out of the folder"):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)


def test_two_parts_of_one_run_are_refused(tmp_path: Path, parts: PartFiles, contents: list[tuple[str, bytes]]) -> None:
    parts.add(contents[0][0], contents[0][1] + b" ")
    with pytest.raises(InvalidInput, match="is another one of a run that has one already; delete one of"):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.parquet.parts").write_text("")
    with pytest.raises(InvalidInput, match=r"its parts go to .*\.parts, which is no folder; move it away"):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)


def test_what_a_killed_process_was_writing_is_ignored_and_removed(
    tmp_path: Path, parts: PartFiles, contents: list[tuple[str, bytes]]
) -> None:
    half = parts.folder / f".{contents[7][0][:32]}-0123.parquet.abcd"
    half.write_bytes(b"PAR1")
    table = sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=1)
    make.assert_identical(table, make.expected())
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.parquet"]


def test_a_larger_grid_takes_over_and_a_smaller_one_leaves_alone(tmp_path: Path, parts: PartFiles) -> None:
    """The five parts are prox on squares with all three seeds, and prox on logistic with the first two."""
    out = tmp_path / "sweep.parquet"
    with make.watched() as keys:
        smaller: pandas.DataFrame = sweep(**make.grid(seeds=(0,)), out=out, jobs=1)
    assert len(keys) == 4 - 2
    assert len(smaller) == 4 * (make.ROUNDS + 1)
    assert len(list(parts.folder.iterdir())) == 5 - 2
    out.unlink()
    with make.watched() as keys:
        sweep(**make.grid(seeds=(3, 0, 1, 2)), out=out, jobs=1)
    assert len(keys) == 16 - 3
    assert not parts.folder.exists()


def test_a_sweep_that_another_process_works_on_is_refused_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They died on each other's part files."""
    monkeypatch.setattr(locks, "SECONDS_OF_PATIENCE", 0.0)
    out = tmp_path / "sweep.parquet"
    with locks.locked(out, "out"), pytest.raises(locks.InUse, match=f"process {os.getpid()} on .* works on it"):
        sweep(**make.grid(), out=out, jobs=1)
    expected = sweep(**make.grid(), out=out, jobs=1)
    with locks.locked(out, "out"):  # a finished one is only read
        make.assert_identical(sweep(**make.grid(), out=out, jobs=1), expected)


def test_what_was_left_after_the_table_was_written_is_removed(tmp_path: Path) -> None:
    """A process may be killed before it has deleted the parts, its lock and a temporary file."""
    out = tmp_path / "sweep.parquet"
    sweep(**make.grid(), out=out, jobs=1)
    folder = PartFiles.beside(out).folder
    folder.mkdir()
    ended = replace(Owner.this(), process=2**22 + 1)
    (folder / f".fedconvex-{ended.mark}-abcdefgh.parquet").touch()
    (tmp_path / f".fedconvex-{ended.mark}-abcdefgh.parquet").touch()
    locks.lock_of(out).touch()
    sweep(**make.grid(), out=out, jobs=1)
    assert list(tmp_path.iterdir()) == [out]
