"""Local steps in training mode, compared with a plain PyTorch loop: batch statistics, dropout, augmentation."""

import random as python_random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import (
    CLASSES,
    FEATURES,
    continued,
    mixed,
    plain_training,
    random,
    refused,
    samples,
    small,
    towards,
    vector,
)
from torch import Tensor, nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.over_the_run import DOES_NOT
from fedconvex.deep.training_mode import step_seeds
from fedconvex.errors import InvalidInput
from fedconvex.participation import Stragglers, Uniform, UniformThenWeighted

pytestmark = pytest.mark.beyond_core  # trains networks

IMAGES = samples(shape=(2, 4, 4))
TABLES = samples()
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1, momentum=0.5, weight_decay=0.01)
BY_FIVES = replace(SGD, batch_size=5)  # leaves no sample of TABLES alone in a batch


def convolutional() -> nn.Module:
    layers = [nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(), nn.Linear(12, CLASSES)]
    return random(nn.Sequential(*layers))


def noisy(batch: Tensor, generator: torch.Generator) -> Tensor:
    """Mirrors some images and adds noise."""
    mirrored = torch.rand(len(batch), generator=generator) < 0.5
    batch = torch.where(mirrored[:, None, None, None], batch.flip(-1), batch)
    return batch + 0.1 * torch.randn(batch.shape, generator=generator, dtype=batch.dtype)


def local(
    model: nn.Module, clients: list[Any], k: int, t: int, solver: fc.SGD, transform: Any, mu: float, frozen: str = ""
) -> nn.Module:
    """One client's steps as PyTorch's users write them, with the draws of the run."""
    options = {"extra": towards(model, mu), "training": True, "frozen": frozen}
    options |= {} if transform is None else {"transform": transform}
    return plain_training(model, clients, k, solver, 0, t, solver.effort, **options)


def averaged(models: list[nn.Module]) -> nn.Module:
    """The average of parameters and buffers, as the frameworks take it."""
    result = mixed(models, [1.0] * len(models))
    for name, buffer in result.named_buffers():
        mean = torch.stack([dict(m.named_buffers())[name].double() for m in models]).mean(0)
        buffer.copy_(mean if buffer.is_floating_point() else mean.round())
    return result


def value(model: nn.Module, clients: list[Any]) -> float:
    X, y = zip(*[[torch.as_tensor(part) for part in pair] for pair in clients], strict=True)
    model = deepcopy(model).eval()
    with torch.no_grad():
        return float(np.mean([float(F.cross_entropy(model(a), b)) for a, b in zip(X, y, strict=True)]))


@pytest.fixture(autouse=True)
def _same_generators() -> Any:
    """A run in training mode leaves torch's own generator as it was."""
    before = torch.get_rng_state()
    yield
    torch.set_rng_state(before)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("transform", "mu"), [(noisy, 0.7), (None, 0.0), (None, 0.7), (noisy, 0.0)])
def test_buffers_averaged_dropout_and_augmentation_agree_with_a_plain_loop(transform: Any, mu: float) -> None:
    model = convolutional()
    method = fc.FedProx(mu=mu)
    options = {"local_solver": SGD, "participation": Uniform(3), "transform": transform, "test": IMAGES[1]}
    before = torch.get_rng_state()
    found = run(method, model, IMAGES, rounds=3, local_mode="training", **options)
    assert torch.equal(before, torch.get_rng_state())
    expected, values = model, [value(model, IMAGES)]
    for t in range(3):
        members = Uniform(3).draw(found.task.problem, 0, t).members
        expected = averaged([local(expected, IMAGES, k, t, SGD, transform, mu) for k in members])
        values.append(value(expected, IMAGES))
    for name, one in found.model.state_dict().items():
        torch.testing.assert_close(one, expected.state_dict()[name], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.to_frame()["value"], values, rtol=0, atol=1e-12)
    assert found.to_frame()["test_value"].iloc[-1] == pytest.approx(value(expected, IMAGES[1:2]), abs=1e-12)
    assert abs(vector(found.model) - vector(model)).max() > 0.01


