"""Mini-batches: implementations that visit given ones are compared exactly, those that shuffle with every order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from classifying import softmax_gradient

import fedconvex as fc
from fedconvex.conformance import Report, check, findings
from fedconvex.conformance.batches import ChosenBatches, Work, drawn
from fedconvex.conformance.identification import identify
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # takes seconds

METHOD = fc.FedAvg(stepsize=0.05, epochs=2, batch_size=2)


def any_name(report: Report) -> set[str]:
    return {finding.name for finding in report.diagnosis + report.alternatives}


def gradient(problem: Any, k: int, batch: Any, x: Any) -> Any:
    """Of the mean over the batch, as torch.nn.MSELoss and CrossEntropyLoss compute it."""
    A, b = problem.A[k][batch], problem.b[k][batch]
    return softmax_gradient(A, b, x) if hasattr(problem, "num_classes") else 2 * A.T @ (A @ x - b) / len(b)


def fedavg(change: Callable[[list[Any]], list[Any]] = lambda batches: batches) -> dict[str, Any]:
    """FedAvg over change(the given batches)."""

    def round(problem: Any, x: Any, active: Any, batches: Any) -> Any:
        ends = []
        for k, own in zip(active, batches, strict=True):
            theta = x
            for batch in change(own):
                theta = theta - 0.05 * gradient(problem, k, batch, theta)
            ends.append(theta)
        n = problem.weights[active]
        return n @ np.stack(ends) / n.sum()

    return {"init": lambda problem, x0: x0.copy(), "round": round, "server_model": lambda x: x}


@pytest.mark.sample(1)
@pytest.mark.parametrize("loss", [None, "cross_entropy"])
@pytest.mark.parametrize("batch_size", [1, 2, 4])
def test_given_batches_are_compared_exactly(batch_size: int, loss: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identify, "MOST_ROUNDS", 20_000)  # a short search: no known fault explains the other order
    method = fc.FedAvg(stepsize=0.05, epochs=2, batch_size=batch_size)
    report = check(method, **fedavg(), loss=loss)
    assert report.passed, report.report()
    reversed_order = check(method, **fedavg(lambda batches: batches[::-1]), loss=loss)
    assert not reversed_order.passed


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("change", "name"),
    [
        (
            lambda batches: [batch for batch in batches if len(batch) == 2],
            "the last, smaller batch of an epoch is left out",
        ),
        (lambda batches: batches[: len(batches) // 2], "clients take one local step too few"),
        (lambda batches: batches[: len(batches) // 2] * 2, "every epoch has the batches of the first"),
        (lambda batches: batches[:: max(len(batches) // 2, 1)], "only the first batch of every epoch is visited"),
    ],
)
def test_faults_of_given_batches_are_named(change: Callable[[list[Any]], list[Any]], name: str) -> None:
    assert name in any_name(check(METHOD, **fedavg(change)))


@pytest.mark.slow
def test_every_shape_gets_its_batches() -> None:
    def local_update(model: Any, data: Any, global_model: Any, state: Any, local_steps: Any, batches: Any) -> None:
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_sampler=batches)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
        for X, y in loader:
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(model(X), y).backward()
            optimiser.step()

    report = check(METHOD, local_update=local_update)
    assert report.passed, report.report()
    assert "stragglers" in {run.scenario.name for run in report.runs}

    def run(problem: Any, x0: Any, rounds: Any, batches: Any) -> Any:
        play, x = fedavg()["round"], x0
        for active, given in zip(rounds, batches, strict=True):
            x = play(problem, x, active, given)
            yield x

    assert check(METHOD, run=run).passed

    def server(problem: Any, state: Any, replies: Any) -> Any:
        n = np.array([reply.num_samples for reply in replies.values()])
        return n @ np.stack([reply.model for reply in replies.values()]) / n.sum()

    functions = {"init": lambda problem, x0: x0, "server": server, "server_model": lambda w: w}
    assert check(METHOD, **functions).passed


def odd_fedavg(weight_decay: float = 0, momentum: float = 0, weighted: bool = True) -> dict[str, Any]:
    """FedAvg over the given batches with an optimiser that nobody stated."""

    def round(problem: Any, x: Any, active: Any, batches: Any) -> Any:
        ends = []
        for k, own in zip(active, batches, strict=True):
            theta, velocity = x, 0 * x
            for batch in own:
                velocity = momentum * velocity + gradient(problem, k, batch, theta) + weight_decay * theta
                theta = theta - 0.05 * velocity
            ends.append(theta)
        return np.average(ends, axis=0, weights=problem.weights[active] if weighted else None)

    return {"init": lambda problem, x0: x0.copy(), "round": round, "server_model": lambda x: x}


@pytest.mark.sample(1)
@pytest.mark.parametrize("loss", [None, "cross_entropy"])
@pytest.mark.parametrize(
    ("odd", "names"),
    [
        ({"weight_decay": 0.00037}, ["local steps have a weight decay of 0.00037"]),
        ({"momentum": 0.85}, ["local steps have a momentum of 0.85"]),
        ({"momentum": 0.85, "weighted": False}, ["local steps have a momentum of 0.85", "the average is not weighted"]),
    ],
)
def test_numbers_are_fitted_over_mini_batches_too(odd: dict[str, Any], names: list[str], loss: str | None) -> None:
    report = check(METHOD, **odd_fedavg(**odd), loss=loss)
    assert sorted(finding.name for finding in report.diagnosis) == names, report.report()
    assert check(METHOD, **odd_fedavg(), loss=loss).passed


@pytest.mark.slow
def test_one_epoch_of_several_batches_shows_a_momentum() -> None:
    method = fc.FedAvg(stepsize=0.05, epochs=1, batch_size=2)
    report = check(method, **odd_fedavg(momentum=0.85))
    assert [finding.name for finding in report.diagnosis] == ["local steps have a momentum of 0.85"]


def test_the_given_batches_are_epochs_of_all_samples() -> None:
    solver = METHOD.local_solver
    for client, round in [(0, 0), (0, 1), (2, 0)]:
        batches = drawn(solver, Work(client, round, samples=5, amount=2))
        assert [len(batch) for batch in batches] == [2, 2, 1] * 2
        assert sorted(i for batch in batches[:3] for i in batch) == list(range(5))
        assert batches[:3] == drawn(solver, Work(client, round, samples=5, amount=1))
    assert drawn(solver, Work(0, 0, 5, 2)) != drawn(solver, Work(0, 1, 5, 2))
    assert drawn(solver, Work(0, 0, samples=5, amount=0)) == []


def test_chosen_batches_that_are_the_drawn_ones_change_nothing() -> None:
    problem = fc.LeastSquares(A=[np.arange(10.0).reshape(5, 2) / 8, np.ones((3, 2))], b=[np.arange(5.0), np.ones(3)])
    solver = METHOD.local_solver
    rounds = [
        fc.simulate(fc.FedAvg(stepsize=0.05, epochs=2, batch_size=2), problem, rounds=3, local_solver=one).points[-1]
        for one in (solver, ChosenBatches(solver, lambda work: drawn(solver, work)))
    ]
    assert rounds[0] == pytest.approx(rounds[1], rel=1e-14)


@pytest.mark.parametrize(
    ("functions", "options", "argument"),
    [
        ({"client": lambda problem, k, model, state: model}, {}, "batch_size"),
        (fedavg(), {"loss": "half_sum"}, "loss"),
        (fedavg(), {"loss": "sum"}, "loss"),
    ],
)
def test_batches_that_leave_the_answer_open_are_refused(functions: Any, options: Any, argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(METHOD, **functions, **options)
    assert refused.value.argument == argument


def shuffling(fault: str = "", seed: int = 0, epochs: int = 2) -> dict[str, Any]:
    """FedAvg with PyTorch's DataLoader, which shuffles from a generator of its own."""
    generator = torch.Generator().manual_seed(seed)

    def train(problem: Any, k: int, x: Any) -> Any:
        theta, size = torch.tensor(x), 2
        if fault == "with replacement":
            sampler = torch.utils.data.RandomSampler(problem.b[k], replacement=True, generator=generator)
            loader: Any = torch.utils.data.DataLoader(range(len(problem.b[k])), batch_size=size, sampler=sampler)
        else:
            loader = torch.utils.data.DataLoader(
                range(len(problem.b[k])),
                batch_size=size,
                shuffle=fault != "never",
                drop_last=fault == "drop_last" and len(problem.b[k]) > size,
                generator=generator,
            )
        for _ in range(epochs):
            for i, batch in enumerate(loader):
                if not (fault == "first batch" and i > 0):
                    scale = len(batch) / 2 if fault == "summed" else 1
                    theta = theta - 0.05 * scale * torch.tensor(gradient(problem, k, batch.numpy(), theta.numpy()))
        return theta.numpy()

    def round(problem: Any, state: Any, active: Any) -> Any:
        ends = {k: train(problem, k, state[0]) for k in active}
        n = np.ones(len(active)) if fault == "not weighted" else problem.weights[active]
        return n @ np.stack([*ends.values()]) / n.sum(), ends

    return {
        "init": lambda problem, x0: (x0.copy(), {}),
        "round": round,
        "server_model": lambda state: state[0],
    }


