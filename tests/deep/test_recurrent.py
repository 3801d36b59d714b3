"""LSTM classifiers differentiated by hand agree with autograd, and only those that are known are taken."""

from typing import Any

import pytest
import torch
from slow_layer import meeting
from torch import nn
from torch.nn import functional as F

from fedconvex.deep import models
from fedconvex.deep.losses import UserLoss, loss_of
from fedconvex.deep.networks import RecurrentNetwork, network_of, planned_lstm, products, recurrent
from fedconvex.deep.networks.base import Batch
from fedconvex.deep.networks.functional import FunctionalNetwork
from fedconvex.deep.networks.recurrent import is_recurrent

pytestmark = pytest.mark.beyond_core  # trains networks

LOSS = loss_of("cross_entropy")
TOKENS, CLASSES, LENGTH = 11, 5, 7


def model(kind: str = "character", layers: int = 2) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if kind == "character":
            found = models.character_lstm(TOKENS, 4, 6, layers)
        else:
            found = models.sentiment_lstm(torch.randn(TOKENS, 3), CLASSES, 6, layers)
        return found.double()


def sequences(clients: int = 3, length: int = LENGTH) -> Batch:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randint(0, TOKENS, (clients, 4, length), generator=generator)
    inputs[:, 0] = inputs[0, 0, 0]  # a token that comes again and again
    shares = torch.rand(clients, 4, generator=generator, dtype=torch.float64)
    shares[-1, -1] = 0  # padding
    return Batch(inputs, torch.randint(0, CLASSES, (clients, 4), generator=generator), shares)


def both(module: Any) -> tuple[RecurrentNetwork, FunctionalNetwork]:
    by_hand = network_of(module, LOSS, (LENGTH,))
    assert isinstance(by_hand, RecurrentNetwork)
    return by_hand, FunctionalNetwork(module, LOSS)


