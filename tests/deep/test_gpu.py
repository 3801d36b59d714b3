"""Runs on a GPU: equal to those on the CPU up to rounding in float64, and computed on the GPU throughout.

Where there is none, a device stands in for it on which mixing devices is an error, too (`emulated_gpu`): in a process
of its own, `test_emulated_gpu`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import emulated_gpu
import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, Plain, Wrapped, random, samples, vector
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import graphs, local_mode, local_sgd, models, routes, run, runner
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.footprint import footprint
from fedconvex.deep.losses import loss_of
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import task_of
from fedconvex.errors import InvalidInput
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import Simulator
from fedconvex.theory import fedprox

on_a_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no GPU here: nothing was tried on one"),
]
STAND_IN = "stand-in"
STANDS_IN = os.environ.get("FEDCONVEX_STAND_IN") == "1"
pytestmark = [] if STANDS_IN else on_a_gpu
on_the_device = pytest.mark.parametrize("device", [STAND_IN if STANDS_IN else "cuda"], indirect=True)
CLIENTS = samples()
SGD = fc.SGD(epochs=2, batch_size=4, stepsize=0.05)
CLIPPED = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, clip=0.3)
MOMENTUM = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, momentum=0.9)
GD = fc.GradientDescent(steps=3, stepsize=0.1)
NETWORK = random(models.fully_connected([FEATURES, 5, CLASSES]))
METHODS = [
    fc.FedProx(mu=1),
    fc.FedDyn(alpha=0.5),
    fc.Scaffold(stepsize=0.05, local_steps=3),
    fc.FedSplit(stepsize=1),
    fc.FedDANE(mu=1),
    fc.FedNova(stepsize=0.05, local_steps=2),
]
MODELS = {
    "layered": NETWORK,
    "functional": Wrapped(NETWORK),
    "linear": random(nn.Linear(FEATURES, CLASSES)),
    "plain": random(Plain()),
}


SOLVERS = {"sgd": SGD, "clipped": CLIPPED, "momentum": MOMENTUM, "gd": GD}
CASES = {
    f"{type(method).__name__}-{model}-{solver}": (method, MODELS[model], SOLVERS[solver])
    for method in METHODS
    for model in MODELS
    for solver in SOLVERS
}
EVERYTHING = "FedDyn-layered-gd"  # of which all is measured on the stand-in, too: that is slow
FEWER = [case for case in CASES if case.startswith("FedProx") or case.endswith("sgd") or case == EVERYTHING]


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a device for `run`."""
    mode: Any = nullcontext()
    if request.param == STAND_IN:
        usual, place = runner.device_of, emulated_gpu.device()
        monkeypatch.setattr(runner, "device_of", lambda name: place if name == STAND_IN else usual(name))
        # the stand-in has no generators of its own
        monkeypatch.setattr(local_mode, "generator_on", lambda device, seed: torch.Generator().manual_seed(seed))
        mode = emulated_gpu.Dispatching()
    with mode:
        yield request.param


@on_the_device
@pytest.mark.parametrize("case", FEWER if STANDS_IN else CASES)
def test_as_on_the_cpu(device: str, case: str) -> None:
    little = STANDS_IN and case != EVERYTHING
    require_the_same_run(device, *CASES[case], ("heterogeneity", "inexactness", "drift") if little else "all")


@on_the_device
@pytest.mark.parametrize(
    "solver", [fc.Exact(), fc.Newton(), fc.ToInexactness(0.1), fc.AcceleratedGradient(tolerance=1e-3)], ids=str
)
def test_solvers_of_convex_problems(device: str, solver: Any) -> None:
    require_the_same_run(device, fc.FedProx(mu=1), MODELS["linear"], solver, "all")


def require_the_same_run(device: str, method: Any, model: nn.Module, solver: Any, measure: Any) -> None:
    options = {"rounds": 2, "participation": participation.Uniform(2), "local_solver": solver, "seed": 3, "ridge": 0.01}
    options |= {"measure": measure, "test": CLIENTS[0], "lanczos_steps": 4, "draws": 3}
    here = run(method, model, CLIENTS, **options)
    there = run(method, model, CLIENTS, device=device, **options)
    assert next(there.model.parameters()).device.type == ("cuda" if device == "cuda" else emulated_gpu.NAME)
    moved = there.model.cpu()
    np.testing.assert_allclose(vector(moved), vector(here.model), rtol=1e-9, atol=1e-11)
    columns = [c for c in here.to_frame() if "error" not in c]
    np.testing.assert_allclose(there.to_frame()[columns], here.to_frame()[columns], rtol=1e-6, atol=1e-9)