@pytest.mark.sample(1)
@pytest.mark.parametrize("loss", [None, "cross_entropy"])
@pytest.mark.parametrize("seed", range(3))
def test_code_that_shuffles_passes_whatever_it_draws(seed: int, loss: str | None) -> None:
    report = check(METHOD, **shuffling(seed=seed), shuffled=True, loss=loss)
    assert report.passed, report.report()
    names = [run.scenario.name for run in report.runs]
    assert names[-2:] == ["shuffled batches of one client", "shuffled batches of two clients"]
    assert max(len(b) for run in report.runs[:-2] for b in run.scenario.problem.b) == 2
    assert "agrees with one of its 9 orders" in report.report()
    assert "agrees with one of its 81 orders" in report.report()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("drop_last", findings.LAST_BATCH),
        ("first batch", findings.LAST_BATCH),  # here the first batch is all but the last, smaller one
        ("with replacement", findings.NO_ORDER),
        ("summed", "the clients' functions are multiplied by half the number of samples"),
        ("not weighted", "the average is not weighted"),
    ],
)
def test_faults_of_shuffled_batches_are_found(fault: str, name: str) -> None:
    report = check(METHOD, **shuffling(fault), shuffled=True)
    assert not report.passed
    assert name in any_name(report), report.report()


@pytest.mark.slow
def test_samples_that_are_never_shuffled_are_a_note_with_its_probability() -> None:
    report = check(METHOD, **shuffling("never"), shuffled=True)
    assert report.passed
    # 2 + 4 rounds of clients, 2 epochs each, all of which leave the third sample for last
    assert f"{findings.NEVER_SHUFFLED} (shuffled code does so with a probability of {3.0**-11:.1g})" in report.notes


