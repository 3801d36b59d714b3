"""Runs on a GPU are the same bit for bit when they are repeated, and when they go on."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, NETWORK, SGD, continued, random, refused
from gpu_runs import MARKS, STANDS_IN, Recurrent, on_the_device
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, routes, run

pytestmark = MARKS

IMAGES = [(torch.as_tensor(np.resize(X, (len(X), 1, 16, 16))), y) for X, y in CLIENTS]
SENTENCES = [(torch.as_tensor(np.resize(np.arange(7), (len(y), 5))), y) for _, y in CLIENTS]
RESUMED: dict[str, Any] = {
    "dense": (NETWORK, CLIENTS),
    "cnn": (random(models.two_layer_cnn(CLASSES, 1, 16, (2, 3), (5, 4))), IMAGES),
    "resnet": (random(models.resnet18(CLASSES, 1, 4, 2)), [(X[..., :8, :8], y) for X, y in IMAGES]),
    "lstm": (random(models.character_lstm(7, 3, 4, 2)), SENTENCES),
}


@on_the_device
@pytest.mark.parametrize(
    ("name", "together"),
    [
        *([] if STANDS_IN else [("lstm", True)]),
        ("dense", True),
        ("cnn", True),
        ("cnn", False),
        ("resnet", True),
        ("resnet", False),
    ],
)
def test_a_run_goes_on_bit_for_bit(
    device: str, name: str, together: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By either route of convolutions, which the run without interruption does not read in a checkpoint."""
    monkeypatch.setattr(routes, "is_faster_together", lambda *given: together)
    model, clients = RESUMED[name]
    options: dict[str, Any] = {"participation": participation.Uniform(2), "local_solver": SGD, "device": device}
    continued(tmp_path / "c.safetensors", fc.FedDyn(alpha=0.5), model, clients, 1, rounds=2, **options)


@pytest.mark.skipif(STANDS_IN, reason="the stand-in computes as a CPU does")
@on_the_device
@pytest.mark.parametrize("precision", ["full", "tf32", "bf16", "fp16"])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("name", ["dense", "cnn"])
def test_large_steps_are_the_same_twice(
    device: str, name: str, together: bool, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sizes for which a GPU's libraries split sums over its cores; the dense network's steps are recorded."""
    monkeypatch.setattr(routes, "is_faster_together", lambda *given: together)
    shape, model = {
        "dense": ((784,), models.fully_connected([784, 200, 200, 10])),
        "cnn": ((3, 32, 32), models.two_layer_cnn(10, 3)),
    }[name]
    generator = torch.Generator().manual_seed(0)
    clients = [(torch.rand(500, *shape, generator=generator), torch.arange(500) % 10) for _ in range(3)]
    options: dict[str, Any] = {"rounds": 2, "local_solver": fc.SGD(epochs=3, batch_size=50, stepsize=0.05)}
    options |= {"device": device, "dtype": "float32", "precision": precision}
    once, again = (run(fc.FedDyn(alpha=0.5), model, clients, **options) for _ in range(2))
    assert once.stopped is None
    assert torch.equal(once.state.server, again.state.server)
    assert once.records == again.records


@on_the_device
def test_dropout_on_the_device_is_resumed_bit_for_bit(device: str, tmp_path: Path) -> None:
    model = random(nn.Sequential(nn.Linear(FEATURES, 5), nn.Dropout(0.4), nn.Linear(5, CLASSES)))
    options = {"participation": participation.Uniform(2), "local_solver": SGD, "device": device, "measure": None}
    options |= {"local_mode": "training"}
    continued(tmp_path / "c.safetensors", fc.FedProx(mu=1), model, CLIENTS, 1, rounds=2, **options)


class Attentive(nn.Module):
    """Attention as a user writes it; `fused` says of each call with derivatives whether kernels for it were allowed."""

    fused: ClassVar[list[bool]] = []

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.last = nn.Linear(2, 24), nn.Linear(8, CLASSES)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            backends = torch.backends.cuda
            self.fused.append(backends.flash_sdp_enabled() or backends.mem_efficient_sdp_enabled())
        queries, keys, values = self.embed(samples).chunk(3, -1)
        found = nn.functional.scaled_dot_product_attention(queries, keys, values)
        last: torch.Tensor = self.last(found.mean(1))
        return last


class Stacked(Recurrent):
    """With dropout between its layers, of which cuDNN draws from a generator that no seed reaches."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__(kind)
        self.layer = kind(2, 3, num_layers=2, dropout=0.5, batch_first=True)


REPEATED: dict[str, Any] = {
    "attention": (Attentive, {}),
    "attention-training": (Attentive, {"local_mode": "training"}),
    "rnn": (lambda: Stacked(nn.RNN), {"local_mode": "training"}),
    "lstm": (lambda: Stacked(nn.LSTM), {"local_mode": "training"}),
}


@on_the_device
@pytest.mark.filterwarnings("ignore:Stacked cannot be vectorised:RuntimeWarning")
@pytest.mark.parametrize("name", [name for name in REPEATED if not (STANDS_IN and name == "lstm")])
def test_layers_whose_fastest_kernels_do_not_repeat_go_on_bit_for_bit(device: str, name: str, tmp_path: Path) -> None:
    make, options = REPEATED[name]
    model = random(make())
    clients = [(np.resize(X, (len(X), 3, 2)), y) for X, y in CLIENTS]
    options = {"participation": participation.Uniform(2), "local_solver": SGD, "device": device, **options}
    Attentive.fused.clear()
    Recurrent.allowed.clear()
    continued(tmp_path / "c.safetensors", fc.FedProx(mu=1), model, clients, 1, rounds=2, **options)
    assert not any(Attentive.fused + Recurrent.allowed)
    assert Attentive.fused or Recurrent.allowed


def drawing(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    torch.rand((), device=batch.device)
    return batch


@pytest.mark.skipif(STANDS_IN, reason="the stand-in has no generators of its own")
@on_the_device
def test_a_transform_that_draws_by_the_devices_own_generator_is_refused(device: str) -> None:
    refused("draws random numbers of its own", local_mode="training", transform=drawing, device=device)
