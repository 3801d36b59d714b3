"""Runs the cells of a sweep on this machine: in this process, or in one process per core."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from functools import lru_cache
from typing import Any, TypeVar

from fedconvex.fingerprints import fingerprint
from fedconvex.installation import files
from fedconvex.sweeps.cell_runs import CellOutcome, failed, run_cell
from fedconvex.sweeps.grid import Cell, Grid
from fedconvex.sweeps.packed_problems import PackedProblem

T = TypeVar("T")

KILLED = "a worker process was killed before this run was finished, often for lack of memory"
OTHER_FILES = "the files of fedconvex were changed after this program had loaded it; start the program again"
SECONDS_OF_IDLENESS = 10  # an idle worker process ends after this time
SECONDS_BETWEEN_LOOKS = 0.2  # of a worker process at its parent, which may have been killed


def run_here(cells: Sequence[Cell], grid: Grid) -> Iterator[CellOutcome]:
    """Runs one cell after the other in this process."""
    return (run_cell(cell, grid.problems[cell.problem]) for cell in cells)


def run_on_cores(cells: Sequence[Cell], packed: Mapping[str, PackedProblem], jobs: int) -> Iterator[CellOutcome]:
    """Runs `jobs` cells at a time, each in a process of its own, and yields the outcomes as they arrive.

    If the operating system kills a worker, the pool is lost: every cell without an outcome is then reported as failed.
    """
    waiting = {cell.key: cell for cell in cells}
    caller = fingerprint(files())
    try:
        with closing(
            in_processes(_run_in_worker, ((it, packed[it.problem], caller) for it in cells), jobs)
        ) as outcomes:
            for outcome in outcomes:
                del waiting[outcome.key]
                yield outcome
    except BrokenExecutor:
        for cell in waiting.values():
            yield failed(cell, KILLED)


def in_processes(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], jobs: int
) -> Generator[T, None, None]:
    """The function's results, each as it arrives, `jobs` at a time, each in a process of its own.

    Raises BrokenExecutor where the operating system kills a process. Closed early, it ends the running calls.
    """
    import joblib

    # joblib says so when it replaces a process that used much memory. It does in the thread that receives the results:
    # where warnings are errors, that thread would end, and the results be waited for without end.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
    # batch_size=1: results arrive, and are stored, one by one
    processes = joblib.Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        idle_worker_timeout=SECONDS_OF_IDLENESS,
    )
    results = processes(joblib.delayed(_called)(os.getpid(), function, them) for them in arguments)
    try:
        for result in results:  # noqa: UP028, as `yield from` would close them itself, without the filter below
            yield result
    finally:
        with warnings.catch_warnings():  # a caller that stops early aborts running calls on purpose: no warning
            warnings.filterwarnings("ignore", message=r"[\s\S]*You could benefit from adjusting the input task")
            results.close()


def _called(caller: int, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    _end_with(caller)
    return function(*arguments)


@lru_cache(maxsize=1)
def _end_with(caller: int) -> None:
    """Lets this process end soon after the one that started it, however that ends."""

    def watch() -> None:
        while os.getppid() == caller:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_in_worker(cell: Cell, packed: PackedProblem, caller: str) -> CellOutcome:
    if fingerprint(files()) != caller:
        return failed(cell, OTHER_FILES)
    return run_cell(cell, unpacked_once(packed).problem)


@lru_cache(maxsize=1)
def unpacked_once(packed: PackedProblem) -> PackedProblem:
    """The packed problem that this process received first among equal ones.

    Each cell arrives with a new copy of its packed problem. The cache returns the copy that is unpickled already, whose
    minimiser and factorisations earlier cells have computed. One entry suffices because cells come sorted by problem.
    """
    return packed
