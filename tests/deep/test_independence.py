"""Models and losses that mix samples, or that training changes, are refused with the layer's name; others are not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, Made, Wrapped, random, refused, samples, small
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import fedconvex as fc
from fedconvex.deep import models
from fedconvex.deep import run as deep_run
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

IMAGES = samples(shape=(2, 4, 4))
AVERAGING = fc.FedAvg(epochs=1, batch_size=4, stepsize=0.05)


def run(model: nn.Module, clients: Any = CLIENTS, **options: Any) -> Any:
    return deep_run(AVERAGING, model, clients, rounds=1, **options)


def custom(forward: Callable[[Any, Tensor], Tensor]) -> Made:
    parts = {"first": nn.Linear(FEATURES, 5), "last": nn.Linear(5, CLASSES), "seen": torch.zeros(())}
    return Made(lambda s, x: forward(s, x) + 0 * s.factor, factor=nn.Parameter(torch.zeros(())), **parts)


def centred(self: Any, x: Tensor) -> Tensor:
    h = self.first(x)
    return self.last(h - h.mean(0))


def in_training_only(self: Any, x: Tensor) -> Tensor:
    return centred(self, x) if self.training else self.last(self.first(x))


def hidden_by_zero(self: Any, x: Tensor) -> Tensor:
    return self.last(self.first(x)) + self.factor * x.mean()


def counting(self: Any, x: Tensor) -> Tensor:
    if self.training:
        self.seen += 1  # and nothing depends on it
    return self.last(self.first(x))


class Routed(nn.Module):
    """A mixture of two experts, each with room for three samples of a batch, which drop the others."""

    def __init__(self, room: int = 3) -> None:
        super().__init__()
        self.gate, self.output, self.room = nn.Linear(FEATURES, 2), nn.Linear(FEATURES, CLASSES), room

    def forward(self, x: Tensor) -> Tensor:
        chosen = F.one_hot(self.gate(x).argmax(1), 2)
        place = (chosen.cumsum(0) * chosen).sum(1)
        result: Tensor = self.output(x) * (place <= self.room)[:, None]
        return result


def test_models_that_mix_samples_of_larger_batches_alone() -> None:
    refused("mixes samples", model=random(Routed()))
    assert run(random(Routed(1000))).stopped is None


@pytest.mark.parametrize("clients", [CLIENTS, CLIENTS[:1], [(np.ones((3, FEATURES)), np.array([0, 1, 2]))]])
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (custom(centred), "it mixes samples: the output for one depends on the others"),
        (Wrapped(custom(centred)), "layer 'inside' mixes samples"),
        (
            nn.Sequential(nn.Linear(FEATURES, 5), Made(lambda _, h: h - h.mean(0)), nn.Linear(5, CLASSES)),
            "layer '1' mixes samples",
        ),
        (nn.Sequential(nn.Linear(FEATURES, CLASSES), nn.Softmax(0)), "layer '1' mixes samples"),
        (custom(hidden_by_zero), "mixes samples"),
        (custom(in_training_only), "it computes something else in training mode than in evaluation mode"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_models_that_mix_samples(model: nn.Module, told: str, clients: Any, dtype: Any) -> None:
    refused(told, "model", model=model, clients=clients, dtype=dtype)


def test_zeros_hide_nothing() -> None:
    """A model whose output is 0 for every sample would agree with itself, whatever it does."""
    model = custom(centred)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    refused("mixes samples", model=model)


def image_model(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Conv2d(2, 3, 3), *layers, nn.Flatten(), nn.Linear(12, CLASSES))


SPECTRAL = [parametrizations.spectral_norm, nn.utils.spectral_norm]


@pytest.mark.parametrize(
    ("model", "clients", "told"),
    [
        (image_model(nn.InstanceNorm2d(3, track_running_stats=True)), IMAGES, "layer '1' changes its buffer 'running_"),
        (nn.Sequential(SPECTRAL[0](nn.Linear(FEATURES, CLASSES))), CLIENTS, "'0' changes its buffer '_[uv]'"),
        (nn.Sequential(SPECTRAL[1](nn.Linear(FEATURES, CLASSES))), CLIENTS, "'0' changes its buffer 'weight_[uv]'"),
    ],
)
def test_layers_that_training_changes(model: nn.Module, clients: Any, told: str) -> None:
    refused(told, model=model, clients=clients)


def centred_loss(z: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(z - z.mean(0), y, reduction="none")


def shared_out(z: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(z, y, reduction="none") / len(y)


@pytest.mark.parametrize("loss", [centred_loss, shared_out])
def test_losses_that_mix_samples(loss: Any) -> None:
    with pytest.raises(InvalidInput, match="mixes samples: the loss of one depends on the others") as caught:
        run(small(), loss=loss)
    assert (caught.value.argument, caught.value.value) == ("loss", loss.__name__)


@pytest.mark.parametrize(
    ("model", "clients"),
    [
        (custom(counting), CLIENTS),
        (nn.Sequential(nn.LayerNorm(FEATURES), nn.Linear(FEATURES, CLASSES)), CLIENTS),
        (nn.Sequential(parametrizations.weight_norm(nn.Linear(FEATURES, CLASSES))), CLIENTS),
        (image_model(nn.InstanceNorm2d(3), nn.GroupNorm(3, 3)), IMAGES),
        (nn.Sequential(nn.Linear(FEATURES, 4), nn.Dropout(0.0), nn.Linear(4, CLASSES)), CLIENTS),
        (models.fully_connected([FEATURES, 5, CLASSES]), CLIENTS),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # weight_norm has no batched kernel
def test_models_that_treat_samples_separately(model: nn.Module, clients: Any, dtype: Any) -> None:
    assert run(random(model), clients, dtype=dtype).stopped is None


def test_the_users_model_is_not_changed() -> None:
    model = custom(counting).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    run(model)
    assert model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
