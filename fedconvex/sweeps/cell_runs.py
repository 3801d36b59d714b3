"""The run of one cell of a sweep, in whatever process: a cell and its problem go in, a Parquet file as bytes comes out.

Bytes cross between processes and machines unchanged, and are what `part_files` keeps on disk.
"""

import traceback
from dataclasses import dataclass
from typing import final

from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.runs.simulation import simulate
from fedconvex.sweeps.errors import Failure
from fedconvex.sweeps.grid import Cell
from fedconvex.sweeps.tables import to_parquet


@final
@dataclass(frozen=True)
class CellOutcome:
    """The result of the cell with that key: its rows, or the failure that prevented them."""

    key: str
    content: bytes | None  # a Parquet file; None after a failure
    failure: Failure | None = None


def run_cell(cell: Cell, problem: Problem | CompositeProblem) -> CellOutcome:
    """Runs the cell and returns its table. An error becomes part of the outcome, so that the other cells go on.

    The linear algebra uses one thread: the other cores have cells of their own, and a number of threads that differs
    between machines would change the last digits of sums.
    """
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1):
            run = simulate(cell.algorithm, problem, cell.rounds, seed=cell.seed, progress=False, **cell.options)
            frame = run.to_frame()
        frame.insert(0, "method", cell.method)
        frame.insert(1, "problem", cell.problem)
        frame.insert(2, "seed", cell.seed)
        return CellOutcome(cell.key, to_parquet(frame))
    except Exception as error:
        # The outcome has the error as text, because not every exception can be pickled for the way back.
        trace = "".join(traceback.format_exception(error))
        return failed(cell, f"{type(error).__name__}: {error}", trace)


def failed(cell: Cell, message: str, trace: str = "") -> CellOutcome:
    """The outcome of a cell whose run failed; `trace` is the traceback as text."""
    return CellOutcome(cell.key, None, Failure(cell.method, cell.problem, cell.seed, message, trace))
