"""Convolutions with channels last compute what the module computes, and leave alone what they do not know."""

from copy import deepcopy
from functools import partial
from typing import Any

import pytest
import torch
from deep_makers import Wrapped, random
from torch import nn

from fedconvex.deep.losses import loss_of
from fedconvex.deep.networks import functional
from fedconvex.deep.networks.base import Batch, DescentStep
from fedconvex.deep.networks.functional import FunctionalNetwork, channels_last
from fedconvex.deep.networks.layout import Layout

pytestmark = pytest.mark.beyond_core  # trains networks

LOSS = loss_of("cross_entropy")


def images(clients: int = 1) -> Batch:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(clients, 6, 3, 12, 12, generator=generator)
    targets = torch.randint(0, 4, (clients, 6), generator=generator)
    return Batch(inputs, targets, torch.full((clients, 6), 1 / 6))


def pooled(*more: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Sequential(nn.Conv2d(5, 6, 3), nn.ReLU()),
        nn.MaxPool2d(2), *more, nn.Flatten(), nn.Linear(24, 7), nn.ReLU(), nn.Linear(7, 4),
    )  # fmt: skip


def frozen() -> nn.Module:
    model = pooled()
    model[0].weight.requires_grad_(False)
    return model


MODELS = {
    "pooled": pooled(),
    "frozen": frozen(),
    "normed": pooled(nn.GroupNorm(2, 6)),
    "no bias": nn.Sequential(nn.Conv2d(3, 5, 3, 2, bias=False), nn.Flatten(), nn.Linear(125, 4)),
    "groups": nn.Sequential(nn.Conv2d(3, 6, 3, groups=3, dilation=2), nn.Tanh(), nn.Flatten(), nn.Linear(384, 4)),
    "reflected": nn.Sequential(nn.Conv2d(3, 5, 3, padding=1, padding_mode="reflect"), nn.Flatten(), nn.Linear(720, 4)),
}


def networks(model: nn.Module, patch: pytest.MonkeyPatch) -> tuple[FunctionalNetwork, FunctionalNetwork]:
    fast = FunctionalNetwork(model, LOSS)
    patch.setattr(functional, "channels_last", lambda *given: None)
    return fast, FunctionalNetwork(model, LOSS)


def hessian_product(network: FunctionalNetwork, theta: torch.Tensor, batch: Batch) -> torch.Tensor:
    leaf = theta.clone().requires_grad_()
    total = (network.losses(leaf, batch) * batch.shares).sum()
    (gradient,) = torch.autograd.grad(total, leaf, create_graph=True)
    (product,) = torch.autograd.grad(gradient, leaf, torch.ones_like(leaf))
    return product


@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_module(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = random(MODELS[name]).float()
    assert channels_last(model, Layout.of(model)) is not None
    fast, usual = networks(model, monkeypatch)
    theta, batch = fast.layout.flat(model)[None], images()
    close: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(fast.losses(theta, batch), usual.losses(theta, batch), **close)
    torch.testing.assert_close(fast.gradients(theta, batch), usual.gradients(theta, batch), **close)
    torch.testing.assert_close(
        hessian_product(fast, theta, batch), hessian_product(usual, theta, batch), rtol=1e-3, atol=1e-3
    )
    moved = [theta.clone(), theta.clone()]
    for network, place in zip((fast, usual), moved, strict=True):
        step = network.step_function(DescentStep(place, 0.1, 0.9))
        step(batch)
        step(batch)
    torch.testing.assert_close(*moved, **close)
    torch.testing.assert_close(fast.losses(theta, images(3)), usual.losses(theta, images(3)), **close)


def test_pooling_comes_before_relu_and_leaves_ties_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all of a window is cut off, or equal, the gradients are those of the module."""
    order: list[str] = []

    def noted(forward: Any, name: str, x: torch.Tensor) -> torch.Tensor:
        order.append(name)
        return forward(x)

    model = pooled().float()
    for layer in model.modules():
        if isinstance(layer, nn.MaxPool2d | nn.ReLU):
            monkeypatch.setattr(layer, "forward", partial(noted, layer.forward, type(layer).__name__))
    nn.init.zeros_(model[0].weight)
    model[0].bias.data = torch.tensor([1.0, -1.0, 0.0, 2.0, -2.0])
    fast, usual = networks(model, monkeypatch)
    theta, batch = fast.layout.flat(model)[None], images()
    torch.testing.assert_close(fast.gradients(theta, batch), usual.gradients(theta, batch), rtol=1e-4, atol=1e-6)
    assert order[:4] == ["MaxPool2d", "ReLU", "MaxPool2d", "ReLU"]
    assert order[5:9] == ["ReLU", "MaxPool2d", "ReLU", "MaxPool2d"]


def hooked() -> nn.Module:
    model = pooled()
    model[1].register_forward_hook(lambda layer, given, result: result + 1)
    return model


def used_twice() -> nn.Module:
    layer = nn.Conv2d(3, 3, 3, padding=1)
    return nn.Sequential(layer, nn.ReLU(), layer, nn.Flatten(), nn.Linear(432, 4))


def shared() -> nn.Module:
    model = nn.Sequential(nn.Conv2d(3, 3, 3), nn.Conv2d(3, 3, 3), nn.Flatten(), nn.Linear(192, 4))
    model[1].weight = model[0].weight
    return model


@pytest.mark.parametrize(
    "model",
    [hooked(), used_twice(), shared(), Wrapped(pooled()), pooled().double(), nn.Sequential(nn.Linear(4, 4))],
    ids=["hooked", "used twice", "shared", "hidden", "float64", "no convolution"],
)
def test_what_it_leaves_to_the_module(model: nn.Module) -> None:
    assert channels_last(model, Layout.of(model)) is None


def test_the_module_itself_is_not_changed() -> None:
    model = pooled().float()
    before = deepcopy(model)
    network = FunctionalNetwork(model, LOSS)
    network.gradients(network.layout.flat(model)[None], images())
    for one, other in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.equal(one, other)
        assert one.is_contiguous()
