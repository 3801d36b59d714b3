"""A run continues only from its own checkpoint; changed code, which has no fingerprint, is found by its losses."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, SMALL, Made, random, vector
from torch import Tensor, nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.05)


def smoothed(amount: float) -> Any:
    return lambda z, y: F.cross_entropy(z, y, reduction="none", label_smoothing=amount)


def more_of_the_last_class(z: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy, a little more where the class is the last one."""
    return F.cross_entropy(z, y, reduction="none") * torch.where(y == CLASSES - 1, 1.001, 1.0)


def once(loss: Any, file: Path | None, rounds: int = 4, **options: Any) -> Any:
    return run(fc.FedProx(mu=1), SMALL, CLIENTS, loss, rounds=rounds, local_solver=SGD, checkpoint=file, **options)


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


def by_code(scale: float) -> Made:
    """What it does is in its code alone: as if a line of it was changed between two runs."""
    return Made(lambda self, x: self.linear(x * scale), linear=nn.Linear(FEATURES, CLASSES))


def by_buffer(scale: float, persistent: bool) -> Made:
    made = Made(lambda self, x: self.linear(x) * self.scale, linear=nn.Linear(FEATURES, CLASSES))
    made.register_buffer("scale", torch.tensor(scale), persistent=persistent)
    return made


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("make", [by_code, partial(by_buffer, persistent=True), partial(by_buffer, persistent=False)])
def test_other_code_or_another_buffer_is_another_model(make: Any, dtype: str, tmp_path: Path) -> None:
    """But not code whose last digits are those of another machine."""

    def go_on(scale: float, rounds: int) -> None:
        options: dict[str, Any] = {"checkpoint": tmp_path / "run.safetensors", "dtype": dtype}
        run(fc.FedProx(mu=1), random(make(scale)), CLIENTS, rounds=rounds, local_solver=SGD, **options)

    go_on(1, 1)
    go_on(1 + {"float64": 1e-14, "float32": 1e-6}[dtype] if make is by_code else 1, 2)
    with pytest.raises(InvalidInput, match="a run with another model or loss" if make is by_code else "another model"):
        go_on(1.01 if make is by_code else 2, 3)
