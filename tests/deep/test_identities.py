"""A run continues only from its own checkpoint; changed code, which has no fingerprint, is found by its losses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, random, samples, vector
from torch import Tensor, nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

CLIENTS = samples()
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.05)


def smoothed(amount: float) -> Any:
    return lambda z, y: F.cross_entropy(z, y, reduction="none", label_smoothing=amount)


def more_of_the_last_class(z: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy, a little more where the class is the last one."""
    return F.cross_entropy(z, y, reduction="none") * torch.where(y == CLASSES - 1, 1.001, 1.0)


def once(loss: Any, file: Path | None, rounds: int = 4, **options: Any) -> Any:
    model = random(nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, CLASSES)))
    return run(fc.FedProx(mu=1), model, CLIENTS, loss, rounds=rounds, local_solver=SGD, checkpoint=file, **options)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_run_with_a_users_loss_goes_on_with_it(dtype: str, tmp_path: Path) -> None:
    """The function is another object, as it is in another process."""
    file = tmp_path / "run.safetensors"
    once(smoothed(0.1), file, 2, dtype=dtype)
    again = once(smoothed(0.1), file, dtype=dtype)
    np.testing.assert_array_equal(vector(again.model), vector(once(smoothed(0.1), None, dtype=dtype).model))


@pytest.mark.parametrize("other", [smoothed(0.101), lambda z, y: z.square().sum(-1), more_of_the_last_class])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_another_loss_of_a_user_is_another_run(other: Any, dtype: str, tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    once(smoothed(0.0) if other is more_of_the_last_class else smoothed(0.1), file, dtype=dtype)
    with pytest.raises(InvalidInput, match=r"a run with another (model or )?loss"):
        once(other, file, dtype=dtype)


class Stretched(nn.Module):
    """What it does is in its code alone: as if a line of it was changed between two runs."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self.linear, self.by = nn.Linear(FEATURES, CLASSES), by

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.linear(x * (1 + self.by))
        return result


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_model_with_other_code_is_another_model(dtype: str, tmp_path: Path) -> None:
    """But not one whose last digits are those of another machine."""

    def go_on(by: float, rounds: int) -> None:
        model = random(Stretched(by))
        run(fc.FedProx(mu=1), model, CLIENTS, rounds=rounds, local_solver=SGD, checkpoint=file, dtype=dtype)

    file, last = tmp_path / "run.safetensors", {"float64": 1e-14, "float32": 1e-6}[dtype]
    go_on(0, 1)
    go_on(last, 2)
    with pytest.raises(InvalidInput, match="a run with another model or loss"):
        go_on(0.01, 3)


class Scaled(nn.Module):
    """Its scale is a buffer."""

    def __init__(self, scale: float, persistent: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(FEATURES, CLASSES)
        self.scale: Tensor
        self.register_buffer("scale", torch.tensor(scale), persistent=persistent)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.linear(x) * self.scale
        return result


@pytest.mark.parametrize("persistent", [True, False])
def test_another_buffer_is_another_model(persistent: bool, tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    for rounds in (1, 2):
        run(
            fc.FedProx(mu=1), random(Scaled(1.0, persistent)), CLIENTS, rounds=rounds, local_solver=SGD, checkpoint=file
        )
    with pytest.raises(InvalidInput, match="a run with another model"):
        run(fc.FedProx(mu=1), random(Scaled(2.0, persistent)), CLIENTS, rounds=3, local_solver=SGD, checkpoint=file)
