"""Runs the cells of a sweep on a Dask cluster, whose workers may join, leave and be killed meanwhile.

Only the calling process records outcomes, so that each cell is recorded once, however often the cluster repeats it.
"""

import threading
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.sweeps.cell_runs import CellOutcome, failed, run_cell
from fedconvex.sweeps.grid import Cell
from fedconvex.sweeps.packed_problems import PackedProblem

CURE = "give a running distributed.Client or the address of a scheduler, such as 'tcp://10.0.0.1:8786'"
LOST = "the cluster dropped this run: its scheduler was stopped, or somebody cancelled it"
SECONDS_TO_CONNECT = "10s"

# Arithmetics set the precision and the number of BLAS threads for the whole worker process: two runs in threads of one
# process would disturb each other.
_one_run_at_a_time = threading.Lock()


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The Dask client itself, or a client for the given scheduler address, which is closed afterwards.

    Raises InvalidInput for anything else, for a client that is closed or asynchronous, and if no scheduler answers;
    MissingLibrary without dask.distributed.
    """
    try:
        import distributed
    except ImportError:
        raise MissingLibrary("dask.distributed", "a sweep on a cluster", "dask") from None
    if isinstance(client, str):
        try:
            own = distributed.Client(client, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InvalidInput("client", client, f"no scheduler answers there ({error})", CURE) from None
        with own:
            yield own
    elif not isinstance(client, distributed.Client):
        raise InvalidInput("client", client, "is neither a client nor an address", CURE)
    elif client.asynchronous or client.status != "running":
        state = "is asynchronous" if client.asynchronous else f"is {client.status}"
        raise InvalidInput("client", client, state, CURE)
    else:
        yield client


def run_on_cluster(cells: Sequence[Cell], packed: Mapping[str, PackedProblem], client: Any) -> Iterator[CellOutcome]:
    """Runs the cells and yields the outcomes as they arrive. The scheduler repeats cells whose worker died.

    Each problem is sent once, as the result of a task of its own: if the worker that holds it dies, Dask runs that task
    again, whereas scattered data would be lost.
    """
    import distributed

    sweep = uuid.uuid4().hex[:12]  # makes task keys unique: two simultaneous sweeps must not share or cancel tasks
    sent, waiting = {}, {}
    try:
        for name, problem in packed.items():
            sent[name] = _send(client, problem, f"fedconvex-problem-{sweep}-{problem.key}")
        for cell in cells:
            run = client.submit(_run_in_worker, cell, sent[cell.problem], key=f"fedconvex-run-{sweep}-{cell.key}")
            waiting[run] = cell
        arriving = distributed.as_completed(list(waiting), loop=client.loop, with_results=True, raise_errors=False)
        for future, result in arriving:
            cell = waiting.pop(future)
            if future.status == "finished":
                yield result
            else:
                yield failed(cell, _reason(future))
            future.release()  # lets the workers free the result's memory
    finally:
        if client.status == "running":
            client.cancel([*waiting, *sent.values()])


def _send(client: Any, packed: PackedProblem, key: str) -> Any:
    with warnings.catch_warnings():  # Dask recommends scattering large data, which run_on_cluster avoids on purpose
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        return client.submit(_unchanged, packed, key=key)


def _unchanged(packed: PackedProblem) -> PackedProblem:
    return packed


def _run_in_worker(cell: Cell, packed: PackedProblem) -> CellOutcome:
    with _one_run_at_a_time:
        return run_cell(cell, packed.problem)


def _reason(future: Any) -> str:
    if future.status != "error":
        return LOST
    error = future.exception()
    return f"{type(error).__name__}: {error}"
