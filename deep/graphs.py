"""A step as one CUDA graph: its kernels, recorded once, are launched together. Small steps mostly wait for launches.

A graph repeats the same calls on the same memory. It takes the place of a step only where its first replay changes the
parameters exactly as the calls themselves do; otherwise the calls go on, so that a graph never changes a result.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
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
    return partial(_recorded, _stream_on(device))


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
            if all(map(torch.equal, self._changed, after)):
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


@cache
def _stream_on(device: torch.device) -> torch.cuda.Stream:
    """The stream of all recordings: for each that multiplies matrices, torch keeps a workspace of up to 32 MiB."""
    return torch.cuda.Stream(device)


def _recorded(stream: torch.cuda.Stream, calls: Callable[[], None]) -> Callable[[], None]:
    # Without `torch.cuda.graph`, which empties torch's memory cache each time.
    graph, usual = torch.cuda.CUDAGraph(), torch.cuda.current_stream(stream.device)
    stream.wait_stream(usual)
    with torch.cuda.stream(stream):
        graph.capture_begin()
        try:
            calls()
        finally:
            graph.capture_end()
    usual.wait_stream(stream)
    replay: Callable[[], None] = graph.replay
    return replay
