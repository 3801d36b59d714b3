"""A sweep's runs on a Dask cluster: workers may come, go and be killed; each run is recorded once, by the caller."""

import threading
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.sweeps.grid import Cell
from fedconvex.sweeps.work import CellOutcome, Parcel, failed, run_cell

CURE = "give a running distributed.Client or the address of a scheduler, such as 'tcp://10.0.0.1:8786'"
LOST = "the cluster dropped this run: its scheduler was stopped, or somebody cancelled it"
SECONDS_TO_CONNECT = "10s"

_one_run_at_a_time = threading.Lock()  # in a worker process: arithmetics set its precision and its BLAS threads


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The client, or one for that address, which is closed afterwards.

    Raises InvalidInput for what is neither, and where nobody answers; MissingLibrary without dask.distributed.
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


def run_on_cluster(cells: Sequence[Cell], parcels: Mapping[str, Parcel], client: Any) -> Iterator[CellOutcome]:
    """The runs as they finish. The scheduler repeats those of workers that died, as often as it is configured to.

    A problem is sent once, as a task of its own that can be repeated too, and from then on lies with the workers.
    """
    import distributed

    sweep = uuid.uuid4().hex[:12]  # two sweeps at a time share nothing, whatever becomes of one of them
    sent, waiting = {}, {}
    try:
        for name, parcel in parcels.items():
            sent[name] = _sent(client, parcel, f"fedconvex-problem-{sweep}-{parcel.key}")
        for cell in cells:
            run = client.submit(_run_there, cell, sent[cell.problem], key=f"fedconvex-run-{sweep}-{cell.key}")
            waiting[run] = cell
        arriving = distributed.as_completed(list(waiting), loop=client.loop, with_results=True, raise_errors=False)
        for future, result in arriving:
            cell = waiting.pop(future)
            if future.status == "finished":
                yield result
            else:
                yield failed(cell, _reason(future))
            future.release()  # the workers may forget it
    finally:
        if client.status == "running":
            client.cancel([*waiting, *sent.values()])


def _sent(client: Any, parcel: Parcel, key: str) -> Any:
    with warnings.catch_warnings():  # scattered data would be lost with the worker that holds it, a task's are not
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        return client.submit(_received, parcel, key=key)


def _received(parcel: Parcel) -> Parcel:
    return parcel


def _run_there(cell: Cell, parcel: Parcel) -> CellOutcome:
    with _one_run_at_a_time:
        return run_cell(cell, parcel.problem)


def _reason(future: Any) -> str:
    if future.status != "error":
        return LOST
    error = future.exception()
    return f"{type(error).__name__}: {error}"
