"""The predicted memory is the memory that a run takes, within a fifth."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import Wrapped, random
from slow_layer import meeting
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, run
from fedconvex.deep.evaluation import evaluate
from fedconvex.deep.footprint import Footprint, TensorMemory, footprint
from fedconvex.deep.losses import loss_of
from fedconvex.deep.tasks import task_of
from fedconvex.errors import InvalidInput
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import Simulator

pytestmark = pytest.mark.beyond_core  # trains networks

GENERATOR = torch.Generator().manual_seed(0)
CLIENTS = [
    (torch.rand(40, 100, generator=GENERATOR), torch.randint(0, 10, (40,), generator=GENERATOR)) for _ in range(20)
]
NETWORK = models.fully_connected([100, 50, 10])
CONVOLUTIONS = nn.Sequential(
    nn.Unflatten(1, (1, 10, 10)), nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10)
)
SGD = fc.SGD(epochs=2, batch_size=10, stepsize=0.1)


def prepared(method: Any, model: nn.Module, scheme: Any, solver: Any = SGD) -> tuple[Any, Simulator, Any]:
    task = task_of(random(model), CLIENTS, loss_of("cross_entropy"), None, 0, torch.device("cpu"), torch.float32)
    rounds = rounds_of(method, task.problem, task.arithmetic, solver)
    return task, Simulator.of(rounds, scheme, None, 0, (), 3), rounds.start(task.start())


METHODS = (
    fc.FedAvg(epochs=1, stepsize=1),
    fc.FedProx(mu=1),
    fc.FedDyn(alpha=1),
    fc.Scaffold(stepsize=0.1, local_steps=2),
)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("method", "model", "K", "momentum"),
    meeting(METHODS, [NETWORK, Wrapped(NETWORK), CONVOLUTIONS], [1, 5, 20], [0, 0.9]),
)
def test_prediction(method: Any, model: nn.Module, K: int, momentum: float) -> None:
    task, simulator, state = prepared(method, model, participation.Uniform(K), replace(SGD, momentum=momentum))
    before = {name: rows.clone() for name, rows in state.memory.items()}
    predicted = footprint(task, simulator, state)
    for name, rows in before.items():
        assert torch.equal(state.memory[name], rows)  # nothing has happened
    module = task.module_at(state)
    with TensorMemory() as counter:
        for t in range(2):
            done = simulator.next_round(state, t)
            state, undo = done.state, done.undo  # which a run keeps until it has looked at the model
            del done
            task.load(module, state)
            evaluate(module, task.loss, task.shards)
            task.penalty(state.server)
            del undo
    assert predicted.passing == pytest.approx(counter.peak, rel=0.35)
    taken = predicted.samples + predicted.state + counter.peak + predicted.models
    assert predicted.total == pytest.approx(taken, rel=0.2)
    assert predicted.samples == 20 * 40 * (100 * 4 + 8)
    numbers = task.problem.dim * (1 + sum(len(rows) + 1 for rows in before.values()))
    assert predicted.state == pytest.approx(4 * numbers, rel=1e-9)


@pytest.mark.slow
def test_the_velocity_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more vector for each client that steps, where the state and the work are little else."""
    monkeypatch.setattr("fedconvex.deep.memory.CACHE", 2**30)  # all of them together

    def passing(momentum: float) -> int:
        solver = fc.SGD(epochs=1, batch_size=2, stepsize=0.1, momentum=momentum)
        task, simulator, state = prepared(fc.FedProx(mu=1), NETWORK, participation.Full(), solver)
        return footprint(task, simulator, state).passing - 20 * 4 * task.problem.dim * bool(momentum)

    assert passing(0.9) == pytest.approx(passing(0), rel=0.05)


def test_the_ledger_counts_what_lives() -> None:
    with TensorMemory() as counter:
        a = torch.zeros(1000, dtype=torch.float64)
        assert counter.live == 8000
        view = a[10:]
        assert counter.live == 8000
        b = a + 1
        assert counter.live == 16000
        del a, b
        assert counter.live == 8000  # the view holds it
        del view
        assert counter.live == 0
        c = torch.zeros(10)
        c.add_(1)
        assert (counter.live, counter.peak) == (40, 16000)


def test_it_is_told_before_the_run() -> None:
    told: list[Footprint] = []
    options = {"participation": participation.Uniform(3), "local_solver": SGD, "rounds": 1, "dtype": "float32"}
    run(fc.FedDyn(alpha=1), NETWORK, CLIENTS, before=told.append, watch=lambda record: told.append(record), **options)
    assert isinstance(told[0], Footprint)
    assert "samples" in str(told[0])
    assert not any(isinstance(more, Footprint) for more in told[1:])


def test_schedules_of_few_rounds() -> None:
    """Where a schedule names as many clients as are drawn, the same memory is predicted; none for no rounds."""

    def told(scheme: Any, rounds: int) -> Footprint:
        found: list[Footprint] = []
        options = {"participation": scheme, "local_solver": SGD, "dtype": "float32", "before": found.append}
        run(fc.FedDyn(alpha=1), NETWORK, CLIENTS, rounds=rounds, **options)
        return found[0]

    drawn = told(participation.Uniform(12), 2)
    assert told(participation.Schedule([list(range(12))]), 1) == drawn
    assert told(participation.Schedule([[0], list(range(12))]), 2) == drawn
    assert told(participation.Schedule([list(range(12))]), 0).passing < drawn.passing
    assert told(participation.Schedule([[0], [1]]), 2).passing < drawn.passing


def test_the_run_is_the_same_with_and_without() -> None:
    options = {"participation": participation.Uniform(3), "local_solver": SGD, "rounds": 2}
    with_it = run(fc.FedDyn(alpha=1), NETWORK, CLIENTS, before=lambda f: None, **options)
    without = run(fc.FedDyn(alpha=1), NETWORK, CLIENTS, **options)
    assert torch.equal(with_it.state.server, without.state.server)


def test_every_clients_inexactness() -> None:
    options = {"participation": participation.Uniform(3), "local_solver": SGD, "rounds": 4, "seed": 1}
    found = run(fc.FedProx(mu=1), NETWORK, CLIENTS, measure="inexactness", **options)
    gamma = found.client_inexactness
    assert gamma.shape == (4, 20)
    assert (np.isfinite(gamma).sum(1) == 3).all()
    np.testing.assert_allclose(np.nanmax(gamma, 1), found.to_frame()["inexactness"][1:])
    with pytest.raises(InvalidInput, match="does not include the inexactness"):
        _ = run(fc.FedProx(mu=1), NETWORK, CLIENTS, **options).client_inexactness
