"""A model, loss or samples that do not fit are refused; the others train as a plain PyTorch loop does."""

import random as python_random
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import (
    CLASSES,
    CLIENTS,
    FEATURES,
    SGD,
    SIZES,
    Made,
    Wrapped,
    mixed,
    plain_training,
    random,
    refused,
    samples,
    small,
    vector,
)
from torch import Tensor, nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run

pytestmark = pytest.mark.beyond_core  # trains networks

FLOATS = [(X, X.sum(1)) for X, _ in CLIENTS]
AVERAGING = fc.FedAvg(epochs=1, batch_size=4, stepsize=0.05)


def trained(model: nn.Module, clients: Any = CLIENTS, rounds: int = 2, **options: Any) -> Any:
    return run(AVERAGING, model, clients, rounds=rounds, weights="samples", local_solver=SGD, seed=3, **options)


def by_a_loop(model: nn.Module, rounds: int = 2) -> np.ndarray:
    for t in range(rounds):
        model = mixed(
            [plain_training(model, CLIENTS, k, SGD, 3, t, SGD.effort) for k in range(len(CLIENTS))], list(SIZES)
        )
    return vector(model)


# ---- losses of a user ----


def one_output() -> nn.Module:
    return random(nn.Sequential(nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, 1)))


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (lambda z, y: (z - y[:, None]) ** 2 / 2, r"shape \(2, 1\) for 2 samples; give one loss per sample"),
        (lambda z, y: (z - y) ** 2 / 2, r"shape \(2, 2\) for 2 samples"),
        (lambda z, y: ((z[:, 0] - y) ** 2).mean(), r"shape \(\) for 2 samples"),
        (lambda z, y: ((z.squeeze() - y) ** 2).squeeze(), r"shape \(\) for one sample"),
        (lambda z, y: 0.0, "a float for 2 samples"),
        (lambda z, y: F.mse_loss(z, y[:, None], reduction="none"), "one loss per sample, such as their mean"),
        (lambda z, y: ((z[:, 0] - y) ** 2).detach(), "cannot be differentiated"),
        (lambda z, y: z @ torch.ones(7), r"does not take outputs \(2, 1\) and targets \(2,\): "),
        (lambda z: z[:, 0], "does not take outputs"),
        (lambda z, y: z[:, 0] * torch.rand(len(y)), "draws random numbers"),
    ],
)
@pytest.mark.parametrize("clients", [1, 4])
def test_a_loss_that_does_not_give_one_number_per_sample(loss: Any, told: str, clients: int) -> None:
    refused(told, "loss", model=one_output(), clients=FLOATS[:clients], loss=loss)


def test_a_loss_is_tried_on_the_only_sample() -> None:
    alone = [(np.ones((1, FEATURES)), np.ones(1))]
    refused("one loss per sample", model=one_output(), clients=alone, loss=lambda z, y: (z - y[:, None]) ** 2)
    assert trained(one_output(), alone, loss=lambda z, y: (z[:, 0] - y) ** 2).stopped is None


def smoothed(z: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(z, y, reduction="none", label_smoothing=0.0)


@pytest.mark.sample(1)
@pytest.mark.parametrize("loss", [smoothed, nn.CrossEntropyLoss(reduction="none")])
def test_class_numbers_stay_whole_for_a_users_loss(loss: Any) -> None:
    model = random(nn.Sequential(nn.Linear(FEATURES, 5), nn.GELU(), nn.Linear(5, CLASSES)))
    found = trained(model, loss=loss, test=CLIENTS[0])
    np.testing.assert_allclose(vector(found.model), by_a_loop(model), rtol=1e-12)
    assert found.task.shards.targets.dtype == torch.int64


@pytest.mark.parametrize("loss", [F.binary_cross_entropy_with_logits, F.huber_loss])
def test_whole_numbers_become_floats_for_a_loss_that_takes_no_others(loss: Callable[..., Tensor]) -> None:
    whole = [(X, y > 0) for X, y in CLIENTS]

    def ours(z: Tensor, y: Tensor) -> Tensor:
        return loss(z[:, 0], y, reduction="none")

    found = trained(one_output(), whole, loss=ours, test=whole[0])
    expected = trained(one_output(), [(X, y.astype(float)) for X, y in whole], loss=ours)
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))


# ---- models that are no functions of their parameters ----


def noisy(forward: Callable[[Any, Tensor], Tensor]) -> Made:
    return Made(forward, linear=nn.Linear(FEATURES, CLASSES))