@on_the_device
def test_metrics_are_computed_on_the_host(device: str) -> None:
    def hits(outputs: torch.Tensor, targets: torch.Tensor) -> float:
        return float(np.mean(outputs.numpy().argmax(1) == targets.numpy()))

    options = {"rounds": 1, "local_solver": GD, "test": CLIENTS[0], "metrics": {"hits": hits}, "device": device}
    for record in run(fc.FedProx(mu=1), NETWORK, CLIENTS, **options).records:
        assert record["test_hits"] == record["test_accuracy"]


@on_the_device
def test_claims_as_on_the_cpu(device: str) -> None:
    here, there = (
        run(fc.FedProx(mu=9), NETWORK, CLIENTS, rounds=1, participation=participation.Uniform(3), local_solver=GD,
            device=name)
        for name in ("cpu", device)
    )  # fmt: skip
    for statement in (fedprox.theorem4, fedprox.equation4, fedprox.equation6):
        claim = statement.claim
        assert claim is not None
        given = {name: 1 for name in ("L", "L_minus") if name in claim.parameters}  # measuring curvatures is slow here
        one, other = claim.on(here, **given), claim.on(there, **given)
        np.testing.assert_allclose(other.left, one.left, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.right, one.right, rtol=1e-6, atol=1e-12)
        assert (other.holds, other.round, other.client) == (one.holds, one.round, one.client)


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (models.two_layer_cnn(3, 1, 16, (2, 3), (5, 4)), torch.randn(12, 1, 16, 16, dtype=torch.float64)),
        (models.character_lstm(11, 3, 4, 2), torch.randint(0, 11, (12, 6))),
        (models.resnet18(3, 1, 4, 2), torch.randn(12, 1, 8, 8, dtype=torch.float64)),
    ],
    ids=["cnn", "lstm", "resnet"],
)
@on_the_device
def test_the_papers_models(device: str, model: nn.Module, inputs: torch.Tensor) -> None:
    clients = [(inputs[:5], torch.arange(5) % 3), (inputs[5:], torch.arange(7) % 3)]
    options = {"rounds": 2, "local_solver": SGD}
    here = run(fc.FedDyn(alpha=1), random(model), clients, **options)
    there = run(fc.FedDyn(alpha=1), random(model), clients, device=device, **options)
    np.testing.assert_allclose(vector(there.model.cpu()), vector(here.model), rtol=1e-8, atol=1e-10)


class Recurrent(nn.Module):
    """A user's own recurrent network; `allowed` says of each call with derivatives whether cuDNN could compute it."""

    allowed: ClassVar[list[bool]] = []

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.layer, self.last = kind(2, 3, batch_first=True), nn.Linear(3, CLASSES)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        if torch.is_grad_enabled():
            self.allowed.append(torch.backends.cudnn.enabled)
        states, _ = self.layer(samples)
        last: torch.Tensor = self.last(states[:, -1])
        return last


