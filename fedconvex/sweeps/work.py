"""One run of a sweep, in whatever process: in go a cell and a problem, out comes a Parquet file as bytes."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.runs.simulation import simulate
from fedconvex.sweeps.errors import Failure
from fedconvex.sweeps.grid import Cell, Grid
from fedconvex.sweeps.tables import to_parquet


@final
@dataclass(frozen=True)
class CellOutcome:
    """What became of the cell with that key: its rows, or why there are none."""

    key: str
    content: bytes | None  # a Parquet file
    failure: Failure | None = None


@final
@dataclass(frozen=True, eq=False)
class Parcel:
    """A problem on its way to other processes: packed once, unpacked when first needed; parcels are equal by their key.

    Only the problem's fields travel, never what it has computed and kept, nor does the unpacked problem travel on.
    """

    key: str
    packed: Any  # bytes as a uint8 array, which joblib maps into memory and dask sends as it is

    @cached_property
    def problem(self) -> Problem:
        """The problem, the same object each time."""
        import cloudpickle

        unpacked: Problem = cloudpickle.loads(self.packed)
        return unpacked

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parcel) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[type, tuple[str, Any]]:
        return Parcel, (self.key, self.packed)


def run_cell(cell: Cell, problem: Problem) -> CellOutcome:
    """The cell's run and its table; an error becomes part of the outcome, so that the other cells go on.

    One thread, for speed (the cores are busy with other cells) and for the same last digits everywhere.
    """
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1):
            run = simulate(cell.what, problem, cell.rounds, seed=cell.seed, progress=False, **cell.options)
            frame = run.to_frame()
        frame.insert(0, "method", cell.method)
        frame.insert(1, "problem", cell.problem)
        frame.insert(2, "seed", cell.seed)
        return CellOutcome(cell.key, to_parquet(frame))
    except Exception as error:
        # as text: errors themselves may not survive the way between processes
        where = "".join(traceback.format_exception(error))
        return failed(cell, f"{type(error).__name__}: {error}", where)


def failed(cell: Cell, message: str, where: str = "") -> CellOutcome:
    """The outcome of a cell that has no rows."""
    return CellOutcome(cell.key, None, Failure(cell.method, cell.problem, cell.seed, message, where))


def pack(cells: Sequence[Cell], grid: Grid) -> dict[str, Parcel]:
    """The cells' problems by name, ready for other processes.

    Raises InvalidInput for a problem, a method or a method's options that cannot be sent there.
    """
    for name, cell in {cell.method: cell for cell in cells}.items():
        _packed(cell, f"methods[{name!r}] with its options", cell.what)
    parcels = {}
    for name in dict.fromkeys(cell.problem for cell in cells):
        problem = grid.problems[name]
        parcels[name] = Parcel(grid.problem_keys[name], _packed(_bare(problem), f"problems[{name!r}]", problem))
    return parcels


def _packed(value: Any, argument: str, shown: Any) -> np.ndarray:
    import cloudpickle

    try:
        return np.frombuffer(cloudpickle.dumps(value), dtype=np.uint8)
    except Exception as error:  # whatever somebody else's class raises
        problem = f"cannot be sent to other processes ({type(error).__name__}: {error})"
        raise InvalidInput(argument, shown, problem, "give what can be pickled, or jobs=1 and no client") from error


def _bare(problem: Problem) -> Problem:
    """A copy with the dataclass's fields alone."""
    copy: Problem = object.__new__(type(problem))
    for field in fields(problem):  # type: ignore[arg-type]
        object.__setattr__(copy, field.name, getattr(problem, field.name))
    return copy
