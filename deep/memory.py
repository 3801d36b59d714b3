"""How much is computed at once: as much as memory is meant for, and half of it where that was too much."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, final

import torch

from fedconvex.errors import FedconvexError

if TYPE_CHECKING:
    from fedconvex.deep.processes import Processes

NUMBERS = 50_000_000  # of parameters and inputs that one batched call may hold, to begin with
CACHE = 2**22  # bytes of parameters that stay near a CPU's core; of 0.8 MB each, 4 or 5 were faster than 1, 2 or 10

T = TypeVar("T")


class OutOfMemory(FedconvexError):
    """One client or sample alone does not fit into the device's memory."""


@final
class Budget:
    """The numbers that one batched call may hold; shared by everything that a run computes."""

    def __init__(self, numbers: int = NUMBERS) -> None:
        self.numbers = self.whole = numbers
        self.single = False  # whether what was computed last was one alone

    def clients(self, numbers_of_each: int) -> int:
        """How many clients at once."""
        return self.part_of(self.whole, numbers_of_each)

    def part_of(self, room: int, size: int) -> int:
        """How many of that size at once, where `room` is what there is for them as long as the budget is whole."""
        at_once = max(1, room * self.numbers // (self.whole * max(1, size)))
        self.single = at_once == 1
        return at_once

    def steppers(self, theta: torch.Tensor, more: int) -> int:
        """How many clients step together, theta (K, d) being their parameters; `more`: numbers of a batch, velocity."""
        if theta.device.type == "cpu":
            return self.part_of(CACHE, theta.shape[1] * theta.element_size())
        return self.clients(4 * theta.shape[1] + more)  # parameters, gradients and what autograd keeps

    def halve(self, error: BaseException) -> None:
        """After memory ran out. Raises OutOfMemory where nothing could be smaller: one alone was computed already."""
        if self.single or self.numbers == 1:
            raise OutOfMemory(
                "one client alone, or one sample, does not fit into the device's memory; take a smaller model or "
                "smaller batches, or dtype float32"
            ) from error
        self.numbers //= 2


def with_room(work: Callable[[], T], budget: Budget | None, processes: "Processes | None" = None) -> T:
    """work(), again with less at once where memory runs out; it must have changed nothing then.

    Of several processes, one works again alone: the others wait for it at the next sum. Where they have summed already,
    they would be out of step, and the error says so. budget: None where less at once is not possible.
    """
    while True:
        sums = 0 if processes is None else processes.sums
        try:
            return work()
        except (RuntimeError, MemoryError) as error:
            if budget is None or not is_out_of_memory(error):
                raise
            if processes is not None and processes.sums != sums:
                raise OutOfMemory(
                    "memory ran out in one of several processes, behind a sum over all of them; start more processes, "
                    "or take smaller batches, and the run goes on from its checkpoint"
                ) from error
            budget.halve(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Of a GPU, or of the machine as torch or NumPy reports it."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error)