@pytest.mark.parametrize(
    "forward",
    [
        lambda self, x: self.linear(F.dropout(x, 0.5, training=True)),
        lambda self, x: self.linear(F.dropout(x, 0.5, self.training)),  # none in a run, where modules are in .eval()
        lambda self, x: self.linear(x + torch.randn_like(x)),
    ],
)
@pytest.mark.parametrize("clients", [1, 4])
def test_random_numbers_in_the_forward_pass(forward: Any, clients: int) -> None:
    told = "draws random numbers when it is called; leave out what draws them"
    refused(told, model=random(noisy(forward)), clients=CLIENTS[:clients])


@pytest.mark.parametrize("draw", [python_random.random, lambda: np.random.random()])  # noqa: NPY002 - as users do
@pytest.mark.parametrize("always", [True, False])
def test_random_numbers_of_other_generators(draw: Callable[[], float], always: bool) -> None:
    model = noisy(lambda self, x: self.linear(x * (1 + draw()) if always or self.training else x))
    refused("draws random numbers when it is called", model=random(model))
    told = {"model": one_output(), "clients": FLOATS, "loss": lambda z, y: (z[:, 0] - y) ** 2 * (1 + draw())}
    refused("draws random numbers", "loss", **told)


@pytest.mark.parametrize("options", [{}, {"local_mode": "training"}])
def test_a_model_that_counts_its_calls(options: dict[str, Any]) -> None:
    """As a temperature does that is lowered step by step."""
    calls = count(1)
    model = noisy(lambda self, x: self.linear(x) * (1 + 0.01 * next(calls)))
    refused("something else when it is called again; let it keep no generator", model=model, **options)


class Locked(nn.Linear):
    def __init__(self) -> None:
        super().__init__(FEATURES, CLASSES)
        self.lock = Lock()


def test_a_model_that_stored_its_outputs_before() -> None:
    model = small()
    expected = vector(trained(model).model)
    output = model(torch.ones(2, FEATURES))
    model[0].output, model.all_of_them = output, [output]  # type: ignore[assignment]
    found = trained(model)
    np.testing.assert_array_equal(vector(found.model), expected)
    assert model[0].output is output


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: nn.DataParallel(small()), "it distributes its batches.*give the module inside, .module"),
        (lambda: nn.Sequential(nn.DataParallel(small())), "layer '0' distributes"),
        (lambda: torch.jit.script(small()), "scripted module.*give the nn.Module of which it was made"),
        (lambda: torch.jit.trace(small(), torch.ones(2, FEATURES)), "scripted module"),
        (lambda: small().to(torch.complex64), "has complex numbers in 0.weight"),
        (Locked, "cannot be copied: .*lock.*; let it store only parameters and buffers"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"local_mode": "training"}])
@pytest.mark.filterwarnings("ignore:Complex modules", "ignore:.*torch.jit")
def test_modules_that_cannot_take_other_parameters(make: Any, told: str, options: dict[str, Any]) -> None:
    refused(told, "model", model=make(), **options)


class InSequence(nn.Module):
    """torch's own recurrent or attention layers on one token, the sample."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.output = layer, nn.Linear(FEATURES, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = x[:, None]
        attends = isinstance(self.layer, nn.MultiheadAttention)
        result: Tensor = self.output((self.layer(x, x, x) if attends else self.layer(x))[0][:, 0])
        return result


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (InSequence(nn.LSTM(FEATURES, FEATURES, 2, batch_first=True, dropout=0.5)), "'layer' drops.*dropout to 0"),
        (InSequence(nn.GRU(FEATURES, FEATURES, 2, batch_first=True, dropout=0.5)), "'layer' drops"),
        (InSequence(nn.MultiheadAttention(FEATURES, 2, 0.5, batch_first=True)), "'layer' drops"),
        (nn.Sequential(nn.Linear(FEATURES, CLASSES), nn.Dropout(0.5)), "'1' drops at random.*p to 0"),
        (nn.Sequential(nn.BatchNorm1d(FEATURES), nn.Linear(FEATURES, CLASSES)), "GroupNorm"),
        (nn.Sequential(nn.BatchNorm1d(FEATURES, track_running_stats=False), nn.Linear(FEATURES, CLASSES)), "GroupNorm"),
        (nn.Sequential(nn.Linear(FEATURES, CLASSES), nn.RReLU()), "draws random numbers"),
    ],
)
@pytest.mark.parametrize("evaluating", [True, False])
def test_layers_that_are_refused(model: nn.Module, told: str, evaluating: bool) -> None:
    refused(told, model=model.train(not evaluating))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*one after another:RuntimeWarning", "ignore:.*batching rule:UserWarning")
def test_layers_without_dropout_are_accepted() -> None:
    layers = nn.MultiheadAttention(FEATURES, 2, batch_first=True), nn.LSTM(FEATURES, FEATURES, batch_first=True)
    for layer in layers:
        model = random(InSequence(layer))
        np.testing.assert_allclose(vector(trained(model, CLIENTS, 1).model), by_a_loop(model, 1), rtol=1e-10)


# ---- parameters in two places, and of no axes ----


class Tied(nn.Module):
    """Two layers, of which the second has the first one's weight, and a bias of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(FEATURES, FEATURES), nn.Linear(FEATURES, FEATURES)
        self.second.weight = self.first.weight
        self.output = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.output(self.second(self.first(x).tanh()).tanh())
        return result


