"""Batch sizes from a memory budget, which is halved when memory runs out, and the memory of live tensors."""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from fedconvex.errors import FedconvexError

if TYPE_CHECKING:
    from fedconvex.deep.processes import Processes

NUMBERS = 50_000_000  # initial budget: numbers in one batched call
# Numbers that an evaluation or a gradient of whole clients makes at once, besides the samples that are stored: of few,
# a device's kernels would be slow, many take memory.
AT_ONCE = {"cpu": 4_000_000, "cuda": 50_000_000}
CACHE = 2**22  # bytes of parameters in a CPU core's cache; of models of 0.8 MB, 4 or 5 were faster than 1, 2 or 10
# A number that a step makes counts as so many parameters: a transformer's layer whose step makes 0.2 MB was 1.4 times
# faster with 5 clients together than alone, one of 1.2 MB was faster alone.
REREAD = 3

OUT_OF_MEMORY = ("can't allocate memory", "CUDA error: out of memory", "_STATUS_ALLOC_FAILED")

T = TypeVar("T")


class OutOfMemory(FedconvexError):
    """A single client or sample does not fit into the device's memory."""


@final
class Budget:
    """How many numbers one batched call may hold; all computations of a run share one budget."""

    def __init__(self, numbers: int = NUMBERS) -> None:
        self.numbers = self.whole = numbers
        self.of_sample: dict[str, int] = {}  # the numbers that computations make of one sample, where measured
        self.kind: str | None = None  # of the device for which tensors on `meta` stand; None: that of the tensors
        self.single = False  # whether the last batch had one element, so that halving the budget cannot help

    def clients(self, numbers_of_each: int) -> int:
        """The number of clients in one batch, each of so many numbers."""
        return self.batch_size(self.whole, numbers_of_each)

    def kind_of(self, device: torch.device) -> str:
        """The kind of the device on which the run computes, by which its batches are chosen."""
        return self.kind or device.type

    def samples(self, device: torch.device, of_each: int) -> int:
        """The number of samples, or of clients, that are computed at once where each makes so many numbers."""
        return self.batch_size(AT_ONCE.get(self.kind_of(device), AT_ONCE["cuda"]), of_each)

    def batch_size(self, room: int, size: int) -> int:
        """The number of elements of a size in one batch; `room` is the total size that the full budget allows."""
        # `room` shrinks with the budget: after one halving, half of it is used.
        at_once = max(1, room * self.numbers // (self.whole * max(1, size)))
        self.single = at_once == 1
        return at_once

    def clients_per_step(self, theta: torch.Tensor, more: int) -> int:
        """The number of clients that advance together; theta: parameters (K, d), more: other numbers of each client.

        On a CPU, more are the numbers that a step makes, if these are known.
        """
        if self.kind_of(theta.device) == "cpu":
            return self.batch_size(CACHE, (theta.shape[1] + REREAD * more) * theta.element_size())
        return self.clients(4 * theta.shape[1] + more)  # parameters, gradients and what autograd keeps

    def halve(self, error: BaseException) -> None:
        """Halve the budget after memory ran out. Raises OutOfMemory if the last batch had only one element."""
        if self.single or self.numbers == 1:
            raise OutOfMemory(
                "one client alone, or one sample, does not fit into the device's memory; take a smaller model or "
                "smaller batches, or dtype float32"
            ) from error
        self.numbers //= 2


def numbers_of_sample(compute: Callable[[int], object], itemsize: int) -> int:
    """How many more numbers are alive at once for each more sample; compute: computes with so many samples."""
    peaks: list[int] = []
    for samples in (2, 6):
        with TensorMemory() as counter, torch.no_grad():
            compute(samples)
        peak: int = counter.peak
        peaks.append(peak)
    return max(0, peaks[1] - peaks[0]) // (4 * itemsize)


def with_room(work: Callable[[], T], budget: Budget | None, processes: "Processes | None" = None) -> T:
    """Return work(), repeated with a smaller budget while memory runs out; a failed call must leave nothing changed.

    With several processes, one repeats alone while the others wait for it at the next sum over all. If they have summed
    since the call began, repeating would put the processes out of step: OutOfMemory is raised.
    budget: None if `work` does not depend on one; then it is not repeated.
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
                    "memory ran out in one of several processes, after a sum over all of them; start more processes, "
                    "or take smaller batches: the run continues from its checkpoint"
                ) from error
            budget.halve(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that memory ran out, on a GPU, or on the CPU as torch or NumPy reports it."""
    # The CPU's allocator, CUDA and its libraries raise a plain RuntimeError, which only its text reveals.
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(text in str(error) for text in OUT_OF_MEMORY)


@final
class TensorMemory(TorchDispatchMode):
    """Counts the bytes of live tensors created within its context; `peak` is the largest number at any time.

    It intercepts every operation of torch, and so also sees tensors on a CPU, for which torch keeps no statistics.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        # Views share their base's storage, and an operation in place returns its argument: neither takes memory.
        given = {_storage(x) for x in tree_flatten((args, kwargs))[0] if isinstance(x, Tensor) and not x.is_sparse}
        for tensor in tree_flatten(result)[0]:
            if isinstance(tensor, Tensor) and not tensor.is_sparse and _storage(tensor) not in given | self._known:
                self._enter(tensor)
        return result

    def _enter(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        self._known.add(key)
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._leave, key, size)

    def _leave(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.live -= size


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
