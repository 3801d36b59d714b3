"""How much is computed at once: as much as memory is meant for, and half of it where that was too much."""

from typing import final

import torch

from fedconvex.errors import FedconvexError

NUMBERS = 50_000_000  # of parameters and inputs that one batched call may hold, to begin with
CACHE = 2**22  # bytes of parameters that stay near a CPU's core; of 0.8 MB each, 4 or 5 were faster than 1, 2 or 10


class OutOfMemory(FedconvexError):
    """One client alone does not fit into the device's memory."""


@final
class Budget:
    """The numbers that one batched call may hold; shared by everything that a run computes."""

    def __init__(self, numbers: int = NUMBERS) -> None:
        self.numbers, self.single = numbers, False

    def clients(self, numbers_of_each: int) -> int:
        """How many clients at once."""
        at_once = max(1, self.numbers // max(1, numbers_of_each))
        self.single = at_once == 1
        return at_once

    def steppers(self, theta: torch.Tensor, more: int) -> int:
        """How many clients step together, theta (K, d) being their parameters; `more`: numbers of a batch, velocity."""
        if theta.device.type == "cpu":
            return max(1, CACHE // (theta.shape[1] * theta.element_size()))
        return self.clients(4 * theta.shape[1] + more)  # parameters, gradients and what autograd keeps

    def halve(self, error: BaseException) -> None:
        """After memory ran out. Raises OutOfMemory where already one client was computed alone."""
        if self.single and self.numbers < NUMBERS:
            raise OutOfMemory(
                "one client alone does not fit into the device's memory; take a smaller model or smaller batches, "
                "or dtype float32"
            ) from error
        self.numbers //= 2


def is_out_of_memory(error: BaseException) -> bool:
    """Of a GPU, or of the machine as torch reports it."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