def scaled() -> nn.Module:
    """A linear model times a number, which is a parameter."""
    parts = {"linear": nn.Linear(FEATURES, CLASSES), "scale": nn.Parameter(torch.tensor(1.0))}
    return Made(lambda self, x: self.linear(x) * self.scale, **parts)


def used_twice() -> nn.Module:
    layer = nn.Linear(FEATURES, FEATURES)
    return nn.Sequential(layer, nn.ReLU(), layer, nn.ReLU(), nn.Linear(FEATURES, CLASSES))


def used_twice_in_blocks() -> nn.Module:
    """The place of a shared weight lies in a module that is itself used under two names."""
    model = nn.Sequential(Tied(), nn.Tanh(), nn.Linear(CLASSES, FEATURES))
    return nn.Sequential(model, model, nn.Linear(FEATURES, CLASSES))


@pytest.mark.sample(1)
@pytest.mark.parametrize("make", [used_twice, used_twice_in_blocks, Tied, scaled])
@pytest.mark.parametrize("measure", [None, ("heterogeneity", "curvature")])
def test_shared_parameters_and_single_numbers_are_trained_as_in_a_loop(make: Any, measure: Any) -> None:
    model = random(make())
    found = trained(model, measure=measure, test=CLIENTS[0])
    np.testing.assert_allclose(vector(found.model), by_a_loop(model), rtol=1e-11)
    assert abs(vector(found.model) - vector(model)).max() > 1e-3
    assert len(list(found.model.parameters())) == len(list(model.parameters()))  # still shared


@pytest.mark.parametrize("make", [used_twice, scaled])
@pytest.mark.parametrize("solver", [fc.GradientDescent(steps=2, stepsize=0.1), fc.SGD(steps=2, stepsize=0.1, clip=0.1)])
def test_all_local_solvers_take_them(make: Any, solver: Any) -> None:
    model = random(make())
    ours, alone = (
        run(fc.FedProx(mu=1), model, clients, rounds=2, local_solver=solver, participation=fc.participation.Full())
        for clients in (CLIENTS[:1] * 2, CLIENTS[:1])
    )
    if isinstance(solver, fc.GradientDescent):  # two clients with the same samples are as good as one
        np.testing.assert_allclose(vector(ours.model), vector(alone.model), rtol=1e-12)
    assert ours.records[-1]["value"] < ours.records[0]["value"]


# ---- samples ----


@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("place", [(0, 0), (1, 1), (2, 0)])
@pytest.mark.parametrize("token", [5, 10**12, -6])
def test_tokens_beyond_the_models(by_hand: bool, place: tuple[int, int], token: int) -> None:
    def looked_up(self: Any, tokens: Tensor) -> Tensor:
        return self.output((self.vectors.weight[tokens] if by_hand else self.vectors(tokens)).mean(1))

    model = random(Made(looked_up, vectors=nn.Embedding(5, 4), output=nn.Linear(4, CLASSES)))
    clients = [(np.array([[0, 1], [2, 3]]), np.array([0, 1])), (np.array([[4, 1]]), np.array([2]))]
    assert trained(model, clients).stopped is None
    changed = np.array([[0, 1], [2, 3], [4, 1]])
    changed[place] = token
    wrong = [(changed[:2], clients[0][1]), (changed[2:], clients[1][1])]
    refused(rf"does not accept the samples' numbers .*{token}.*as many vectors", model=model, clients=wrong)
    refused(str(token), model=model, clients=clients, test=(changed, np.zeros(3, int)))


