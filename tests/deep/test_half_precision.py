"""Float16 with scaled losses: gradients that would become 0 do not, and those that overflow are computed again."""

from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, SMALL, Made, Wrapped, random, refused, vector
from torch import nn

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.networks.functional import scaled_gradients

pytestmark = pytest.mark.beyond_core  # trains networks

SGD = fc.SGD(epochs=2, batch_size=5, stepsize=0.1)


@pytest.mark.parametrize("mode", ["evaluation", "training"])
def test_it_trains_as_full_precision_up_to_three_digits(mode: str) -> None:
    options: dict[str, Any] = {"rounds": 3, "local_solver": SGD, "dtype": torch.float32, "local_mode": mode}
    full = run(fc.FedProx(mu=1), SMALL, CLIENTS, **options)
    half = run(fc.FedProx(mu=1), SMALL, CLIENTS, precision="fp16", **options)
    again = run(fc.FedProx(mu=1), SMALL, CLIENTS, precision="fp16", **options)
    difference = abs(vector(half.model) - vector(full.model)).max()
    assert 0 < difference < 5e-3
    np.testing.assert_array_equal(vector(half.model), vector(again.model))


def product(x: torch.Tensor, factor: float) -> torch.Tensor:
    """A loss whose derivative passes through float16."""
    return (x.half() * factor).float().sum()


def test_small_gradients_do_not_become_0() -> None:
    x = torch.ones(3, requires_grad=True)
    tiny = 2.0**-26  # the least number of float16 is 2^-24
    assert float(torch.autograd.grad(product(x, 1.0) * tiny, x)[0][0]) == 0
    (found,) = scaled_gradients(product(x, 1.0) * tiny, (x,), torch.float16)
    np.testing.assert_allclose(found.numpy(), tiny, rtol=1e-3)


def test_gradients_that_overflow_are_scaled_less() -> None:
    x = torch.ones(3, requires_grad=True)
    (found,) = scaled_gradients(product(x, 100.0), (x,), torch.float16)  # 100 · 2^16 is no float16
    np.testing.assert_array_equal(found.numpy(), 100.0)
    (unscaled,) = scaled_gradients(product(x, 100.0), (x,), torch.bfloat16)
    np.testing.assert_array_equal(unscaled.numpy(), 100.0)
    infinite = product(x, 1.0) * float("inf")  # not finite at any scale: the run says so
    assert not scaled_gradients(infinite, (x,), torch.float16)[0].isfinite().any()


def test_parameters_without_use_have_gradient_0() -> None:
    model = random(Made(lambda self, x: self.inside(x), inside=nn.Linear(FEATURES, CLASSES), rest=nn.Linear(2, 2)))
    found = run(fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD)
    expected = run(fc.FedProx(mu=1), Wrapped(model.inside), CLIENTS, rounds=2, local_solver=SGD)
    torch.testing.assert_close(found.model.rest.weight, model.rest.weight, rtol=0, atol=1e-15)
    np.testing.assert_allclose(vector(found.model.inside), vector(expected.model), rtol=0, atol=1e-12)


def test_it_needs_parameters_in_float32() -> None:
    refused("requires float32", precision="fp16")
