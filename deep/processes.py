"""Several processes or machines: each has some of the clients, sums go over all of them.

Started by `torchrun --nproc-per-node N -m fedconvex.deep run CONFIG.toml`; gloo on CPUs, NCCL on GPUs. Client k is with
process k mod N. Every process plays every round, with its own clients; server arrays are the same everywhere, since
they are made of sums that all processes get.
"""

import atexit
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch import distributed as dist

from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.methods.base import State
from fedconvex.runs.rounds import Share


class ProcessLost(FedconvexError):
    """Another process of the run has ended; the last checkpoint is whole, and the run can go on from it."""


@final
class Processes(Share):
    """This process among N."""

    @staticmethod
    def of(clients: Sequence[Any], device: torch.device) -> "Processes | None":
        """This process among those of the run; None where it is alone."""
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
        self.sums = 0  # and other exchanges, so far; all processes have the same ones

    def total(self, part: Tensor) -> Tensor:
        """The sum over all processes."""
        result = part.clone()
        with self._peers():
            dist.all_reduce(result)
        return result

    def total_numbers(self, part: np.ndarray) -> np.ndarray:
        """The same for float64 numbers on the host."""
        found: np.ndarray = self.total(torch.as_tensor(part, dtype=torch.float64).to(self.device)).cpu().numpy()
        return found

    def largest(self, number: float) -> float:
        """The largest of all processes' numbers."""
        box = torch.tensor(number, dtype=torch.float64, device=self.device)
        with self._peers():
            dist.all_reduce(box, dist.ReduceOp.MAX)
        return float(box)

    def whole(self, state: State) -> State:
        """The state with all clients' memory, on every process."""
        memory = {}
        for name, rows in state.memory.items():
            full = rows.new_zeros(self.num_clients, rows.shape[1])
            full[self.members] = rows
            memory[name] = self.total(full)
        return State(state.server, state.shared, memory)

    def own(self, state: State) -> State:
        """The state with the memory of this process's clients alone."""
        return State(state.server, state.shared, {name: rows[self.members] for name, rows in state.memory.items()})

    def from_first(self, value: Any) -> Any:
        """What the first process has, on all."""
        box = [value]
        with self._peers():
            dist.broadcast_object_list(box, src=0)
        return box[0]

    @contextmanager
    def _peers(self) -> Iterator[None]:
        self.sums += 1
        try:
            yield
        except RuntimeError as error:
            text = str(error).splitlines()[0]
            raise ProcessLost(
                f"another process has ended ({text}); start again to go on from the checkpoint"
            ) from error


def join(device: torch.device) -> None:
    """Makes the processes that torchrun has started known to each other, for as long as they live.

    Nothing happens where there is only one, or where the program that calls has done so.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        return
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _ended)  # what torchrun sends to the others when one has ended
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    atexit.register(dist.destroy_process_group)


def _ended(*_: Any) -> None:
    raise ProcessLost("another process has ended; start again to go on from the checkpoint")


def own_device(device: torch.device) -> torch.device:
    """The GPU of this process, where there are several."""
    local = os.environ.get("LOCAL_RANK")
    if device.type == "cuda" and device.index is None and local is not None:
        place = torch.device("cuda", int(local))
        torch.cuda.set_device(place)
        return place
    return device