def test_the_draws_count() -> None:
    """Other draws lead elsewhere: the comparison above would notice a model that drops nothing, or always the same."""
    model = convolutional()
    found = run(fc.FedProx(mu=0), model, IMAGES, rounds=1, local_mode="training", local_solver=SGD)
    again = run(fc.FedProx(mu=0), model, IMAGES, rounds=1, local_mode="training", local_solver=SGD)
    np.testing.assert_array_equal(vector(found.model), vector(again.model))
    without = deepcopy(model)
    without[3] = nn.Dropout(0.0)
    for other in (without, model):
        elsewhere = run(
            fc.FedProx(mu=0), other, IMAGES, rounds=1, local_mode="training", local_solver=SGD, seed=int(other is model)
        )
        assert abs(vector(elsewhere.model) - vector(found.model)).max() > 1e-3


def test_every_step_draws_anew() -> None:
    seeds = {step_seeds(s, t, k, i) for s in range(2) for t in range(3) for k in range(3) for i in range(3)}
    assert len({seed for pair in seeds for seed in pair}) == 2 * 54


@pytest.mark.sample(1)
@pytest.mark.parametrize("scheme", [Uniform(2), UniformThenWeighted(3)])
def test_kept_buffers_stay_with_their_client(scheme: Any) -> None:
    """FedBN's running statistics: each client is evaluated with its own, the test set with their mean."""
    model = random(nn.Sequential(nn.Linear(FEATURES, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, CLASSES)))
    found = run(
        fc.FedProx(mu=0), model, TABLES, rounds=3, local_mode="training", buffers="kept", local_solver=BY_FIVES,
        participation=scheme, test=TABLES[0],
    )  # fmt: skip
    own = [deepcopy(model) for _ in TABLES]
    server = model
    for t in range(3):
        members = scheme.draw(found.task.problem, 0, t).members
        trained = []
        for k in members:
            start = deepcopy(server)
            start[1].load_state_dict(own[k][1].state_dict())
            start[1].weight.data, start[1].bias.data = server[1].weight.data.clone(), server[1].bias.data.clone()
            trained.append(local(start, TABLES, k, t, BY_FIVES, None, 0.0))
            own[k] = trained[-1]
        server = mixed(trained, [1.0] * len(trained))
    models = []
    for k in range(len(TABLES)):
        models.append(deepcopy(server))
        for name, buffer in models[-1].named_buffers():
            buffer.copy_(dict(own[k].named_buffers())[name])
    values = [value(one, [client]) for one, client in zip(models, TABLES, strict=True)]
    frame = found.to_frame()
    assert frame["value"].iloc[-1] == pytest.approx(np.mean(values), abs=1e-12)
    np.testing.assert_allclose(vector(found.model), vector(server), rtol=0, atol=1e-12)
    mean = averaged(models)
    assert frame["test_value"].iloc[-1] == pytest.approx(value(mean, TABLES[:1]), abs=1e-12)
    assert abs(value(mean, TABLES) - np.mean(values)) > 1e-6  # whose buffers matters


def test_buffers_by_name() -> None:
    layers = [nn.Linear(FEATURES, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.BatchNorm1d(4), nn.Linear(4, CLASSES)]
    model = random(nn.Sequential(*layers))
    found = run(
        fc.FedProx(mu=0), model, TABLES, rounds=1, local_mode="training", local_solver=BY_FIVES,
        buffers={"1": "frozen", "*": "averaged"},
    )  # fmt: skip
    expected = averaged([local(model, TABLES, k, 0, BY_FIVES, None, 0.0, frozen="1") for k in range(4)])
    for name, one in found.model.state_dict().items():
        torch.testing.assert_close(one, expected.state_dict()[name], rtol=0, atol=1e-12)
    assert torch.equal(found.model[1].running_mean, model[1].running_mean)
    assert not torch.equal(found.model[3].running_mean, model[3].running_mean)


class Affine(nn.Module):
    """Batch normalisation with these statistics, written out."""

    def __init__(self, norm: nn.BatchNorm1d) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(norm.weight.detach().clone()), nn.Parameter(norm.bias.detach().clone())
        self.register_buffer("mean", norm.running_mean)
        self.register_buffer("deviation", (norm.running_var + norm.eps).sqrt())

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) / self.deviation * self.weight + self.bias