def test_numbers_that_are_too_large_for_the_dtype() -> None:
    model = one_output()
    large = [(X * 1e300, y) for X, y in FLOATS]
    for part, clients in enumerate((large, [(X, y * 1e300) for X, y in FLOATS])):
        told = rf"clients\[0\]\[{part}\].*too large for torch.float32"
        refused(told, model=model, clients=clients, loss="half_square", dtype="float32")
    assert trained(model, large, 0, loss="half_square").records[0]["value"] > 0


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (nn.Sequential(nn.LazyLinear(CLASSES)), "shapes are not known yet; call it once"),
        (Wrapped(nn.Sequential(nn.Linear(FEATURES, 4), nn.Flatten(0))), r"gives \(8,\) for 2 samples"),
        (noisy(lambda self, x: self.linear(x).mean(0, keepdim=True)), r"gives \(1, 3\) for 2 samples"),
        (nn.Linear(FEATURES + 1, CLASSES), r"does not take samples of shape \(6,\)"),
    ],
)
def test_models_that_do_not_fit(model: nn.Module, told: str) -> None:
    refused(told, model=model)


@pytest.mark.filterwarnings("ignore:.*is deprecated in favor of:FutureWarning", "ignore:.*batching rule:UserWarning")
@pytest.mark.parametrize("options", [{}, {"local_mode": "training"}, {"measure": ("heterogeneity", "curvature")}])
def test_the_older_weight_norm_trains_as_the_newer_one(options: dict[str, Any]) -> None:
    found = []
    for norm in (nn.utils.weight_norm, nn.utils.parametrizations.weight_norm):
        torch.manual_seed(0)
        model = nn.Sequential(norm(nn.Linear(FEATURES, 4)), nn.Tanh(), nn.Linear(4, CLASSES)).double()
        model(torch.ones(2, FEATURES, dtype=torch.float64))  # it stores the weight that it computes
        found.append(vector(trained(model, **options).model))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-14)


class Kinds(nn.Module):
    """Takes token numbers and, beside them, numbers of their kinds, of which there are fewer."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.kinds, self.last = nn.Embedding(50, 4), nn.Embedding(2, 4), nn.Linear(4, CLASSES)

    def forward(self, tokens: Tensor, kinds: Tensor) -> Tensor:
        found: Tensor = self.last((self.tokens(tokens) + self.kinds(kinds)).mean(1))
        return found


@pytest.mark.parametrize("place", [None, (0, 0, 0), (1, 3, 2), (2, 8, 4)])
@pytest.mark.parametrize("storage", ["memory", "disk"])
def test_numbers_beyond_one_of_several_embeddings(place: tuple[int, int, int] | None, storage: str) -> None:
    """On a GPU they would make the process unusable, in whatever sample they are."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, (3, 9, 5))
    if place is not None:
        kinds[place] = 2
    clients = [({"tokens": rng.integers(0, 50, (9, 5)), "kinds": own}, rng.integers(0, CLASSES, 9)) for own in kinds]
    if place is None:
        run(fc.FedProx(mu=1), Kinds(), clients, rounds=1, local_solver=SGD, storage=storage)
    else:
        told = r"tokens 0 to \d\d, kinds 0 to 2: index out of range"
        refused(told, model=Kinds(), clients=clients, storage=storage)


@pytest.mark.parametrize(("place", "number"), [((0, 0), CLASSES), ((3, 8), CLASSES), ((1, 2), -1), ((1, 2), -100)])
@pytest.mark.parametrize("of_tokens", [False, True])
def test_classes_that_a_users_loss_does_not_take(place: tuple[int, int], number: int, of_tokens: bool) -> None:
    """But −100, which torch's cross-entropy leaves out."""
    clients = [(X, y.copy()) for X, y in samples()]
    clients[place[0]][1][place[1] % len(clients[place[0]][1])] = number
    loss: Any = nn.CrossEntropyLoss(reduction="none")
    if of_tokens:
        clients = [(X, np.stack([y, y], 1)) for X, y in clients]
        model: nn.Module = nn.Sequential(nn.Linear(FEATURES, 2 * CLASSES), nn.Unflatten(1, (2, CLASSES)))

        def loss(outputs: Tensor, targets: Tensor) -> Tensor:
            return F.cross_entropy(outputs.mT, targets, reduction="none").mean(1)
    else:
        model = nn.Sequential(nn.Linear(FEATURES, 4), nn.Linear(4, CLASSES))
    if number == -100:
        run(fc.FedProx(mu=1), model, clients, loss, rounds=1, local_solver=SGD)
    else:
        refused(f"does not take the targets .*{number}.*out of bounds", model=model, clients=clients, loss=loss)
