"""When memory runs out, batches become smaller, and the run's result stays the same."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, NETWORK, SGD, Wrapped, random, vector

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import memory, run
from fedconvex.deep.checkpoints import DeepCheckpoint
from fedconvex.deep.memory import Budget, OutOfMemory, with_room
from fedconvex.deep.networks import FunctionalNetwork, LayeredNetwork
from fedconvex.deep.processes import Processes, ProcessLost
from fedconvex.methods.base import State
from fedconvex.participation import Draw
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # trains networks


def once(model: Any = NETWORK, solver: Any = SGD, clients: Any = CLIENTS, rounds: int = 2, **options: Any) -> Any:
    return run(fc.FedDyn(alpha=1), model, clients, rounds=rounds, local_solver=solver, **options)


def limited(
    patch: pytest.MonkeyPatch,
    most: int,
    *methods: tuple[type, str],
    of: Callable[..., int] = lambda network, theta, batch: len(batch.targets),
    error: Exception | None = None,
) -> list[int]:
    """At most so many clients, or what `of` counts, fit in a call of these methods; returns the numbers tried."""
    tried: list[int] = []
    for owner, name in methods:
        original = getattr(owner, name)

        def call(*given: Any, original: Any = original, **options: Any) -> Any:
            tried.append(of(*given[:3]))
            if tried[-1] > most:
                raise error or torch.OutOfMemoryError("no room")
            return original(*given, **options)

        patch.setattr(owner, name, call)
    return tried


def clients_of(network: Any, at: Any, *others: Any) -> int:
    """The number of clients in a step, or whose gradients are computed at theta."""
    return len(getattr(at, "theta", at))


def small_memory(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    tried = limited(monkeypatch, most, (LayeredNetwork, "gradients"), (FunctionalNetwork, "gradients"))
    monkeypatch.setattr(memory, "NUMBERS", 2000)
    monkeypatch.setattr(memory, "AT_ONCE", {"cpu": 2000, "cuda": 2000})
    monkeypatch.setattr(Budget.__init__, "__defaults__", (2000,))
    return tried


@pytest.mark.parametrize("model", [NETWORK, Wrapped(NETWORK)], ids=["layered", "functional"])
def test_less_at_once_is_the_same_run(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    same_size = [CLIENTS[0]] * 4
    steps = fc.GradientDescent(steps=3, stepsize=0.1)
    whole = once(model, steps, same_size)
    tried = small_memory(monkeypatch, 1)
    found = once(model, steps, same_size)
    assert max(tried) == 4
    assert tried[-1] == 1
    np.testing.assert_allclose(vector(found.model), vector(whole.model), rtol=1e-13, atol=1e-15)


def test_one_client_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    small_memory(monkeypatch, 0)
    with pytest.raises(OutOfMemory, match="one client alone"):
        once(solver=fc.GradientDescent(steps=3, stepsize=0.1))


@pytest.mark.parametrize("solver", [SGD, fc.GradientDescent(steps=3, stepsize=0.1)], ids=str)
@pytest.mark.parametrize("error", [torch.OutOfMemoryError("no room"), RuntimeError("can't allocate memory: 9 bytes")])
def test_a_round_that_never_fits_ends(solver: Any, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, too: fewer step together from time to time, and not without end."""
    methods = ((LayeredNetwork, "step_function"), (LayeredNetwork, "gradients"))
    together = limited(monkeypatch, 0, *methods, of=clients_of, error=error)
    with pytest.raises(OutOfMemory, match="one client alone"):
        once(solver=solver)
    assert together[0] == len(CLIENTS) or solver is not SGD
    assert together[-1] == 1
    assert len(together) < 40


def test_fewer_clients_step_together_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = once()
    together = limited(monkeypatch, 2, (LayeredNetwork, "step_function"), of=clients_of)
    found = once()
    assert max(together) == 4
    assert together[-1] <= 2
    np.testing.assert_allclose(vector(found.model), vector(usual.model), rtol=1e-13, atol=1e-15)


def test_a_budget_that_cannot_be_smaller_raises() -> None:
    error = torch.OutOfMemoryError("no room")
    budget = Budget()
    for _ in range(25):  # nothing was asked of it: its numbers come to an end
        budget.halve(error)
    with pytest.raises(OutOfMemory):
        budget.halve(error)
    alone = Budget()
    alone.clients(10**9)
    with pytest.raises(OutOfMemory):
        alone.halve(error)
    assert alone.clients(10**6) == 50  # as if nothing had happened


# ---- outside the rounds ----