def test_frozen_statistics_in_evaluation_mode_are_an_affine_layer() -> None:
    """Vectorised over clients, and the objective of the statements."""
    model = random(nn.Sequential(nn.Linear(FEATURES, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, CLASSES)))
    model[1].running_mean = torch.linspace(-1, 1, 4).double()
    model[1].running_var = torch.linspace(0.5, 2, 4).double()
    written = nn.Sequential(model[0], Affine(model[1]), *model[2:])
    options: dict[str, Any] = {"rounds": 2, "local_solver": SGD, "measure": "all", "lanczos_steps": 2}
    found = run(fc.FedProx(mu=5), model, TABLES, buffers="frozen", **options)
    expected = run(fc.FedProx(mu=5), written, TABLES, **options)
    np.testing.assert_allclose(vector(found.model), vector(expected.model), rtol=0, atol=1e-13)
    columns = ["verdict", "assumption", "quantity"]
    pd.testing.assert_frame_equal(found.bounds()[columns], expected.bounds()[columns])
    assert torch.equal(found.model[1].running_mean, model[1].running_mean)
    trained = run(fc.FedProx(mu=5), model, TABLES, rounds=2, buffers="frozen", local_solver=SGD, local_mode="training")
    np.testing.assert_allclose(vector(trained.model), vector(found.model), rtol=0, atol=1e-13)


def test_a_model_without_modes_trains_alike_in_both() -> None:
    model = random(small())
    options: dict[str, Any] = {
        "rounds": 3, "ridge": 0.1, "weights": "samples", "participation": UniformThenWeighted(3),
        "stragglers": Stragglers(0.5), "local_solver": fc.SGD(epochs=3, batch_size=5, stepsize=0.1, clip=0.4),
    }  # fmt: skip
    for method in (fc.FedProx(mu=1), fc.Scaffold(stepsize=1), fc.FedDyn(alpha=1)):
        one, other = (run(method, model, TABLES, local_mode=mode, **options) for mode in ("evaluation", "training"))
        np.testing.assert_allclose(vector(one.model), vector(other.model), rtol=0, atol=1e-13)
        pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), rtol=1e-12)


@pytest.mark.sample(1)
@pytest.mark.parametrize("buffers", ["kept", "averaged", {"1.running_*": "kept", "*": "averaged"}])
def test_a_run_is_continued_bit_for_bit(buffers: Any, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "local_mode": "training", "buffers": buffers, "transform": noisy, "local_solver": SGD,
        "participation": Uniform(2), "test": IMAGES[0], "measure": "drift",
    }  # fmt: skip
    file = tmp_path / "run.safetensors"
    continued(file, fc.FedDyn(alpha=1), convolutional(), IMAGES, 2, rounds=4, **options)
    changed: list[tuple[dict[str, Any], str]] = [
        ({"transform": None}, "local_mode"),
        ({"transform": lambda x, g: x}, "local_mode"),
        ({"buffers": {"*": "frozen"}}, "local_mode"),
    ]
    for change, told in changed:
        with pytest.raises(InvalidInput, match=f"another {told}"):
            run(fc.FedDyn(alpha=1), convolutional(), IMAGES, rounds=4, checkpoint=file, **(options | change))


def test_a_transform_whose_code_changed_is_another_run(tmp_path: Path) -> None:
    def changed(factor: float) -> Callable[..., Tensor]:
        def stretched(batch: Tensor, generator: torch.Generator) -> Tensor:
            return factor * batch

        return stretched

    def go(factor: float) -> None:
        run(fc.FedProx(mu=1), convolutional(), IMAGES, rounds=1, local_mode="training", local_solver=SGD,
            transform=changed(factor), checkpoint=tmp_path / "run.safetensors")  # fmt: skip

    go(1.0)
    with pytest.raises(InvalidInput, match="model, loss or transform"):
        go(1.1)


