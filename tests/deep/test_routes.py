"""Clients with convolutions step together or one by one, as a measurement on the device chooses, and a run keeps."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import fedconvex as fc
from fedconvex.deep import models, routes, run
from fedconvex.deep.losses import loss_of
from fedconvex.deep.memory import Budget
from fedconvex.deep.tasks import Task, task_of

GENERATOR = torch.Generator().manual_seed(0)
CLIENTS = [(torch.rand(6, 1, 16, 16, generator=GENERATOR), torch.arange(6) % 3) for _ in range(3)]
SGD = fc.SGD(epochs=2, batch_size=4, stepsize=0.1)


def cnn() -> nn.Module:
    torch.manual_seed(0)
    return models.two_layer_cnn(3, 1, 16, (2, 3), (5, 4)).double()


def dense() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 3), nn.LayerNorm(3)).double()


def task(model: nn.Module, **more: Any) -> Task:
    return task_of(model, CLIENTS, loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float64, **more)


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed on the CPU counts as computed on a GPU."""
    monkeypatch.setattr(Budget, "kind_of", lambda self, device: "cuda")


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Chooses the seconds of a step together, where one by one takes 1; says which numbers of clients stepped."""

    def choose(seconds: float) -> list[int]:
        steps: list[int] = []

        def seconds_of(call: Any, device: torch.device) -> float:
            done = call()
            steps.append(1 if done is None else len(done))  # one by one, each step gives an answer
            return seconds if done is None else 1.0

        monkeypatch.setattr(routes, "seconds_of", seconds_of)
        return steps

    return choose


@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_the_faster_one_is_taken(seconds: float, on_device: None, timed: Any) -> None:
    steps, given = timed(seconds), task(cnn())
    before = [part.clone() for part in given.module.parameters()]
    assert routes.take_route(given, SGD, None) is (seconds < 1)
    assert given.problem.network.takes_several is (seconds < 1)  # type: ignore[attr-defined]
    assert steps == [1, 3] * (1 + routes.REPETITIONS)
    assert all(map(torch.equal, before, given.module.parameters()))


def test_it_is_really_measured(on_device: None) -> None:
    assert routes.take_route(task(cnn()), SGD, None) in (True, False)


@pytest.mark.parametrize("chosen", [True, False])
def test_what_was_chosen_is_not_measured(chosen: bool, on_device: None, timed: Any) -> None:
    steps, given = timed(2.0 if chosen else 0.5), task(cnn())  # a measurement would choose otherwise
    assert routes.take_route(given, SGD, chosen) is chosen
    assert given.problem.network.takes_several is chosen  # type: ignore[attr-defined]
    assert not steps


def test_nothing_is_measured_where_nothing_is_to_be_chosen(on_device: None, timed: Any, monkeypatch: Any) -> None:
    steps = timed(2.0)
    assert routes.take_route(task(dense()), SGD, None) is None  # no convolutions
    monkeypatch.undo()
    assert routes.take_route(task(cnn()), SGD, None) is None  # on a CPU
    assert not steps


def test_a_run_goes_on_as_it_began(tmp_path: Path, on_device: None, timed: Any) -> None:
    """One by one the last digits differ, so a run that measures anew would not continue bit for bit."""
    options: dict[str, Any] = {"local_solver": SGD, "progress": False, "seed": 1}
    whole = {}
    for name, seconds in {"together": 0.5, "one by one": 2.0}.items():
        timed(seconds)
        whole[name] = run(fc.FedAvg(epochs=2, batch_size=4, stepsize=0.1), cnn(), CLIENTS, rounds=4, **options)
        file = tmp_path / f"{name}.safetensors"
        halves: dict[str, Any] = {**options, "checkpoint": file, "checkpoint_every": 1}
        run(fc.FedAvg(epochs=2, batch_size=4, stepsize=0.1), cnn(), CLIENTS, rounds=2, **halves)
        steps = timed(1 / seconds)
        resumed = run(fc.FedAvg(epochs=2, batch_size=4, stepsize=0.1), cnn(), CLIENTS, rounds=4, **halves)
        assert not steps
        assert torch.equal(resumed.state.server, whole[name].state.server)
    assert not torch.equal(whole["together"].state.server, whole["one by one"].state.server)
    torch.testing.assert_close(whole["together"].state.server, whole["one by one"].state.server, rtol=1e-12, atol=1e-14)


def test_the_first_process_measures_for_all(on_device: None, timed: Any) -> None:
    class Second:
        rank = 1

        def from_first(self, value: Any) -> bool:
            assert value is None
            return False

    steps, given = timed(0.5), task(cnn())
    assert routes.take_route(given, SGD, None, Second()) is False  # type: ignore[arg-type]
    assert not steps
    assert not given.problem.network.takes_several  # type: ignore[attr-defined]