@pytest.mark.parametrize("model", [NETWORK, random(torch.nn.Linear(FEATURES, CLASSES))], ids=["network", "linear"])
def test_evaluations_take_fewer_samples_at_once(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from fedconvex.deep import monitor
    from fedconvex.deep.losses import TorchCrossEntropy

    options = {"local_solver": SGD, "rounds": 2, "test": CLIENTS[3]}
    usual, evaluate = run(fc.FedDyn(alpha=1), model, CLIENTS, **options), monitor.evaluate
    limited(monkeypatch, 9, (TorchCrossEntropy, "values"), of=lambda loss, outputs, targets: targets.numel())
    found = run(fc.FedDyn(alpha=1), model, CLIENTS, **options)
    np.testing.assert_allclose(vector(found.model), vector(usual.model), rtol=1e-13, atol=1e-15)
    pd.testing.assert_frame_equal(found.to_frame(), usual.to_frame(), rtol=1e-12)

    def never(*given: Any) -> Any:
        limited(monkeypatch, 0, (TorchCrossEntropy, "values"), of=lambda loss, outputs, targets: targets.numel())
        return evaluate(*given)

    monkeypatch.setattr(monitor, "evaluate", never)
    with pytest.raises(OutOfMemory, match="one sample"):
        run(fc.FedDyn(alpha=1), model, CLIENTS, **options)


@pytest.mark.sample(2)
@pytest.mark.parametrize("measure", ["heterogeneity", "curvature", "decrease", "inexactness"])
def test_measurements_take_fewer_clients_at_once(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    same_size = [CLIENTS[0]] * 4
    options = {"rounds": 2, "local_solver": SGD, "measure": measure, "before": lambda footprint: None}
    usual = run(fc.FedProx(mu=1), NETWORK, same_size, **options)
    limited(monkeypatch, 1, (LayeredNetwork, "gradients"), (LayeredNetwork, "losses"))
    found = run(fc.FedProx(mu=1), NETWORK, same_size, **options)
    pd.testing.assert_frame_equal(found.to_frame(), usual.to_frame(), rtol=1e-9)


def test_the_prediction_takes_fewer_clients_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"rounds": 2, "local_solver": fc.GradientDescent(steps=3, stepsize=0.1)}
    usual = run(fc.FedDyn(alpha=1), NETWORK, [CLIENTS[0]] * 4, **options)
    small_memory(monkeypatch, 1)
    told: list[Any] = []
    found = run(fc.FedDyn(alpha=1), NETWORK, [CLIENTS[0]] * 4, before=told.append, **options)
    assert len(told) == 1
    np.testing.assert_allclose(vector(found.model), vector(usual.model), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("fail", [1, 2, 3])
def test_a_round_is_not_played_again_on_changed_memory(fail: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory runs out as the round is recorded, the clients' memory has been overwritten."""
    options = {"rounds": 4, "local_solver": SGD, "participation": participation.Uniform(2), "measure": "inexactness"}
    usual = run(fc.FedDyn(alpha=0.5), NETWORK, CLIENTS, **options)
    measured, calls = RoundMeasurements._inexactness, list[int]()

    def failing(self: Any, played: Any) -> Any:
        calls.append(1)
        if len(calls) == fail:
            raise torch.OutOfMemoryError("no room")
        return measured(self, played)

    monkeypatch.setattr(RoundMeasurements, "_inexactness", failing)
    found = run(fc.FedDyn(alpha=0.5), NETWORK, CLIENTS, **options)
    assert len(calls) == 5
    assert torch.equal(found.state.server, usual.state.server)
    assert torch.equal(found.state.memory["gradient"], usual.state.memory["gradient"])
    pd.testing.assert_frame_equal(found.to_frame(), usual.to_frame())


def test_memory_that_runs_out_between_two_parts_of_a_state() -> None:
    class Full(np.ndarray):
        left = 0

        def __setitem__(self, key: Any, value: Any) -> None:
            if not Full.left:
                Full.left = 9
                raise MemoryError("no room")
            Full.left -= 1
            super().__setitem__(key, value)

    problem = fc.LeastSquares(A=[np.eye(2)] * 3, b=[np.ones(2), np.zeros(2), np.ones(2)])
    rounds = rounds_of(fc.FedPD(eta=1), problem)
    begun = rounds.start(np.zeros(2))
    begun = rounds.advance(begun)  # so that the memory is not all the same
    state = State(begun.server, memory={name: rows.view(Full) for name, rows in begun.memory.items()})
    before = {name: np.array(rows) for name, rows in state.memory.items()}
    Full.left = 2
    with pytest.raises(MemoryError):
        rounds.play(state, Draw(np.array([0, 2])), in_place=True)
    for name, rows in before.items():
        np.testing.assert_array_equal(np.asarray(state.memory[name]), rows)
    Full.left = 9
    played = rounds.play(state, Draw(np.array([0, 2])), in_place=True)
    assert any((np.asarray(state.memory[name]) != rows).any() for name, rows in before.items())
    played.undo()
    for name, rows in before.items():
        np.testing.assert_array_equal(np.asarray(state.memory[name]), rows)


def test_one_of_several_processes_works_again_before_a_sum_and_not_behind_it() -> None:
    peers, tried = SimpleNamespace(sums=0), list[int]()  # several processes, as far as `with_room` looks

    def before_it() -> str:
        tried.append(1)
        if len(tried) < 3:
            raise torch.OutOfMemoryError("no room")
        peers.sums += 1
        return "done"

    def behind_it() -> None:
        peers.sums += 1
        raise torch.OutOfMemoryError("no room")

    assert with_room(before_it, Budget(), peers) == "done"  # type: ignore[arg-type]
    with pytest.raises(OutOfMemory, match="after a sum"):
        with_room(behind_it, Budget(), peers)  # type: ignore[arg-type]
    with pytest.raises(torch.OutOfMemoryError):
        with_room(behind_it, None)


def test_other_errors_are_not_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(LayeredNetwork, "gradients", broken)
    with pytest.raises(RuntimeError, match="shapes"):
        once(solver=fc.GradientDescent(steps=3, stepsize=0.1))


@pytest.mark.parametrize("cache", [1, 2**30])
def test_stepping_together_or_alone(cache: int, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = once()
    monkeypatch.setattr(memory, "CACHE", cache)
    for solver in (SGD, fc.SGD(epochs=2, batch_size=4, stepsize=0.05, clip=0.3)):
        usual = once(solver=solver) if solver != SGD else usual
        np.testing.assert_allclose(vector(once(solver=solver).model), vector(usual.model), rtol=1e-13, atol=1e-15)


def test_rows_laid_out_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from fedconvex.deep import local_sgd

    usual = once()
    monkeypatch.setattr(local_sgd, "ROWS_AT_ONCE", 1)
    np.testing.assert_array_equal(vector(once().model), vector(usual.model))


class TestCheckpointsWithoutRoom:
    """Memory that runs out while a state is gathered or written: an error of its own, and the last file stays."""

    @pytest.mark.parametrize(
        "error",
        [
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
            MemoryError(),
        ],
        ids=["GPU", "CPU", "Python"],
    )
    @pytest.mark.parametrize("place", ["gathering", "writing"])
    def test_nothing_is_lost(self, place: str, error: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "run.safetensors"
        once(rounds=2, checkpoint=file)
        before = file.read_bytes()

        def fails(*_: Any, **__: Any) -> None:
            raise error

        with monkeypatch.context() as patch:
            if place == "gathering":
                patch.setattr(DeepCheckpoint, "_save", lambda self, *_: Processes.whole(partner, *_[:1]))
                partner = SimpleNamespace(rank=0, num_clients=4, members=np.arange(4), total=fails)
            else:
                patch.setattr("fedconvex.deep.checkpoints.write_atomically", fails)
            with pytest.raises(
                OutOfMemory, match=r"round 4 was gathered and written; the last checkpoint in .* complete"
            ):
                once(rounds=4, checkpoint=file)
        assert file.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["run.safetensors"]
        resumed = once(rounds=4, checkpoint=file)
        alone = once(rounds=4)
        assert np.array_equal(vector(resumed.model), vector(alone.model))

    def test_other_errors_stay_what_they_are(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: Any) -> None:
            raise RuntimeError("shape mismatch")

        monkeypatch.setattr("fedconvex.deep.checkpoints.write_atomically", fails)
        with pytest.raises(RuntimeError, match="shape mismatch"):
            once(rounds=1, checkpoint=tmp_path / "run.safetensors")

    def test_memory_that_runs_out_in_a_sum_is_no_lost_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        partner = SimpleNamespace(sums=0)
        with pytest.raises(torch.OutOfMemoryError), Processes._peers(partner):  # type: ignore[arg-type]
            raise torch.OutOfMemoryError("CUDA out of memory")
        with pytest.raises(ProcessLost), Processes._peers(partner):  # type: ignore[arg-type]
            raise RuntimeError("Connection closed by peer")
