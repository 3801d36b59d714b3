"""Runs in several processes or on several machines: each owns some of the clients, and sums go over all processes.

`torchrun --nproc-per-node N -m fedconvex.deep run CONFIG.toml` starts them; they communicate by gloo on CPUs, NCCL on
GPUs. Process k mod N owns client k. Every process simulates every round with its own clients. The server's arrays are
the same everywhere, because they are computed from sums that all processes receive.
"""

import atexit
import hashlib
import os
import platform
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch import distributed as dist

from fedconvex.deep.memory import is_out_of_memory
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.installation import (
    LIBRARIES,
    different_files,
    different_results,
    different_versions,
    files,
    known_run,
    versions,
)
from fedconvex.methods.base import State
from fedconvex.runs.rounds import Share

if dist.is_available():
    # Its functions have the group of the connected processes as a default argument, and some derivatives import it.
    # Imported after `join`, it would keep the group, and gloo's threads, to the end of Python: a thread that lets go of
    # a tensor then aborts the process, after all its work is done.
    import torch.distributed.nn.functional

GATHERED = 2**24  # numbers of the clients' memory in one sum over all processes


class ProcessLost(FedconvexError):
    """Another process of the run has ended; the last checkpoint is complete, and the run can continue from it."""


@final
class Processes(Share):
    """The clients that this process owns, and its communication with the other processes."""

    @staticmethod
    def of(clients: Sequence[Any], device: torch.device) -> "Processes | None":
        """This process among those of the run, or None if there is only one."""
        if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
            return None
        return Processes(len(clients), own_device(device))

    def __init__(self, num_clients: int, device: torch.device) -> None:
        self.rank, self.size, self.device = dist.get_rank(), dist.get_world_size(), device
        if num_clients < self.size:
            problem = f"are fewer than the {self.size} processes"
            raise InvalidInput("clients", num_clients, problem, "start fewer processes")
        self.members = np.arange(self.rank, num_clients, self.size)
        self.num_clients = num_clients
        self.sums = 0  # exchanges so far; all processes must make the same ones in the same order

    def total(self, part: Tensor) -> Tensor:
        """The sum over all processes."""
        result = part.clone()
        with self._peers():
            dist.all_reduce(result)
        return result

    def total_numbers(self, part: np.ndarray) -> np.ndarray:
        """The sum over all processes of a NumPy array, in float64."""
        found: np.ndarray = self.total(torch.as_tensor(part, dtype=torch.float64).to(self.device)).cpu().numpy()
        return found

    def largest(self, number: float) -> float:
        """The largest of the processes' numbers."""
        box = torch.tensor(number, dtype=torch.float64, device=self.device)
        with self._peers():
            dist.all_reduce(box, dist.ReduceOp.MAX)
        return float(box)

    def whole(self, state: State) -> State | None:
        """The state with all clients' memory, in the host's memory of the first process; None on the others.

        A checkpoint serves any number of processes. Gathered in pieces: no GPU has to hold the memory of all clients.
        """
        memory = {}
        for name, rows in state.memory.items():
            first = self.rank == 0
            full = torch.zeros((self.num_clients, rows.shape[1]), dtype=rows.dtype) if first else None
            at_once = max(1, GATHERED // max(1, rows.shape[1]))
            for begin in range(0, self.num_clients, at_once):
                # A sum with zeros elsewhere gathers the rows exactly; gloo and NCCL both support it.
                piece = rows.new_zeros(min(at_once, self.num_clients - begin), rows.shape[1])
                here = np.flatnonzero((self.members >= begin) & (self.members < begin + len(piece)))
                piece[self.members[here] - begin] = rows[here]
                piece = self.total(piece)
                if full is not None:
                    full[begin : begin + len(piece)] = piece.cpu()
            if full is not None:
                memory[name] = full
        return State(state.server, state.shared, memory) if self.rank == 0 else None

    def own(self, state: State) -> State:
        """The state with the memory of this process's own clients only; the inverse of `whole`."""
        return State(state.server, state.shared, {name: rows[self.members] for name, rows in state.memory.items()})

    def from_first(self, value: Any) -> Any:
        """The first process's value, on every process."""
        box = [value]
        with self._peers():
            dist.broadcast_object_list(box, src=0)  # by pickle, but only between processes of this run
        return box[0]

    def of_all(self, value: Any) -> list[Any]:
        """Every process's value, in the order of their ranks."""
        values: list[Any] = [None] * self.size
        with self._peers():
            dist.all_gather_object(values, value)  # by pickle, but only between processes of this run
        return values

    def require_same_installation(self) -> None:
        """Raises InvalidInput, on every process, if one would compute something else than the first one does."""
        own = {
            "host": platform.node(),
            "files": files(),
            "versions": versions((*LIBRARIES, "torch")),
            "results": {"a small known run": known_run(), "products of tensors": known_products(self.device)},
        }
        everyone = self.of_all(own)
        first = everyone[0]
        for rank, found in enumerate(everyone):
            different = (
                different_files(first["files"], found["files"])
                or different_versions(first["versions"], found["versions"])
                or different_results(first["results"], found["results"])
            )
            if different is not None:
                problem = f"process {rank} on {found['host']} would not compute what the first one does: {different}"
                raise InvalidInput("processes", self.size, problem, "give all of them the same installation")

    @contextmanager
    def _peers(self) -> Iterator[None]:
        # torch reports a lost connection as a RuntimeError without a class of its own.
        self.sums += 1
        try:
            yield
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            text = str(error).splitlines()[0]
            raise ProcessLost(
                f"another process has ended ({text}); start again to continue from the checkpoint"
            ) from error


def known_products(device: torch.device) -> str:
    """The digest of a few products and sums on the device, in float64 and float32."""
    random = np.random.default_rng(0).normal(size=(65, 33))  # no multiples of a processor's vectors
    digest = hashlib.sha256()
    for dtype in (torch.float64, torch.float32):
        rows = torch.as_tensor(random, dtype=dtype).to(device)
        digest.update(torch.tanh(rows @ rows.T).softmax(dim=0).sum(dim=1).cpu().numpy().tobytes())
    return digest.hexdigest()


def join(device: torch.device) -> None:
    """Connect the processes that torchrun has started, until they exit.

    Does nothing for a single process, or if the calling program has connected them already. Raises InvalidInput where
    several processes would compute on one GPU, which NCCL does not connect.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        return
    if device.type == "cuda" and int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1 and device.index is not None:
        raise InvalidInput("device", str(device), "is one GPU for several processes", "give 'cuda': each takes its own")
    if threading.current_thread() is threading.main_thread():  # Python allows signal handlers only there
        signal.signal(signal.SIGTERM, _ended)  # torchrun sends it to the others when one process has ended
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    atexit.register(dist.destroy_process_group)


def _ended(*_: Any) -> None:
    raise ProcessLost("another process has ended; start again to continue from the checkpoint")


def own_device(device: torch.device) -> torch.device:
    """The GPU of this process, if the device is "cuda" and torchrun has numbered the machine's processes.

    Raises InvalidInput if the machine has fewer GPUs.
    """
    local = os.environ.get("LOCAL_RANK")
    if device.type == "cuda" and device.index is None and local is not None:
        if int(local) >= (found := torch.cuda.device_count()):
            problem = f"has no GPU of its own: torch finds {found} here"
            raise InvalidInput("processes", f"number {local}", problem, f"start {found} on this machine")
        place = torch.device("cuda", int(local))
        torch.cuda.set_device(place)
        return place
    return device
