"""Losses, gradients and steps of many clients at once are those of one client after the other."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from deep_makers import CLASSES, FEATURES, Made, Wrapped, random, small
from torch import nn
from torch.func import functional_call

from fedconvex.deep import calls
from fedconvex.deep.losses import LOSSES, TorchCrossEntropy, TorchLoss, loss_of
from fedconvex.deep.networks import Batch, DescentStep, FunctionalNetwork, Layout, Network, Toward, network_of, products
from fedconvex.deep.networks.layered import LayeredNetwork
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # trains networks

OUTPUTS = {"cross_entropy": CLASSES, "logistic": 1, "half_square": 1}


def chain(name: str, outputs: int) -> nn.Module:
    middle = {
        "linear": [nn.Linear(FEATURES, outputs)],
        "no bias": [nn.Linear(FEATURES, outputs, bias=False)],
        "relu": [nn.Linear(FEATURES, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, outputs)],
        "tanh": [nn.Linear(FEATURES, 5, bias=False), nn.Tanh(), nn.Linear(5, outputs)],
        "sigmoid at the end": [nn.Linear(FEATURES, 5), nn.Sequential(nn.Linear(5, outputs), nn.Sigmoid())],
        "linear twice": [nn.Linear(FEATURES, 5), nn.Identity(), nn.Linear(5, outputs)],
    }[name]
    return random(nn.Sequential(nn.Flatten(), *middle))


CHAINS = ("linear", "no bias", "relu", "tanh", "sigmoid at the end", "linear twice")


def batch_for(loss: str, clients: int = 3, size: int = 4) -> Batch:
    generator = torch.Generator().manual_seed(5)
    inputs = torch.randn(clients, size, FEATURES, generator=generator, dtype=torch.float64)
    targets = torch.randint(0, CLASSES, (clients, size), generator=generator)
    if loss == "logistic":
        targets = 2.0 * (targets > 0) - 1.0
    shares = torch.rand(clients, size, generator=generator, dtype=torch.float64)
    shares[0, -1] = 0  # padding
    return Batch(inputs, targets.double() if loss == "half_square" else targets, shares)


def points(layout: Layout, clients: int = 3) -> torch.Tensor:
    return 0.5 * torch.randn(clients, layout.dim, generator=torch.Generator().manual_seed(6), dtype=torch.float64)


def one_after_the_other(module: nn.Module, loss: str, theta: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
    """(losses, gradients) by autograd, client by client."""
    layout, losses, gradients = Layout.of(module), [], []
    for k in range(len(batch.targets)):
        flat = theta[k % len(theta)].clone().requires_grad_()
        outputs = functional_call(module, layout.views(flat), (batch.inputs[k],))
        value = {
            "cross_entropy": lambda z, y: nn.functional.cross_entropy(z, y, reduction="none"),
            "logistic": lambda z, y: torch.log(1 + torch.exp(-y * z[:, 0])),
            "half_square": lambda z, y: 0.5 * (z[:, 0] - y) ** 2,
        }[loss](outputs, batch.targets[k])
        losses.append(value.detach())
        gradients.append(torch.autograd.grad((value * batch.shares[k]).sum(), flat)[0])
    return [torch.stack(losses), torch.stack(gradients)]


@pytest.fixture
def network_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, nn.Module, TorchLoss], Network]:
    """The module as a network: by hand, in machine code, torch's own calls or BLAS's products, or by autograd."""

    def make(by: str, module: nn.Module, loss: TorchLoss) -> Network:
        if by == "hand, torch alone":
            monkeypatch.setattr(calls, "_compiled", lambda: None)
        if by == "hand, products by BLAS":
            monkeypatch.setattr(products, "blas_is_faster", lambda: True)
            monkeypatch.setattr(products, "LEAST", 1)
        network = network_of(Wrapped(module) if by == "autograd" else module, loss, (FEATURES,))
        assert isinstance(network, FunctionalNetwork if by == "autograd" else LayeredNetwork)
        return network

    return make


WAYS = ["hand", "hand, torch alone", "hand, products by BLAS", "autograd"]


@pytest.mark.sample(19)
@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize(("clients", "own"), [(3, True), (3, False), (1, True)])
def test_losses_and_gradients(loss: str, name: str, by: str, clients: int, own: bool, network_by: Any) -> None:
    module, batch = chain(name, OUTPUTS[loss]), batch_for(loss, clients)
    network = network_by(by, module, LOSSES[loss])
    theta = points(network.layout, clients if own else 1)
    losses, gradients = one_after_the_other(module, loss, theta, batch)
    torch.testing.assert_close(network.losses(theta, batch), losses)
    torch.testing.assert_close(network.gradients(theta, batch), gradients)
    assert gradients.abs().max() > 0.01


@pytest.mark.sample(69)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("keep", [1.0, 0.9, torch.tensor([[1.0], [0.5], [0.25]], dtype=torch.float64)])
@pytest.mark.parametrize("pushed", [True, False])
def test_steps(name: str, by: str, keep: object, pushed: bool, network_by: Any) -> None:
    module, batch = chain(name, CLASSES), batch_for("cross_entropy")
    network = network_by(by, module, TorchCrossEntropy())
    theta = points(network.layout)
    push = 0.1 * points(network.layout) if pushed else None
    expected, toward = keep * theta, None
    if pushed:
        part = 0.4 if isinstance(keep, float) else 0.8 * keep
        toward = Toward(0.2 * theta.flip(0), part)
        expected = expected + part * (toward.center - expected)
    expected = expected - 0.3 * network.gradients(theta, batch) + (0 if push is None else push)
    network.step_function(DescentStep(theta, 0.3, keep, push, toward=toward))(batch)
    torch.testing.assert_close(theta, expected)


def test_a_step_is_taken_with_what_the_batch_holds_now() -> None:
    network, batch = network_of(chain("relu", CLASSES), TorchCrossEntropy(), (FEATURES,)), batch_for("cross_entropy")
    other, theta = batch_for("cross_entropy"), points(network.layout)
    other.inputs.neg_()
    expected = theta.clone()
    for held in (batch, other, batch):
        expected -= 0.3 * network.gradients(expected, held)
    step = network.step_function(DescentStep(theta, 0.3))
    step(batch)
    kept = batch.inputs.clone()
    batch.inputs.copy_(other.inputs)
    step(batch)
    batch.inputs.copy_(kept)
    step(batch)
    torch.testing.assert_close(theta, expected)


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("name", CHAINS)
def test_what_is_no_number_reaches_the_last_layer(by: str, name: str, network_by: Any) -> None:
    network, batch = network_by(by, chain(name, CLASSES), TorchCrossEntropy()), batch_for("cross_entropy")
    theta = points(network.layout)
    batch.inputs[1, 0, 0] = float("nan")
    network.step_function(DescentStep(theta, 0.3))(batch)
    assert theta[1, -1].isnan()
    assert theta[[0, 2]].isfinite().all()


def test_padding_counts_for_nothing() -> None:
    network, batch = network_of(chain("relu", CLASSES), TorchCrossEntropy(), (FEATURES,)), batch_for("cross_entropy")
    theta = points(network.layout)
    before = network.gradients(theta, batch)
    batch.inputs[0, -1] = 1e3
    torch.testing.assert_close(network.gradients(theta, batch)[1:], before[1:])
    torch.testing.assert_close(network.gradients(theta, batch)[0], before[0])
    batch.shares[0, -1] = 0.1
    assert not torch.allclose(network.gradients(theta, batch)[0], before[0])


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.Sequential(nn.Linear(6, 3)), (4, 6)),  # maps the last axis alone
        (nn.Sequential(nn.Linear(6, 3), nn.Softmax(-1)), (6,)),
        (nn.Sequential(nn.ReLU(), nn.Linear(6, 3)), (6,)),
        (nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Tanh(), nn.Linear(6, 3)), (6,)),
        (nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 3)), (6,)),
        (nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), (6,)),
        (Wrapped(nn.Linear(6, 3)), (6,)),
    ],
)
def test_what_is_no_chain_is_left_to_autograd(module: nn.Module, shape: tuple[int, ...]) -> None:
    assert isinstance(network_of(module, TorchCrossEntropy(), shape), FunctionalNetwork)


def test_a_layer_used_twice_is_left_to_autograd() -> None:
    layer = nn.Linear(6, 6)
    network = network_of(random(nn.Sequential(layer, nn.ReLU(), layer)), TorchCrossEntropy(), (6,))
    assert isinstance(network, FunctionalNetwork)
    assert network.layout.dim == 42


@pytest.mark.parametrize("change", ["hook", "frozen"])
def test_hooks_are_kept_and_frozen_parameters_stay_out(change: str) -> None:
    module = random(small())
    if change == "hook":
        module[0].register_forward_hook(lambda *given: 2 * given[-1])
    else:
        module[0].weight.requires_grad_(False)
    network, batch = network_of(module, TorchCrossEntropy(), (FEATURES,)), batch_for("cross_entropy")
    assert list(network.layout.shapes) == ["0.weight", "0.bias", "2.weight", "2.bias"][change == "frozen" :]
    theta = points(network.layout)
    torch.testing.assert_close(
        network.gradients(theta, batch), one_after_the_other(module, "cross_entropy", theta, batch)[1]
    )


@pytest.mark.parametrize("module", [nn.ReLU(), nn.Linear(6, 3).requires_grad_(False)])
def test_a_module_without_trainable_parameters(module: nn.Module) -> None:
    with pytest.raises(InvalidInput, match="one that has"):
        Layout.of(module)


def test_a_users_loss() -> None:
    def smooth(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(outputs, targets, reduction="none", label_smoothing=0.1)

    network, batch = network_of(chain("relu", CLASSES), loss_of(smooth), (FEATURES,)), batch_for("cross_entropy")
    theta = points(network.layout)
    plain = network_of(chain("relu", CLASSES), TorchCrossEntropy(), (FEATURES,))
    assert not torch.allclose(network.gradients(theta, batch), plain.gradients(theta, batch))
    with pytest.raises(InvalidInput, match="cross_entropy"):
        loss_of("hinge")


def recurrent(self: Any, x: torch.Tensor) -> torch.Tensor:
    """torch's own LSTM on the features, one after the other."""
    result: torch.Tensor = self.output(self.lstm(x[..., None])[0][:, -1])
    return result