@on_the_device
@pytest.mark.filterwarnings("ignore:Recurrent cannot be vectorised:RuntimeWarning")
@pytest.mark.parametrize("kind", [nn.RNN] if STANDS_IN else [nn.RNN, nn.LSTM, nn.GRU])  # the stand-in has no others
def test_recurrent_networks_have_second_derivatives_in_evaluation_mode(device: str, kind: type[nn.RNNBase]) -> None:
    """As cuDNN's kernels have not: they would raise an error in the first step."""
    clients = [(np.resize(X, (len(X), 3, 2)), y) for X, y in CLIENTS]
    options = {"rounds": 2, "local_solver": SGD, "measure": ("heterogeneity", "curvature"), "lanczos_steps": 4}
    model = random(Recurrent(kind))
    here = run(fc.FedProx(mu=1), model, clients, **options)
    Recurrent.allowed.clear()
    there = run(fc.FedProx(mu=1), model, clients, device=device, **options)
    assert Recurrent.allowed
    assert not any(Recurrent.allowed)
    np.testing.assert_allclose(vector(there.model.cpu()), vector(here.model), rtol=1e-9, atol=1e-11)
    columns = [c for c in here.to_frame() if "error" not in c]
    np.testing.assert_allclose(there.to_frame()[columns], here.to_frame()[columns], rtol=1e-6, atol=1e-9)


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
    [("dense", True), ("lstm", True), ("cnn", True), ("cnn", False), ("resnet", True), ("resnet", False)],
)
def test_a_run_goes_on_bit_for_bit(
    device: str, name: str, together: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By either route of convolutions, which the run without interruption does not read in a checkpoint."""
    monkeypatch.setattr(routes, "is_faster_together", lambda *given: together)
    model, clients = RESUMED[name]
    options: dict[str, Any] = {"participation": participation.Uniform(2), "local_solver": SGD, "device": device}
    whole = run(fc.FedDyn(alpha=0.5), model, clients, rounds=3, **options)
    run(fc.FedDyn(alpha=0.5), model, clients, rounds=1, checkpoint=tmp_path / "c.safetensors", **options)
    resumed = run(fc.FedDyn(alpha=0.5), model, clients, rounds=3, checkpoint=tmp_path / "c.safetensors", **options)
    assert torch.equal(resumed.state.server.cpu(), whole.state.server.cpu())


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


def mirrored(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return batch.flip(-1)


TIED = nn.Linear(FEATURES, FEATURES)
NORMALISED = {
    "batch": nn.Sequential(nn.Linear(FEATURES, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, CLASSES)),
    "tied": nn.Sequential(TIED, nn.BatchNorm1d(FEATURES), TIED, nn.Linear(FEATURES, CLASSES)),
}


@on_the_device
@pytest.mark.parametrize("buffers", ["averaged", "kept", "frozen"])
@pytest.mark.parametrize(
    "solver", [replace(MOMENTUM, batch_size=5), fc.Adam(epochs=1, batch_size=5, stepsize=0.05)], ids=["sgd", "adam"]
)
@pytest.mark.parametrize("name", NORMALISED)
def test_training_mode_as_on_the_cpu(device: str, name: str, solver: Any, buffers: str) -> None:
    """Draws of dropout and of transforms differ on a GPU; batch statistics, their averages and steps do not."""
    options: dict[str, Any] = {
        "rounds": 2, "participation": participation.Uniform(2), "local_solver": solver, "seed": 3, "test": CLIENTS[0],
        "local_mode": "training", "buffers": buffers, "transform": mirrored,
        "measure": None if buffers == "kept" else "heterogeneity",
    }  # fmt: skip
    here = run(fc.FedProx(mu=1), random(NORMALISED[name]), CLIENTS, **options)
    there = run(fc.FedProx(mu=1), random(NORMALISED[name]), CLIENTS, device=device, **options)
    for key, value in there.model.state_dict().items():
        np.testing.assert_allclose(value.cpu().numpy(), here.model.state_dict()[key].numpy(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(there.to_frame(), here.to_frame(), rtol=1e-6, atol=1e-9)
    assert abs(vector(here.model) - vector(random(NORMALISED[name]))).max() > 0.01


@on_the_device
def test_dropout_on_the_device_is_resumed_bit_for_bit(device: str, tmp_path: Path) -> None:
    model = random(nn.Sequential(nn.Linear(FEATURES, 5), nn.Dropout(0.4), nn.Linear(5, CLASSES)))
    options = {"participation": participation.Uniform(2), "local_solver": SGD, "device": device, "measure": None}
    options |= {"local_mode": "training"}
    whole = run(fc.FedProx(mu=1), model, CLIENTS, rounds=3, **options)
    run(fc.FedProx(mu=1), model, CLIENTS, rounds=1, checkpoint=tmp_path / "c.safetensors", **options)
    resumed = run(fc.FedProx(mu=1), model, CLIENTS, rounds=3, checkpoint=tmp_path / "c.safetensors", **options)
    assert torch.equal(resumed.state.server.cpu(), whole.state.server.cpu())


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
    whole = run(fc.FedProx(mu=1), model, clients, rounds=3, **options)
    assert not any(Attentive.fused + Recurrent.allowed)
    assert Attentive.fused or Recurrent.allowed
    run(fc.FedProx(mu=1), model, clients, rounds=1, checkpoint=tmp_path / "c.safetensors", **options)
    resumed = run(fc.FedProx(mu=1), model, clients, rounds=3, checkpoint=tmp_path / "c.safetensors", **options)
    assert torch.equal(resumed.state.server.cpu(), whole.state.server.cpu())


def drawing(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    torch.rand((), device=batch.device)
    return batch


@pytest.mark.skipif(STANDS_IN, reason="the stand-in has no generators of its own")
@on_the_device
def test_a_transform_that_draws_by_the_devices_own_generator_is_refused(device: str) -> None:
    options: dict[str, Any] = {"rounds": 1, "local_solver": SGD, "local_mode": "training", "transform": drawing}
    with pytest.raises(InvalidInput, match="draws random numbers of its own"):
        run(fc.FedProx(mu=1), NETWORK, CLIENTS, device=device, **options)


WAITING: dict[str, Any] = {
    "layered": (NETWORK, {}),
    "functional": (Wrapped(NETWORK), {}),
    "momentum": (Wrapped(NETWORK), {"local_solver": MOMENTUM}),
    "clipped": (NETWORK, {"local_solver": CLIPPED}),
    "disk": (NETWORK, {"storage": "disk"}),
    "training": (NETWORK, {"local_mode": "training"}),
}


class Reading(nn.Module):
    """Reads a number in every call."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = NETWORK

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.inside(samples * (1 + 0 * float(samples.detach().sum())))
        return found


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """After the first steps, torch raises an error where the host would wait for the device; the list counts steps."""
    begun: list[int] = []

    @contextmanager
    def strictly() -> Iterator[None]:
        torch.cuda.set_sync_debug_mode("error" if len(begun) > 2 else "default")  # the first ones may make plans
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        for found in batches:
            begun.append(1)
            with strictly():
                yield found

    def filled(*given: Any) -> None:
        with strictly():
            fill(*given)

    fill, usual = Shards.fill, local_sgd._batches
    monkeypatch.setattr(local_sgd, "_batches", lambda *given: counted(usual(*given)))
    monkeypatch.setattr(Shards, "fill", filled)
    return begun


WAITING: dict[str, Any] = {
    "layered": (NETWORK, {}),
    "functional": (Wrapped(NETWORK), {}),
    "momentum": (Wrapped(NETWORK), {"local_solver": MOMENTUM}),
    "clipped": (NETWORK, {"local_solver": CLIPPED}),
    "disk": (NETWORK, {"storage": "disk"}),
    "training": (NETWORK, {"local_mode": "training"}),
    "reading": (Reading(), {}),
}


@pytest.mark.skipif(STANDS_IN, reason="the stand-in never computes while the host goes on")
@on_the_device
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype:UserWarning")
@pytest.mark.filterwarnings("ignore:Reading cannot be vectorised:RuntimeWarning")
@pytest.mark.parametrize("name", WAITING)
def test_the_host_does_not_wait_for_the_device_from_step_to_step(device: str, name: str, impatient: list[int]) -> None:
    model, more = WAITING[name]
    options = {"rounds": 1, "local_solver": SGD, "device": device, **more}
    with pytest.raises(RuntimeError, match="synchronizing") if name == "reading" else nullcontext():
        run(fc.FedProx(mu=1), model, CLIENTS, **options)
    assert len(impatient) > 2


@pytest.mark.skipif(STANDS_IN, reason="the stand-in records no graphs")
@on_the_device
def test_recordings_of_many_rounds_take_the_memory_of_one(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their pool is lent to no other tensors: one for each recording would hold ever more of it."""
    solver = fc.SGD(epochs=20, batch_size=4, stepsize=0.05)

    def reserved(rounds: int) -> int:
        run(fc.FedProx(mu=1), NETWORK, CLIENTS, rounds=rounds, local_solver=solver, device=device)
        return torch.cuda.memory_reserved()

    several, first = 10, reserved(2)
    assert reserved(2 + several) - first < several * 2**20
    monkeypatch.setattr(torch.cuda.CUDAGraph, "pool", lambda graph: None)
    assert reserved(2 + several) - first > several * 2**20


@on_the_device
@pytest.mark.parametrize("momentum", [0, 0.9])
def test_steps_in_graphs_as_on_the_cpu(device: str, momentum: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the stand-in a recorder repeats the calls, in the place of CUDA's."""
    recorded: list[Any] = []
    usual = graphs.recorder_for

    def counted(place: torch.device) -> Any:
        recorder = (lambda calls: calls) if place.type == emulated_gpu.NAME else usual(place)
        return None if recorder is None else lambda calls: recorded.append(1) or recorder(calls)

    monkeypatch.setattr(graphs, "recorder_for", counted)
    require_the_same_run(
        device, fc.FedProx(mu=1), NETWORK, fc.SGD(epochs=6, batch_size=4, stepsize=0.05, momentum=momentum), None
    )
    assert recorded


@on_the_device
@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_convolutions_by_either_route_as_on_the_cpu(
    device: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A measurement that finds steps together to take so many times as long."""
    measured: list[Any] = []

    def seconds_of(call: Any, place: torch.device) -> float:
        measured.append(place)
        return seconds if call() is None else 1.0

    monkeypatch.setattr(routes, "seconds_of", seconds_of)
    model = random(
        nn.Sequential(
            nn.Unflatten(1, (1, 1, FEATURES)),
            nn.Conv2d(1, 2, (1, 3)),
            nn.Flatten(),
            nn.Linear(2 * (FEATURES - 2), CLASSES),
        )
    )
    require_the_same_run(device, fc.FedProx(mu=1), model, SGD, None)
    assert measured


@on_the_device
@pytest.mark.parametrize("options", [{}, {"local_mode": "training", "measure": "heterogeneity"}], ids=["", "training"])
@pytest.mark.parametrize("bytes_", [False, True])
def test_samples_on_disk_come_to_the_device_by_batches(
    device: str, bytes_: bool, options: dict[str, Any], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    images = [(rng.integers(0, 256, (len(y), 1, 2, 3)).astype(np.uint8), y) for _, y in CLIENTS]
    clients, model = (images, nn.Sequential(nn.Flatten(), NETWORK)) if bytes_ else (CLIENTS, NETWORK)
    given: dict[str, Any] = {
        "rounds": 2, "participation": participation.Uniform(2), "local_solver": SGD, "seed": 3, "test": clients[0],
        "measure": ("heterogeneity", "inexactness"), "storage": tmp_path, **options,
    }  # fmt: skip
    here = run(fc.FedProx(mu=1), model, clients, **given)
    given["checkpoint"] = tmp_path / "c.safetensors"
    there = run(fc.FedProx(mu=1), model, clients, device=device, **given)
    assert there.task.shards.inputs.device.type == "cpu"
    assert there.task.shards.targets.device.type == ("cuda" if device == "cuda" else emulated_gpu.NAME)
    np.testing.assert_allclose(vector(there.model.cpu()), vector(here.model), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(there.to_frame(), here.to_frame(), rtol=1e-6, atol=1e-9)


@pytest.mark.skipif(STANDS_IN, reason="the stand-in has the host's memory")
@on_the_device
@pytest.mark.parametrize("momentum", [0, 0.9])
def test_the_predicted_memory_is_what_the_gpu_took(device: str, momentum: float) -> None:
    generator = torch.Generator().manual_seed(0)
    clients = [(torch.rand(100, 784, generator=generator), torch.arange(100) % 10) for _ in range(20)]
    model = models.fully_connected([784, 200, 200, 10])
    solver = fc.SGD(epochs=1, batch_size=20, stepsize=0.1, momentum=momentum)
    square = torch.ones(8, 8, device=device)
    nn.functional.linear(square @ square, square, square[0])  # torch keeps workspaces for products, of 32 MiB each
    del square
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    task = task_of(model, clients, loss_of("cross_entropy"), None, 0, torch.device(device), torch.float32)
    rounds = rounds_of(fc.FedDyn(alpha=1), task.problem, task.arithmetic, solver)
    simulator, state = Simulator.of(rounds, participation.Uniform(10), None, 0, (), 2), rounds.start(task.start())
    predicted = footprint(task, simulator, state).total
    torch.cuda.reset_peak_memory_stats()
    for t in range(2):
        done = simulator.next_round(state, t)
        state, undo = done.state, done.undo
        del done
        evaluate(task.module_at(state), task.loss, task.shards)
        del undo
    taken = torch.cuda.max_memory_allocated() - before
    assert predicted == pytest.approx(taken, rel=0.2)
