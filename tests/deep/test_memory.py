"""Where memory runs out, less is computed at once, and the run is the same."""

from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, FEATURES, Wrapped, random, samples, vector

import fedconvex as fc
from fedconvex.deep import memory, models, run
from fedconvex.deep.memory import Budget, OutOfMemory
from fedconvex.deep.networks import FunctionalNetwork, LayeredNetwork

CLIENTS = samples()
NETWORK = random(models.fully_connected([FEATURES, 5, CLASSES]))
SGD = fc.SGD(epochs=2, batch_size=4, stepsize=0.05)


def once(model: Any = NETWORK, solver: Any = SGD) -> Any:
    return run(fc.FedDyn(alpha=1), model, CLIENTS, rounds=2, local_solver=solver)


def small_memory(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """At most so many clients fit; returns the numbers that were tried."""
    tried: list[int] = []
    for kind in (LayeredNetwork, FunctionalNetwork):
        original = kind.gradients

        def limited(self: Any, theta: torch.Tensor, batch: Any, original: Any = original) -> torch.Tensor:
            tried.append(len(batch.targets))
            if len(batch.targets) > most:
                raise torch.OutOfMemoryError("no room")
            return original(self, theta, batch)

        monkeypatch.setattr(kind, "gradients", limited)
    monkeypatch.setattr(memory, "NUMBERS", 2000)
    monkeypatch.setattr(Budget.__init__, "__defaults__", (2000,))
    return tried


@pytest.mark.parametrize("model", [NETWORK, Wrapped(NETWORK)], ids=["layered", "functional"])
def test_less_at_once_is_the_same_run(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    same_size = [CLIENTS[0]] * 4
    steps = fc.GradientDescent(steps=3, stepsize=0.1)
    whole = run(fc.FedDyn(alpha=1), model, same_size, rounds=2, local_solver=steps)
    tried = small_memory(monkeypatch, 1)
    found = run(fc.FedDyn(alpha=1), model, same_size, rounds=2, local_solver=steps)
    assert max(tried) == 4
    assert tried[-1] == 1
    np.testing.assert_allclose(vector(found.model), vector(whole.model), rtol=1e-13, atol=1e-15)


def test_one_client_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    small_memory(monkeypatch, 0)
    with pytest.raises(OutOfMemory, match="one client alone"):
        once(solver=fc.GradientDescent(steps=3, stepsize=0.1))


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
    from fedconvex.deep import descend

    usual = once()
    monkeypatch.setattr(descend, "ROWS_AT_ONCE", 1)
    np.testing.assert_array_equal(vector(once().model), vector(usual.model))
