"""`sweep`: checks the grid, loads the runs that are finished, runs the others and merges all into one table.

The work is divided among `grid` (which runs), `part_files` (finished runs on disk), `local_processes` and `cluster`
(where a cell runs), `cell_runs` (one run) and `tables` (merging).
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedconvex.atomic_files import require_place, write_atomically
from fedconvex.errors import InvalidInput
from fedconvex.locks import locked
from fedconvex.methods.base import Method
from fedconvex.optional import require_library
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.progress import with_progress_bar
from fedconvex.sweeps.cell_runs import CellOutcome
from fedconvex.sweeps.cluster import connected, run_on_cluster
from fedconvex.sweeps.errors import Failure, SweepFailed
from fedconvex.sweeps.grid import Cell, Grid, Setting, make_grid
from fedconvex.sweeps.local_processes import run_here, run_on_cores
from fedconvex.sweeps.packed_problems import pack
from fedconvex.sweeps.part_files import PartFiles
from fedconvex.sweeps.tables import finished, merged, table_to_parquet
from fedconvex.validation import integer_at_least, truth_value

if TYPE_CHECKING:
    import pandas
    from distributed import Client


AnyProblem = Problem | CompositeProblem


def sweep(
    methods: "Mapping[str, Method | Setting] | Sequence[Method | Setting] | Method | Setting",
    problems: "Mapping[str, AnyProblem] | Sequence[AnyProblem] | AnyProblem",
    seeds: Iterable[int] = (0,),
    *,
    rounds: int,
    out: "str | PathLike[str] | None" = None,
    jobs: int | None = None,
    client: "Client | str | None" = None,
    progress: bool = True,
    **options: Any,
) -> "pandas.DataFrame":
    """Runs every method on every problem with every seed and returns one tidy table.

    Use it to compare methods or parameters over several seeds, on all cores of this machine or on a Dask cluster; for a
    single run use `simulate`. For one seed all methods see the same clients, stragglers and mini-batches, so that their
    differences are not those of the random draws. The table is the same, to the last bit, however the runs are
    distributed over processes and over machines of one kind.

    Args:
        methods: a mapping from names to methods, a list (each method is then named by its repr), or one method. A
            `Setting` is a method with a participation scheme, local solver or stragglers of its own.
        problems: a mapping from names to problems, a list, or one problem. A problem class of your own must be a frozen
            dataclass whose fields determine it completely. A `CompositeProblem` needs methods that take its term.
        seeds: distinct integers >= 0.
        rounds: T >= 0, of every run.
        out: a new .parquet file for the table. Finished runs are kept in a folder beside it (`out` + ".parts") until
            all are finished: the same call after an interruption, even a kill, continues from them. If `out` already
            holds the table of this very sweep, it is read and nothing runs.
        jobs: the number of processes on this machine, default one per core; 1: run in this process.
        client: a Dask client or the address of a Dask scheduler, to run on that cluster. Workers may die meanwhile.
            Before its first run, each proves that its fedconvex, its libraries and its arithmetic are those of this
            program; a warning names one that differs, and the others do its runs.
            Each worker process runs one cell at a time, so one thread each is best
            (`LocalCluster(threads_per_worker=1)`).
        progress: shows a bar with an estimate of the time left if standard error is a terminal.
        options: all other options of `simulate`: participation, local_solver, stragglers, x0, arithmetic, …

    Returns:
        T + 1 rows per run, in the order of methods, problems and seeds: the columns method, problem, seed, then those
        of `Trajectory.to_frame`.

    Raises:
        InvalidInput: bad arguments, a damaged file of a finished run, an `out` that holds something else, or that
            another process is working on.
        SweepFailed: some runs failed. The others finished and, if `out` is given, are kept: the same call then repeats
            only the failed ones.
        MissingLibrary: pyarrow is not installed, or `client` is given and dask.distributed is not.
    """
    require_library("pyarrow", "a sweep")
    truth_value(progress, "progress")
    grid = make_grid(methods, problems, seeds, rounds, options)
    jobs = _jobs(jobs, client)
    path = None if out is None else _checked(out)
    parts = None if path is None else PartFiles.beside(path)
    if path is not None and path.exists():
        table = finished(path, grid.key)
        with suppress(InvalidInput), locked(path, "out"):  # it may have been killed after it had written the table
            _remove(parts, grid)
    else:
        with nullcontext() if path is None else locked(path, "out"):
            if path is not None and path.exists():  # another process has just finished it
                table = finished(path, grid.key)
            else:
                table = _run_all(grid, jobs, client, parts, path, progress)
            _remove(parts, grid)
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def _run_all(grid: Grid, jobs: int, client: Any, parts: PartFiles | None, path: Path | None, progress: bool) -> Any:
    """The table of all runs, after it was written to `path`; raises SweepFailed."""
    keys = [cell.key for cell in grid.cells]
    contents = [] if parts is None else [*parts.load(keys).items()]
    missing = grid.by_problem(done=(key for key, _ in contents))
    # closing: if a run or the caller raises, the processes stop now and not at garbage collection
    with (
        closing(_run(missing, grid, jobs, client)) as running,
        closing(with_progress_bar(running, "runs", len(contents), len(keys), show=progress)) as outcomes,
    ):
        failures = _collect(outcomes, contents, parts)
    if failures:
        raise _failed(grid, failures, contents, path)
    table = merged(grid.cells, contents, grid.key)
    if path is not None:
        write_atomically(path, table_to_parquet(table))
    return table


def _remove(parts: PartFiles | None, grid: Grid) -> None:
    if parts is not None:  # only now: the table is complete on disk
        parts.remove([cell.key for cell in grid.cells])


def _run(cells: Sequence[Cell], grid: Grid, jobs: int, client: Any) -> Generator[CellOutcome]:
    """Yields the outcomes as they arrive, one for each cell."""
    if client is not None and cells:
        with connected(client) as cluster:
            yield from run_on_cluster(cells, pack(cells, grid), cluster)
    elif min(jobs, len(cells)) <= 1:  # no process, no pickling: easier to debug, faster for one run
        yield from run_here(cells, grid)
    else:
        yield from run_on_cores(cells, pack(cells, grid), min(jobs, len(cells)))


def _collect(
    outcomes: Iterable[CellOutcome], contents: list[tuple[str, bytes]], parts: PartFiles | None
) -> dict[str, Failure]:
    """Appends each outcome to `contents` and writes its part file at once; returns the failures by key."""
    failures = {}
    for outcome in outcomes:
        if outcome.failure is not None:
            failures[outcome.key] = outcome.failure
            continue
        assert outcome.content is not None
        if parts is not None:  # at once: a kill loses only unfinished runs
            parts.add(outcome.key, outcome.content)
        contents.append((outcome.key, outcome.content))
    return failures


def _failed(
    grid: Grid, failures: Mapping[str, Failure], contents: Sequence[tuple[str, bytes]], path: Path | None
) -> SweepFailed:
    advice = "the error's `finished` has the others; with out=… they would be kept"
    if path is not None:
        advice = "the others are kept: the same call repeats only the failed ones"
    in_order = tuple(failures[cell.key] for cell in grid.cells if cell.key in failures)
    done = [cell for cell in grid.cells if cell.key not in failures]
    error = SweepFailed(in_order, merged(done, contents).to_pandas(), len(grid.cells), advice)
    if in_order[0].traceback:  # the exception itself stayed in its process
        error.add_note(f"Where the first of them failed:\n{in_order[0].traceback}")
    return error


def _checked(out: Any) -> Path:
    try:
        path = Path(out)
    except TypeError:
        raise InvalidInput("out", out, "is no path", "give for example 'sweep.parquet'") from None
    if path.suffix != ".parquet":
        raise InvalidInput("out", path, "does not end in .parquet", "give for example 'sweep.parquet'")
    require_place(path, "out")
    return path


def _jobs(jobs: Any, client: Any) -> int:
    if jobs is not None:
        if client is not None:
            raise InvalidInput("jobs", jobs, "has no meaning with a client", "leave it out")
        return integer_at_least(jobs, 1, "jobs")
    import joblib

    return int(joblib.cpu_count())
