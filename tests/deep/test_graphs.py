"""Graphs of steps never change a result: a recorder stands in for CUDA's, right, wrong, or failing."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import NETWORK, Wrapped, samples, vector

import fedconvex as fc
from fedconvex.deep import graphs, run
from fedconvex.deep.networks import Batch

pytestmark = pytest.mark.beyond_core  # trains networks

CLIENTS = samples(sizes=(21, 22, 50, 50))  # batches of other sizes end the epochs, and clients stop at other steps
Calls = Callable[[], None]
OTHER_NUMBERS = "its replay gives other numbers"


class Recorder:
    """Records calls and repeats them, as a graph does; counts both."""

    def __init__(self, spoiled: Callable[[Calls], Calls] = lambda calls: calls) -> None:
        self.recorded = self.replayed = 0
        self.spoiled = spoiled

    def __call__(self, calls: Calls) -> Calls:
        self.recorded += 1
        repeat = self.spoiled(calls)

        def replay() -> None:
            self.replayed += 1
            repeat()

        return replay


def fails(calls: Calls) -> Calls:
    raise RuntimeError("operation not permitted when stream is capturing\nmore lines")


def half_of(calls: Calls) -> Calls:
    return lambda: None


def twice(calls: Calls) -> Calls:
    return lambda: (calls(), calls())[0]


def go(solver: Any, model: Any = NETWORK) -> Any:
    options: dict[str, Any] = {"rounds": 2, "local_solver": solver, "participation": fc.participation.Uniform(3)}
    return run(fc.FedProx(mu=1), model, CLIENTS, **options)


@pytest.fixture(params=[0.0, 0.9], ids=["plain", "momentum"])
def solver(request: pytest.FixtureRequest) -> Iterator[Any]:
    return fc.SGD(epochs=5, batch_size=4, stepsize=0.05, momentum=request.param)


def test_the_graph_takes_the_same_steps(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, recorder = go(solver), Recorder()
    monkeypatch.setattr(graphs, "recorder_for", lambda device: recorder)
    found = go(solver)
    assert recorder.recorded > 1
    assert recorder.replayed > 5 * recorder.recorded
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))


@pytest.mark.parametrize(
    ("spoiled", "told"),
    [(half_of, OTHER_NUMBERS), (twice, OTHER_NUMBERS), (fails, "operation not permitted when stream is capturing$")],
)
def test_a_graph_that_computes_something_else_or_cannot_be_recorded_is_not_used(
    solver: Any, spoiled: Any, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, recorder = go(solver), Recorder(spoiled)
    monkeypatch.setattr(graphs, "recorder_for", lambda device: recorder)
    with pytest.warns(RuntimeWarning, match=f"without a CUDA graph: {told}"):
        found = go(solver)
    # one replay each: that which was compared
    assert recorder.replayed == (0 if spoiled is fails else recorder.recorded)
    np.testing.assert_array_equal(vector(found.model), vector(expected.model))


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_numbers_that_are_none_are_the_same_in_a_graph(number: float) -> None:
    """NaN is not equal to NaN, but a graph that leads to it, too, changes nothing."""
    numbers, recorder = torch.ones(3), Recorder()

    def taken(batch: Batch) -> None:
        numbers.mul_(number)

    step = graphs.GraphedStep(taken, [numbers], recorder)
    batch = Batch(*torch.ones(3, 1, 1))
    for _ in range(4):
        step(batch)
    assert (recorder.recorded, recorder.replayed) == (1, 3)


def test_where_none_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, for few steps, and for networks whose steps allocate memory."""
    assert graphs.recorder_for(torch.device("cpu")) is None
    recorder = Recorder()
    monkeypatch.setattr(graphs, "recorder_for", lambda device: recorder)
    go(fc.SGD(steps=graphs.FEWEST - 1, batch_size=4, stepsize=0.05))
    go(fc.SGD(epochs=5, batch_size=4, stepsize=0.05), Wrapped(NETWORK))
    go(fc.SGD(epochs=5, batch_size=4, stepsize=0.05, clip=0.3))
    assert recorder.recorded == 0
    go(fc.SGD(steps=graphs.FEWEST, batch_size=4, stepsize=0.05))
    assert recorder.recorded > 0
