"""A sweep's runs on the cores of this machine."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from functools import lru_cache

from fedconvex.sweeps.grid import Cell, Grid
from fedconvex.sweeps.work import CellOutcome, Parcel, failed, run_cell

KILLED = "a worker process was killed before this run was finished, often for lack of memory"
SECONDS_OF_IDLENESS = 10  # after these a worker process ends; also where the process that started it was killed


def run_here(cells: Sequence[Cell], grid: Grid) -> Iterator[CellOutcome]:
    """One run after the other in this process."""
    return (run_cell(cell, grid.problems[cell.problem]) for cell in cells)


def run_on_cores(cells: Sequence[Cell], parcels: Mapping[str, Parcel], jobs: int) -> Iterator[CellOutcome]:
    """`jobs` runs at a time, each in a process, as they finish. Where one is killed, what it leaves are failures."""
    import joblib

    processes = joblib.Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        idle_worker_timeout=SECONDS_OF_IDLENESS,
    )
    waiting = {cell.key: cell for cell in cells}
    outcomes = processes(joblib.delayed(_run_there)(cell, parcels[cell.problem]) for cell in cells)
    try:
        for outcome in outcomes:
            del waiting[outcome.key]
            yield outcome
    except BrokenExecutor:
        for cell in waiting.values():
            yield failed(cell, KILLED)
    finally:
        with warnings.catch_warnings():  # where the caller has had enough, what still runs is ended on purpose
            warnings.filterwarnings("ignore", message=r"[\s\S]*You could benefit from adjusting the input task")
            outcomes.close()


def _run_there(cell: Cell, parcel: Parcel) -> CellOutcome:
    return run_cell(cell, _kept(parcel).problem)


@lru_cache(maxsize=1)
def _kept(parcel: Parcel) -> Parcel:
    """The parcel that a worker process unpacked last, so that a problem's own computations are done once for its runs.

    Parcels are equal by their key: an equal one that arrives later is dropped for the one that is unpacked.
    """
    return parcel
