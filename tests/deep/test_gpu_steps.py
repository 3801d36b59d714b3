"""How steps are taken on a GPU: without waiting, as graphs, by either route, from disk, in the predicted memory."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import emulated_gpu
import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, NETWORK, SGD, Made, Wrapped, random, vector
from gpu_runs import CLIPPED, MARKS, MOMENTUM, STANDS_IN, on_the_device, require_the_same_run
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import graphs, local_sgd, models, routes, run
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.footprint import footprint
from fedconvex.deep.losses import loss_of
from fedconvex.deep.shards import Shards
from fedconvex.deep.tasks import task_of
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import Simulator

pytestmark = MARKS


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
    "reading": (Made(lambda self, x: self.inside(x * (1 + 0 * float(x.detach().sum()))), inside=NETWORK), {}),
}


@pytest.mark.skipif(STANDS_IN, reason="the stand-in never computes while the host goes on")
@on_the_device
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype:UserWarning")
@pytest.mark.filterwarnings("ignore:Made cannot be vectorised:RuntimeWarning")
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