def branching(self: Any, x: torch.Tensor) -> torch.Tensor:
    """What it computes depends on the samples."""
    result: torch.Tensor = self.output(x if x.sum().item() > 0 else -x)
    return result


@pytest.mark.parametrize("told", [recurrent, branching])
@pytest.mark.parametrize("own", [True, False])
def test_what_cannot_be_vectorised_is_computed_client_by_client(told: Any, own: bool) -> None:
    parts = {"lstm": nn.LSTM(1, 4, batch_first=True)} if told is recurrent else {}
    module = random(Made(told, **parts, output=nn.Linear(4 if parts else FEATURES, CLASSES)))
    batch = batch_for("cross_entropy")
    network = network_of(module, TorchCrossEntropy(), (FEATURES,))
    theta = points(network.layout, 3 if own else 1)
    losses, gradients = one_after_the_other(module, "cross_entropy", theta, batch)
    # of recurrent layers it is known beforehand
    with nullcontext() if told is recurrent else pytest.warns(RuntimeWarning, match="one after another"):
        found = network.gradients(theta, batch)
    torch.testing.assert_close(found, gradients)
    assert gradients.abs().max() > 0.01
    if own or told is recurrent:  # of one theta for all, the samples of all clients make one batch
        torch.testing.assert_close(network.losses(theta, batch), losses)


def test_a_mistake_of_the_model_is_told_as_it_is() -> None:
    def broken(*_: Any) -> torch.Tensor:
        raise RuntimeError("a mistake of the model's own")

    module, batch = Made(broken, weight=nn.Parameter(torch.zeros(3, 3))).double(), batch_for("cross_entropy")
    network = network_of(module, TorchCrossEntropy(), (FEATURES,))
    with pytest.raises(RuntimeError, match="the model's own"):
        network.gradients(points(network.layout), batch)