@pytest.mark.slow
def test_too_many_orders_are_said() -> None:
    method = fc.FedAvg(stepsize=0.02, epochs=4, batch_size=2)

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        for _ in range(4):
            order = np.random.default_rng(k).permutation(len(problem.b[k]))
            for batch in np.split(order, range(2, len(order), 2)):
                model = model - 0.02 * gradient(problem, k, batch, model)
        return model

    report = check(method, client=client, shuffled=True)
    assert report.passed, report.report()
    assert f"{findings.TOO_MANY_ORDERS} ('shuffled batches of two clients')" in report.notes


@pytest.mark.slow
def test_large_batches_that_are_shuffled() -> None:
    """Deterministic on all small clients; with one sample more than the batch, one of 33 orders."""
    method = fc.FedAvg(stepsize=0.05, epochs=1, batch_size=32)

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        order = np.random.default_rng(len(state)).permutation(len(problem.b[k]))
        for batch in np.split(order, range(32, len(order), 32)):
            model = model - 0.05 * gradient(problem, k, batch, model)
        return model

    report = check(method, client=client, shuffled=True)
    assert report.passed, report.report()
    assert "one of its 33 orders" in report.report()


def test_stating_both_is_refused() -> None:
    with pytest.raises(InvalidInput, match="contradicts"):
        check(METHOD, **fedavg(), shuffled=True)
    with pytest.raises(InvalidInput, match="neither True nor False"):
        check(METHOD, **fedavg(), shuffled="yes")  # type: ignore[arg-type]


DRAWS = np.random.default_rng(3)  # never seeded anew: every call shuffles differently


def shuffled_epoch(problem: Any, k: int, theta: Any, linear: Any = 0) -> tuple[Any, int]:
    """One epoch of steps of 0.05 on batches of two, and their number."""
    order = DRAWS.permutation(len(problem.b[k]))
    batches = np.split(order, range(2, len(order), 2))
    for batch in batches:
        theta = theta - 0.05 * (gradient(problem, k, batch, theta) + linear)
    return theta, len(batches)


@pytest.mark.slow
def test_methods_with_memory_may_shuffle() -> None:
    """SCAFFOLD, option II, over shuffled batches: the memory follows the orders that were found."""

    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        c, own = state["server"]["c"], state.get("c", 0 * model)
        theta, steps = shuffled_epoch(problem, k, model, c - own)
        state["c"] = own - c + (model - theta) / (0.05 * steps)
        return theta

    solver = fc.SGD(epochs=1, batch_size=2, stepsize=0.05)
    report = check(fc.Scaffold(stepsize=0.05), local_solver=solver, client=client, shuffled=True)
    assert report.passed, report.report()


def test_a_whole_run_may_shuffle_anew_in_every_call() -> None:
    """Though the kit runs it again for the models of earlier rounds, where it returns the last one alone."""

    def run(problem: Any, x0: Any, rounds: Any) -> Any:
        for active in rounds:
            n = problem.weights[active]
            x0 = n @ np.stack([shuffled_epoch(problem, k, x0)[0] for k in active]) / n.sum()
        return x0

    report = check(fc.FedAvg(stepsize=0.05, epochs=1, batch_size=2), run=run, shuffled=True)
    assert report.passed, report.report()


@pytest.mark.slow
def test_a_run_may_empty_the_lists_that_it_is_given() -> None:
    def run(problem: Any, x0: Any, rounds: Any, batches: Any) -> Any:
        for active, own in zip(rounds, batches, strict=True):
            n, ends = problem.weights[active], []
            for k, mine in zip(active, own, strict=True):
                theta = x0
                while mine:
                    theta = theta - 0.05 * gradient(problem, k, mine.pop(0), theta)
                ends.append(theta)
            x0 = n @ np.stack(ends) / n.sum()
        return x0

    assert check(METHOD, run=run).passed


@pytest.mark.slow
def test_orders_are_claimed_of_complete_runs_only() -> None:
    def client(problem: Any, k: int, model: Any, state: Any) -> Any:
        if len(problem.b[k]) > 2:
            raise RuntimeError("three samples")
        return shuffled_epoch(problem, k, model)[0]

    report = check(fc.FedAvg(stepsize=0.05, epochs=1, batch_size=2), client=client, shuffled=True)
    assert [finding.name for finding in report.diagnosis] == [findings.RAISES]
    assert "agrees with one of" not in report.report()
