"""Runs on a GPU: equal to those on the CPU up to rounding in float64, and computed on the GPU throughout."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, NETWORK, SGD, Plain, Wrapped, random, vector
from gpu_runs import (
    CLIPPED,
    GD,
    MARKS,
    MOMENTUM,
    STANDS_IN,
    Recurrent,
    on_the_device,
    require_alike,
    require_the_same_run,
)
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, run
from fedconvex.theory import fedprox

pytestmark = MARKS
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
# There each model meets each solver, and all methods take turns: what a method computes, it computes for every model.
FEWER = [
    f"{type(METHODS[i % len(METHODS)]).__name__}-{model}-{solver}"
    for i, (model, solver) in enumerate(product(MODELS, SOLVERS))
]


@on_the_device
@pytest.mark.parametrize("case", [*FEWER, EVERYTHING] if STANDS_IN else CASES)
def test_as_on_the_cpu(device: str, case: str) -> None:
    little = STANDS_IN and case != EVERYTHING
    require_the_same_run(device, *CASES[case], ("heterogeneity", "inexactness", "drift") if little else "all")


@on_the_device
@pytest.mark.parametrize(
    "solver", [fc.Exact(), fc.Newton(), fc.ToInexactness(0.1), fc.AcceleratedGradient(tolerance=1e-3)], ids=str
)
def test_solvers_of_convex_problems(device: str, solver: Any) -> None:
    require_the_same_run(device, fc.FedProx(mu=1), MODELS["linear"], solver, "all")


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
        assert statement.claim is not None
        claim = replace(statement.claim, within=None)  # numbers of a run outside of its setting, too
        given = {name: 1 for name in ("L", "L_minus") if name in claim.parameters}  # measuring curvatures is slow here
        one, other = claim.on(here, **given), claim.on(there, **given)
        np.testing.assert_allclose(other.left, one.left, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.right, one.right, rtol=1e-6, atol=1e-12)
        assert (other.holds, other.round, other.client) == (one.holds, one.round, one.client)


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (models.two_layer_cnn(3, 1, 16, (2, 3), (5, 4)), torch.randn(12, 1, 16, 16, dtype=torch.float64)),
        (models.resnet18(3, 1, 4, 2), torch.randn(12, 1, 8, 8, dtype=torch.float64)),
        *([] if STANDS_IN else [(models.character_lstm(11, 3, 4, 2), torch.randint(0, 11, (12, 6)))]),
    ],
)
@on_the_device
def test_the_papers_models(device: str, model: nn.Module, inputs: torch.Tensor) -> None:
    clients = [(inputs[:5], torch.arange(5) % 3), (inputs[5:], torch.arange(7) % 3)]
    options = {"rounds": 2, "local_solver": SGD}
    here = run(fc.FedDyn(alpha=1), random(model), clients, **options)
    there = run(fc.FedDyn(alpha=1), random(model), clients, device=device, **options)
    np.testing.assert_allclose(vector(there.model.cpu()), vector(here.model), rtol=1e-8, atol=1e-10)


@on_the_device
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
    require_alike(here, there)


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
