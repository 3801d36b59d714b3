"""Runs the cells of a sweep on a Dask cluster, whose workers may join, leave and be killed meanwhile.

Only the calling process records outcomes, so that each cell is recorded once, however often the cluster repeats it.
"""

import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.installation import require_unchanged
from fedconvex.sweeps.cell_runs import CellOutcome, failed
from fedconvex.sweeps.grid import Cell
from fedconvex.sweeps.packed_problems import PackedProblem
from fedconvex.sweeps.worker_proofs import expected, in_words, runner_of_cells

CURE = "give a running distributed.Client or the address of a scheduler, such as 'tcp://10.0.0.1:8786'"
LOST = "the cluster dropped this run: its scheduler was stopped, or somebody cancelled it"
SECONDS_TO_CONNECT = "10s"
SECONDS_WITHOUT_WORKERS = 20.0
SECONDS_BETWEEN_LOOKS = 0.1  # at the workers, while cells are restricted to some of them


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
            raise InvalidInput("client", client, f"no scheduler responds there ({error})", CURE) from None
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

    Each worker process proves before its first cell that it computes as this one does. What a worker refuses goes to
    the others, and a warning names the worker and what differs there.

    Each problem is sent once, as the result of a task of its own: if the worker that holds it dies, Dask runs that task
    again, whereas scattered data would be lost.
    """
    import distributed

    require_unchanged("client", client)
    tasks = _Tasks(client, packed)
    try:
        for cell in cells:
            tasks.submit(cell)
        arriving = distributed.as_completed(
            list(tasks.waiting), loop=client.loop, with_results=True, raise_errors=False
        )
        while tasks.waiting or tasks.homeless:
            for cell in tasks.to_submit_again():
                arriving.add(tasks.submit(cell))
            for cell in tasks.given_up():
                yield failed(cell, f"every worker of the cluster is refused: {'; '.join(tasks.refused.values())}")
            if not arriving.has_ready() and (tasks.only_on or tasks.homeless):
                time.sleep(SECONDS_BETWEEN_LOOKS)
            elif (arrived := next(arriving, None)) is not None:
                future, result = arrived
                yield from tasks.outcome(future, result)
                future.release()  # lets the workers free the result's memory
    finally:
        if client.status == "running":
            client.cancel([*tasks.waiting, *tasks.sent.values(), tasks.wanted])


class _Tasks:
    """The futures of cells on a cluster, and which workers were refused."""

    def __init__(self, client: Any, packed: Mapping[str, PackedProblem]) -> None:
        import numpy as np

        self.client = client
        self.sweep = uuid.uuid4().hex[:12]  # makes task keys unique: two simultaneous sweeps must not share tasks
        self.keys = {name: problem.key for name, problem in packed.items()}
        self.run = runner_of_cells()
        self.waiting: dict[Any, Cell] = {}
        self.refused: dict[str, str] = {}  # what differs, by address
        self.usable: set[str] = set()  # the addresses of the workers that may have cells, once some were refused
        self.only_on: dict[Any, set[str]] = {}  # the workers that a future's cell is restricted to
        self.homeless: list[Cell] = []  # which only refused workers could run
        self.since = time.monotonic()  # when the cells had workers last
        # Functions that every worker has: one with another fedconvex may get these tasks, too.
        self.wanted = client.submit(dict, expected(), key=f"fedconvex-wanted-{self.sweep}")
        self.sent = {
            name: self._send(np.asarray, problem.packed, f"fedconvex-problem-{self.sweep}-{problem.key}")
            for name, problem in packed.items()
        }

    def submit(self, cell: Cell) -> Any:
        """A new future of the cell, on workers that are not refused."""
        import cloudpickle

        workers = self.usable if self.refused else set()
        key = f"fedconvex-run-{self.sweep}-{cell.key}-{uuid.uuid4().hex[:6]}"
        given = (cloudpickle.dumps(cell), self.keys[cell.problem], self.sent[cell.problem])
        future = self.client.submit(self.run, self.sweep, self.wanted, *given, key=key, workers=sorted(workers) or None)
        self.waiting[future] = cell
        if workers:
            self.only_on[future] = workers
        return future

    def outcome(self, future: Any, result: Any) -> Iterator[CellOutcome]:
        """The outcome of a future that has ended; none for a cell that is to be submitted again."""
        cell = self.waiting.pop(future, None)
        self.only_on.pop(future, None)
        if cell is None:  # it was withdrawn
            return
        if future.status != "finished":
            yield failed(cell, _reason(future))
        elif isinstance(result, CellOutcome):
            yield result
        else:
            self.homeless.append(cell)
            self._refuse(*result)

    def to_submit_again(self) -> list[Cell]:
        """Cells that were refused, or whose workers have all left, as soon as there are workers for them."""
        if not (self.only_on or self.homeless):
            self.since = time.monotonic()
            return []
        try:
            present = set(self.client.nthreads())
        except (OSError, RuntimeError, ValueError):  # the scheduler has gone: the futures will say so
            return []
        stranded = [future for future, workers in self.only_on.items() if not workers & present]
        self.client.cancel(stranded)
        for future in stranded:
            del self.only_on[future]
            self.homeless.append(self.waiting.pop(future))
        self.usable = present - self.refused.keys()
        if self.usable or not present:  # a cluster without workers may get some
            self.since = time.monotonic()
        again: list[Cell] = []
        if self.usable:
            again, self.homeless = self.homeless, again
        return again

    def given_up(self) -> list[Cell]:
        """The cells for which no worker has come for a while, in which a worker that was killed is started again."""
        if time.monotonic() - self.since < SECONDS_WITHOUT_WORKERS:
            return []
        given_up, self.homeless = self.homeless, []
        return given_up

    def _refuse(self, address: str, name: str, answer: Any) -> None:
        if address not in self.refused:
            self.refused[address] = f"{name} ({address}): {in_words(answer)}"
            warnings.warn(f"the sweep does without the worker {self.refused[address]}", RuntimeWarning, stacklevel=2)

    def _send(self, function: Any, value: Any, key: str) -> Any:
        with warnings.catch_warnings():  # Dask recommends scattering large data, which run_on_cluster avoids on purpose
            warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
            return self.client.submit(function, value, key=key)


def _reason(future: Any) -> str:
    if future.status != "error":
        return LOST
    error = future.exception()
    return f"{type(error).__name__}: {error}"
