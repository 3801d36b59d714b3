"""What the tests of runs on a GPU share: where they run, clients, solvers, networks, and a comparison with the CPU.

Where there is no GPU, a device stands in for it on which mixing devices is an error, too (`emulated_gpu`): in a process
of its own, `test_emulated_gpu`.
"""

import os
from typing import Any, ClassVar

import emulated_gpu
import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, vector
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import run

ON_A_GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here: nothing was tried on one"),
]
STAND_IN = "stand-in"
STANDS_IN = os.environ.get("FEDCONVEX_STAND_IN") == "1"
MARKS = [] if STANDS_IN else ON_A_GPU
on_the_device = pytest.mark.parametrize("device", [STAND_IN if STANDS_IN else "cuda"], indirect=True)
CLIPPED = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, clip=0.3)
MOMENTUM = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, momentum=0.9)
GD = fc.GradientDescent(steps=3, stepsize=0.1)


def require_the_same_run(device: str, method: Any, model: nn.Module, solver: Any, measure: Any) -> None:
    options = {"rounds": 2, "participation": participation.Uniform(2), "local_solver": solver, "seed": 3, "ridge": 0.01}
    options |= {"measure": measure, "test": CLIENTS[0], "lanczos_steps": 4, "draws": 3}
    here = run(method, model, CLIENTS, **options)
    there = run(method, model, CLIENTS, device=device, **options)
    assert next(there.model.parameters()).device.type == ("cuda" if device == "cuda" else emulated_gpu.NAME)
    require_alike(here, there)


def require_alike(here: Any, there: Any) -> None:
    np.testing.assert_allclose(vector(there.model.cpu()), vector(here.model), rtol=1e-9, atol=1e-11)
    columns = [c for c in here.to_frame() if "error" not in c]
    np.testing.assert_allclose(there.to_frame()[columns], here.to_frame()[columns], rtol=1e-6, atol=1e-9)


class Recurrent(nn.Module):
    """A user's own recurrent network; `allowed` says of each call with derivatives whether cuDNN could compute it."""

    allowed: ClassVar[list[bool]] = []

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.layer, self.last = kind(2, 3, batch_first=True), nn.Linear(3, CLASSES)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            self.allowed.append(torch.backends.cudnn.enabled)
        states, _ = self.layer(samples)
        last: torch.Tensor = self.last(states[:, -1])
        return last
