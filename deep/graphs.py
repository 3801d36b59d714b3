"""A step as one CUDA graph: its kernels, recorded once, are launched together. Small steps mostly wait for launches.

A graph repeats the same calls on the same memory. It takes the place of a step only where its first replay changes the
parameters exactly as the calls themselves do; otherwise the calls go on, so that a graph never changes a result.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import final

import torch
from torch import Tensor

from fedconvex.deep.networks import Batch

FEWEST = 20  # steps; for fewer, recording would take longer than it saves
MOST = 8  # graphs of one step function: batches of ever other sizes are not worth recording

Step = Callable[[Batch], None]
Recorder = Callable[[Callable[[], None]], Callable[[], None]]


def recorder_for(device: torch.device) -> Recorder | None:
    """How this device records calls, which returns their replay; None where it cannot."""
    if device.type != "cuda" or torch.version.cuda is None or torch.cuda.get_device_capability(device) < (7, 0):
        return None
    return _recordings_on(device)


def graphed(step: Step, changed: Sequence[Tensor], steps: int) -> Step:
    """The step, as a graph where the device has them and so many steps are worth it.

    step: the same calls on the same memory for the same batch object. changed: all tensors that it changes and keeps.
    """
    recorder = recorder_for(changed[0].device) if steps >= FEWEST else None
    return step if recorder is None else GraphedStep(step, changed, recorder)


@final
class GraphedStep:
    """Takes the first step with a batch as it is, compares a graph with the second, and replays it from then on."""

    def __init__(self, step: Step, changed: Sequence[Tensor], recorder: Recorder) -> None:
        self._step, self._changed, self._recorder = step, changed, recorder
        self._replays: dict[Batch, Callable[[], None] | None] = {}  # None: the first step was taken
        self._usable = True

    def __call__(self, batch: Batch) -> None:
        if not self._usable or batch not in self._replays:
            if self._usable and len(self._replays) < MOST:
                self._replays[batch] = None
            self._step(batch)
            return
        replay = self._replays[batch]
        if replay is None:
            self._replays[batch] = self._compared(batch)
        else:
            replay()

    def _compared(self, batch: Batch) -> Callable[[], None] | None:
        """Take the step, and return its graph if that changes the same numbers."""
        before = [part.clone() for part in self._changed]
        self._step(batch)
        after = [part.clone() for part in self._changed]
        try:
            replay = self._recorder(lambda: self._step(batch))
            self._set(before)
            replay()
            if all(map(_same, self._changed, after)):
                return replay
            reason = "its replay gives other numbers"
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
        self._usable = False
        self._set(after)
        warnings.warn(f"steps are launched call by call, without a CUDA graph: {reason}", RuntimeWarning, stacklevel=2)
        return None

    def _set(self, values: Sequence[Tensor]) -> None:
        for part, value in zip(self._changed, values, strict=True):
            part.copy_(value)


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether all numbers are equal, or NaN in both: a run that diverges does so with graphs, too."""
    return torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)


@final
class _Recordings:
    """All recordings of a device, on one stream and in one memory pool.

    For each stream that multiplies matrices, torch keeps a workspace of up to 32 MiB; and the memory of a pool whose
    graphs are gone is lent to nobody else until memory runs out. Graphs may share a pool since they are never replayed
    at the same time, and none keeps numbers there from one replay to the next.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)
        self._last: torch.cuda.CUDAGraph | None = None  # keeps the pool, which ends with the last of its graphs

    def __call__(self, calls: Callable[[], None]) -> Callable[[], None]:
        # Without `torch.cuda.graph`, which empties torch's memory cache each time.
        graph, usual = torch.cuda.CUDAGraph(), torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(usual)
        with torch.cuda.stream(self._stream):
            # What other threads of the program do on the device meanwhile is no concern of the recording.
            graph.capture_begin(None if self._last is None else self._last.pool(), capture_error_mode="thread_local")
            try:
                calls()
            finally:
                graph.capture_end()
        usual.wait_stream(self._stream)
        self._last = graph
        replay: Callable[[], None] = graph.replay
        return replay


@cache
def _recordings_on(device: torch.device) -> _Recordings:
    return _Recordings(device)