def test_no_statement_is_about_such_a_run() -> None:
    found = run(
        fc.FedProx(mu=20),
        convolutional(),
        IMAGES,
        rounds=1,
        local_mode="training",
        local_solver=SGD,
        measure="all",
        lanczos_steps=2,
    )
    table = found.bounds(B=1, gamma=0.1)
    assert len(table) > 0
    assert set(table["verdict"]) == {DOES_NOT}
    assert set(table["assumption"]) == {"local steps on the measured objective"}
    assert "decrease" not in found.to_frame()
    assert "the objective is that of evaluation mode" in str(found.summary())
    from fedconvex.theory import fedprox

    with pytest.raises(InvalidInput, match="local steps are in training mode"):
        fedprox.theorem4.claim.on(found)


def test_measurements_are_of_the_servers_buffers() -> None:
    found = run(
        fc.FedProx(mu=0), convolutional(), IMAGES, rounds=2, local_mode="training", local_solver=SGD,
        measure="heterogeneity",
    )  # fmt: skip
    model = deepcopy(found.model).eval()
    total = sum(F.cross_entropy(model(torch.as_tensor(X)), torch.as_tensor(y)) for X, y in IMAGES) / len(IMAGES)
    gradients = torch.autograd.grad(total, tuple(model.parameters()))
    norm = float(torch.cat([g.flatten() for g in gradients]).norm())
    assert found.to_frame()["gradient_norm"].iloc[-1] == pytest.approx(norm, rel=1e-12)


def draws_itself(batch: Tensor, generator: torch.Generator) -> Tensor:
    return batch + torch.rand(())


def draws_from_numpy(batch: Tensor, generator: torch.Generator) -> Tensor:
    return batch + np.random.default_rng().random()


def draws_from_global_numpy(batch: Tensor, generator: torch.Generator) -> Tensor:
    np.random.rand()  # noqa: NPY002 - what users do
    return batch


