"""The device of the tests on a GPU."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import pytest


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a device for `run`: of a GPU, or of what stands in for one."""
    import emulated_gpu
    import torch
    from gpu_runs import STAND_IN

    from fedconvex.deep import local_mode, runner

    mode: Any = nullcontext()
    if request.param == STAND_IN:
        usual, place = runner.device_of, emulated_gpu.device()
        monkeypatch.setattr(runner, "device_of", lambda name: place if name == STAND_IN else usual(name))
        # the stand-in has no generators of its own
        monkeypatch.setattr(local_mode, "generator_on", lambda device, seed: torch.Generator().manual_seed(seed))
        mode = emulated_gpu.Dispatching()
    with mode:
        yield request.param