def points(network: RecurrentNetwork, module: Any, clients: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    start = network.layout.flat(module)
    return start + 0.3 * torch.randn(clients, len(start), generator=generator, dtype=torch.float64)


@pytest.mark.sample(7)
@pytest.mark.parametrize("kind", ["character", "sentiment"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("clients", "length"), [(1, LENGTH), (3, LENGTH), (3, 1)])
def test_gradients(kind: str, layers: int, clients: int, length: int) -> None:
    module, batch = model(kind, layers), sequences(clients, length)
    by_hand, by_autograd = both(module)
    theta = points(by_hand, module, clients)
    expected = by_autograd.gradients(theta, batch)
    torch.testing.assert_close(by_hand.gradients(theta, batch), expected, rtol=1e-12, atol=1e-13)
    assert expected.abs().max() > 0.01
    alone = by_autograd.gradients(theta[:1], batch)
    torch.testing.assert_close(by_hand.gradients(theta[:1], batch), alone, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(by_hand.losses(theta, batch), by_autograd.losses(theta, batch))


@pytest.mark.parametrize("kind", ["character", "sentiment"])
@pytest.mark.parametrize("layers", [1, 2])
def test_gradients_in_float32(kind: str, layers: int) -> None:
    """By torch's kernel, where oneDNN has one; and by hand, where it has none."""
    module, batch = model(kind, layers).float(), sequences()
    batch = Batch(batch.inputs, batch.targets, batch.shares.float())
    by_hand, by_autograd = both(module)
    theta = points(by_hand, module.double(), 3).float()
    module.float()
    expected = by_autograd.gradients(theta, batch)
    torch.testing.assert_close(by_hand.gradients(theta, batch), expected, rtol=1e-4, atol=1e-6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
        patch.setattr(RecurrentNetwork, "_by_kernel", None)
        torch.testing.assert_close(by_hand.gradients(theta, batch), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.sample(3)
@pytest.mark.parametrize("keep", [1.0, 0.9, torch.tensor([[0.8], [0.9], [1.0]], dtype=torch.float64)], ids=repr)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_steps(keep: Any, elsewhere: bool) -> None:
    module, batch = model(), sequences()
    networks = both(module)
    start, batches = points(networks[0], module, 3), [batch, sequences(3, 2)]
    moved = (stepped(network, start, batches, keep, elsewhere) for network in networks)
    torch.testing.assert_close(*moved, rtol=1e-12, atol=1e-13)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Steps in float32 are planned; the sizes of batches that were planned."""
    sizes: list[tuple[int, ...]] = []

    class Counted(planned_lstm.PlannedGradient):
        def __init__(self, module: Any, loss: Any, layout: Any, batch: Batch) -> None:
            super().__init__(module, loss, layout, batch)
            sizes.append(tuple(batch.inputs.shape[1:]))

    monkeypatch.setattr(recurrent, "PlannedGradient", Counted)
    monkeypatch.setattr(planned_lstm, "blas_is_faster", lambda: True)
    monkeypatch.setattr(products, "blas_is_faster", lambda: True)
    return sizes


def stepped(network: Any, start: torch.Tensor, batches: list[Batch], keep: Any, elsewhere: bool) -> torch.Tensor:
    """Where steps on the batches lead, in the numbers' type of `start`."""
    theta, velocity, push = start.clone(), torch.ones_like(start), torch.full_like(start, 0.01)
    step = network.step_function(theta, 0.1, keep, push, velocity if elsewhere else None)
    for batch in batches:
        step(Batch(batch.inputs, batch.targets, batch.shares.to(start.dtype)))
    return velocity if elsewhere else theta


KEPT = torch.tensor([[0.8], [0.9], [1.0]])


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("kind", "layers", "keep", "elsewhere", "least"),
    meeting(
        ["character", "sentiment"], [1, 2, 3], [1.0, torch.tensor([[0.8], [0.9], [1.0]])], [False, True], [1, 2**40]
    ),
)
def test_planned_steps(
    kind: str, layers: int, keep: Any, elsewhere: bool, least: int, planned: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32, against autograd in float64: what one batch left behind does not reach the next."""
    monkeypatch.setattr(products, "LEAST", least)
    module = model(kind, layers)
    start = points(both(module)[0], module, 3)
    batches = [sequences(3, length) for length in (LENGTH, 2, LENGTH, 1, LENGTH)]
    batches[2].inputs.copy_(batches[2].inputs.flip(-1).contiguous())
    doubled_keep = keep.double() if isinstance(keep, torch.Tensor) else keep
    expected = stepped(FunctionalNetwork(module, LOSS), start, batches, doubled_keep, elsewhere)
    found = stepped(both(model(kind, layers).float())[0], start.float(), batches, keep, elsewhere)
    assert planned == [(4, LENGTH), (4, 2), (4, 1), (4, LENGTH)]  # of which two are kept
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    shorter = stepped(both(model(kind, layers).float())[0], start.float(), batches[:4], keep, elsewhere)
    assert not torch.allclose(found, shorter, rtol=1e-5, atol=1e-5)


def test_what_is_no_number_reaches_a_planned_step_of_its_client_alone(planned: list[Any]) -> None:
    module = model().float()
    network, batch = both(module)[0], sequences()
    theta = network.layout.flat(module).repeat(3, 1)
    network.layout.views(theta)["vectors"][1, int(batch.inputs[1, 0, 0]), 0] = torch.nan
    network.step_function(theta, 0.1, 1.0, None)(Batch(batch.inputs, batch.targets, batch.shares.float()))
    assert planned
    assert network.layout.views(theta)["lstm.weight_hh_l1"][1].isnan().all()
    assert theta[[0, 2]].isfinite().all()


def test_large_batches_other_types_and_gradients_are_not_planned(
    planned: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, batch = both(model())[0], sequences()
    theta = network.layout.flat(network.module).repeat(3, 1)
    single = Batch(batch.inputs, batch.targets, batch.shares.float())
    network.step_function(theta, 0.1, 1.0, None)(batch)
    network.gradients(theta.float(), single)
    monkeypatch.setattr(planned_lstm, "MOST", 8 * 2 * 6 * 4 * LENGTH - 1)
    network.step_function(theta.float(), 0.1, 1.0, None)(single)
    assert planned == []
    monkeypatch.setattr(planned_lstm, "MOST", 8 * 2 * 6 * 4 * LENGTH)
    network.step_function(theta.float(), 0.1, 1.0, None)(single)
    assert planned == [(4, LENGTH)]


def test_it_may_be_differentiated_twice() -> None:
    module, batch = model(), sequences()
    network = both(module)[0]
    theta = points(network, module, 3).requires_grad_()
    (gradient,) = torch.autograd.grad((network.losses(theta, batch) * batch.shares).sum(), theta, create_graph=True)
    torch.testing.assert_close(gradient.detach(), network.gradients(theta.detach(), batch), rtol=1e-12, atol=1e-13)
    (product,) = torch.autograd.grad(gradient.sum(), theta)
    assert product.abs().max() > 0.01


def hooked() -> nn.Module:
    found = model()
    found.lstm.register_forward_hook(lambda layer, given, result: 2 * result)
    return found


def frozen() -> nn.Module:
    found = model()
    found.lstm.weight_hh_l0.requires_grad_(False)
    return found


class Doubled(models.recurrent.LastStateClassifier):
    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(tokens)


def doubled() -> nn.Module:
    return Doubled(torch.randn(TOKENS, 4), False, 6, 1, CLASSES).double()


@pytest.mark.parametrize("other", [hooked, frozen, doubled])
def test_other_models_are_left_to_autograd(other: Any) -> None:
    module = other()
    network = network_of(module, LOSS, (LENGTH,))
    assert isinstance(network, FunctionalNetwork)
    assert network.gradients(network.layout.flat(module)[None], sequences(1)).isfinite().all()


def test_other_losses_and_samples_too() -> None:
    mine = UserLoss(lambda z, y: F.cross_entropy(z, y, reduction="none"))
    assert is_recurrent(model(), LOSS, (LENGTH,))
    assert not is_recurrent(model(), mine, (LENGTH,))
    assert not is_recurrent(model(), LOSS, (LENGTH, 2))
    assert not is_recurrent(nn.Sequential(model()), LOSS, (LENGTH,))
    assert isinstance(network_of(model().float(), LOSS, (LENGTH,), torch.bfloat16), FunctionalNetwork)