def fails(batch: Tensor, generator: torch.Generator) -> Tensor:
    return batch * (1 // 0)


def crops(batch: Tensor, generator: torch.Generator) -> Tensor:
    return batch[..., 1:]


BY_BATCH = nn.Sequential(nn.Linear(FEATURES, 3), nn.BatchNorm1d(3, track_running_stats=False))


def divides(batch: Tensor, generator: torch.Generator) -> Tensor:
    return batch / 0


def draws_from_python(batch: Tensor, generator: torch.Generator) -> Tensor:
    """The same in both of two trials, at times."""
    return batch.flip(-1) if python_random.random() < 1e-9 else batch


class Skipping(nn.Module):
    """Leaves a layer out at random in training, as stochastic depth does."""

    def __init__(self, draw: Callable[[], float]) -> None:
        super().__init__()
        self.layer, self.output, self.draw = nn.Linear(32, 32), nn.Linear(32, CLASSES), draw

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        result: Tensor = self.output(x if self.training and self.draw() < 0.5 else self.layer(x).tanh())
        return result


@pytest.mark.parametrize(
    ("change", "argument", "told"),
    [
        ({"local_mode": "train"}, "local_mode", "training"),
        ({"local_mode": "evaluation"}, "model", "normalises over the batch.*local_mode='training'.*frozen"),
        ({"buffers": "averagd"}, "buffers", "averaged"),
        ({"buffers": {"1": "keep"}}, "buffers", "kept"),
        ({"buffers": {"norm": "kept", "*": "averaged"}}, "buffers", "1.running_mean"),
        ({"buffers": {"1.running_mean": "kept"}}, "buffers", "does not name buffer '1.running_var'"),
        ({"buffers": {"1.running_mean": "frozen", "*": "kept"}}, "buffers", "name the layer: '1'"),
        ({"local_mode": "evaluation", "buffers": "kept"}, "buffers", "training mode"),
        ({"local_mode": "evaluation", "transform": noisy, "buffers": "frozen"}, "transform", "training mode"),
        ({"transform": 3}, "transform", "function"),
        ({"transform": draws_itself}, "transform", "draws_itself.*generator=generator"),
        ({"transform": draws_from_numpy}, "transform", "generator=generator"),
        ({"transform": draws_from_global_numpy}, "transform", "generator=generator"),
        ({"transform": fails}, "transform", r"fails: fails on a batch \(2, 2, 4, 4\): ZeroDivisionError"),
        ({"transform": crops}, "transform", r"makes \(2, 2, 4, 3\).*of a batch \(2, 2, 4, 4\)"),
        ({"local_solver": fc.GradientDescent(steps=2, stepsize=0.1)}, "local_solver", "SGD.*batch_size=None"),
        ({"local_solver": fc.SGD(epochs=1, batch_size=3, stepsize=0.1), "model": nn.Sequential(
            nn.Flatten(), nn.BatchNorm1d(32), nn.Linear(32, 3))}, "batch_size", "client 0 a batch of one sample"),
        ({"method": fc.Ditto(stepsize=0.1, local_steps=1, regularization=1)}, "local_mode", "Ditto"),
        ({"measure": "decrease"}, "measure", "decrease"),
        ({"measure": "curvature", "buffers": "kept"}, "measure", "server's model"),
        ({"transform": divides}, "transform", "makes numbers that are not finite"),
        ({"transform": draws_from_python}, "transform", "generator=generator"),
        ({"model": Skipping(python_random.random)}, "model", r"by Python or NumPy.*resumed; draw them by torch"),
        ({"model": Skipping(lambda: np.random.random())}, "model", r"by Python or NumPy.*; draw them by torch"),  # noqa: NPY002
        ({"model": Skipping(np.random.default_rng(1).random)}, "model", "something else when it is called again"),
        ({"model": Skipping(python_random.Random(1).random)}, "model", "something else when it is called again"),
        ({"model": BY_BATCH, "clients": TABLES}, "model", "'1' has no running statistics.*track_running_stats=True"),
    ],
)  # fmt: skip
def test_what_is_refused(change: dict[str, Any], argument: str, told: str) -> None:
    given: dict[str, Any] = {"model": convolutional(), "clients": IMAGES, "local_mode": "training", "local_solver": SGD}
    refused(told, argument, **(given | change))


def test_the_users_model_is_not_changed() -> None:
    model = convolutional().train()
    kept = {name: part.clone() for name, part in model.state_dict().items()}
    run(fc.FedProx(mu=1), model, IMAGES, rounds=1, local_mode="training", local_solver=SGD)
    assert model.training
    for name, part in model.state_dict().items():
        assert torch.equal(part, kept[name])


class Storing(nn.Module):
    """Keeps an activation, as people do to look at it later."""

    def __init__(self, *, keep: bool = True) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(FEATURES, 5), nn.Linear(5, CLASSES)
        self.keep, self.seen = keep, list[Tensor]()

    def forward(self, x: Tensor) -> Tensor:
        h = self.first(x).tanh()
        if self.keep:
            self.features = h
            self.seen.append(h)
        result: Tensor = self.last(h)
        return result


@pytest.mark.parametrize(
    "options",
    [
        {"local_mode": "training"},
        {},
        {"participation": Uniform(1)},
        {"local_solver": fc.GradientDescent(steps=2, stepsize=0.1), "measure": "all"},
        {"watch": lambda record, model: None},
    ],
)
def test_a_model_that_stores_an_activation_trains_as_one_that_does_not(options: dict[str, Any]) -> None:
    options = {"local_solver": SGD, "rounds": 2, "test": TABLES[0], "seed": 3} | options
    found, plain = (run(fc.FedProx(mu=1), random(Storing(keep=keep)), TABLES, **options) for keep in (True, False))
    np.testing.assert_array_equal(vector(found.model), vector(plain.model))
    assert isinstance(found.model, Storing)
    deepcopy(found.model)  # and what it returns holds none of autograd's tensors
    pd.testing.assert_frame_equal(found.to_frame(), plain.to_frame())
