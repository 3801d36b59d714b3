"""Models and losses that mix samples, or that training changes, are refused with the layer's name; others are not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, Wrapped, random, samples
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import fedconvex as fc
from fedconvex.deep import models
from fedconvex.deep import run as deep_run
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

CLIENTS = samples()
IMAGES = samples(shape=(2, 4, 4))
AVERAGING = fc.FedAvg(epochs=1, batch_size=4, stepsize=0.05)


def run(model: nn.Module, clients: Any = CLIENTS, **options: Any) -> Any:
    return deep_run(AVERAGING, model, clients, rounds=1, **options)


class Custom(nn.Module):
    def __init__(self, forward: Callable[["Custom", Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(FEATURES, 5), nn.Linear(5, CLASSES)
        self.register_buffer("seen", torch.zeros(()))
        self.factor, self.as_told = nn.Parameter(torch.zeros(())), forward

    def forward(self, x: Tensor) -> Tensor:
        return self.as_told(self, x) + 0 * self.factor


class Centred(nn.Module):
    def forward(self, h: Tensor) -> Tensor:
        return h - h.mean(0)


def centred(self: Custom, x: Tensor) -> Tensor:
    h = self.first(x)
    return self.last(h - h.mean(0))


def in_training_only(self: Custom, x: Tensor) -> Tensor:
    return centred(self, x) if self.training else self.last(self.first(x))


def hidden_by_zero(self: Custom, x: Tensor) -> Tensor:
    return self.last(self.first(x)) + self.factor * x.mean()


def counting(self: Custom, x: Tensor) -> Tensor:
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
    with pytest.raises(InvalidInput, match="mixes samples"):
        run(random(Routed()))
    assert run(random(Routed(1000))).stopped is None


@pytest.mark.parametrize("clients", [CLIENTS, CLIENTS[:1], [(np.ones((3, FEATURES)), np.array([0, 1, 2]))]])
@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Custom(centred), "it mixes samples: the output for one depends on the others"),
        (Wrapped(Custom(centred)), "layer 'inside' mixes samples"),
        (nn.Sequential(nn.Linear(FEATURES, 5), Centred(), nn.Linear(5, CLASSES)), "layer '1' mixes samples"),
        (nn.Sequential(nn.Linear(FEATURES, CLASSES), nn.Softmax(0)), "layer '1' mixes samples"),
        (Custom(hidden_by_zero), "mixes samples"),
        (Custom(in_training_only), "it computes something else in training mode than in evaluation mode"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_models_that_mix_samples(model: nn.Module, told: str, clients: Any, dtype: Any) -> None:
    with pytest.raises(InvalidInput, match=told) as caught:
        run(model, clients, dtype=dtype)
    assert caught.value.argument == "model"


def test_zeros_hide_nothing() -> None:
    """A model whose output is 0 for every sample would agree with itself, whatever it does."""
    model = Custom(centred)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    with pytest.raises(InvalidInput, match="mixes samples"):
        run(model)


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
    with pytest.raises(InvalidInput, match=told):
        run(model, clients)


def centred_loss(z: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(z - z.mean(0), y, reduction="none")


def shared_out(z: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(z, y, reduction="none") / len(y)


@pytest.mark.parametrize("loss", [centred_loss, shared_out])
def test_losses_that_mix_samples(loss: Any) -> None:
    model = nn.Sequential(nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, CLASSES))
    with pytest.raises(InvalidInput, match="mixes samples: the loss of one depends on the others") as caught:
        run(model, loss=loss)
    assert (caught.value.argument, caught.value.value) == ("loss", loss.__name__)


@pytest.mark.parametrize(
    ("model", "clients"),
    [
        (Custom(counting), CLIENTS),
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
    model = Custom(counting).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    run(model)
    assert model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
