"""Proximal, dual and control terms are differences: what no client's data touch stays where it is, with Adam, too.

Adam divides by the size of a gradient, so that a rounding error in place of 0 moves a parameter by the stepsize.
"""

from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, Made, Wrapped, random, samples, small, vector
from slow_layer import meeting
from torch import nn
from torch.func import functional_call

import fedconvex as fc
from fedconvex.deep import run

pytestmark = pytest.mark.beyond_core  # trains networks

WORDS, SEEN = 30, 10  # the words SEEN, … occur in no client's samples
CLIENTS = [
    (rng.integers(0, SEEN, (n, 5)), rng.integers(0, CLASSES, n))
    for rng in [np.random.default_rng(0)]
    for n in (7, 12, 9)
]
SAMPLES = samples(1, (7, 12, 9))
METHODS: dict[str, Any] = {
    "FedAvg": fc.FedAvg(epochs=2, batch_size=4, stepsize=0.01),
    "FedProx": fc.FedProx(mu=0.7),
    "FedDyn": fc.FedDyn(alpha=0.6),
    "FedADMM": fc.FedADMM(rho=0.7),
    "FedPD": fc.FedPD(eta=1.3),
    "DANE": fc.DANE(mu=0.7),
    "FedDANE": fc.FedDANE(mu=0.7),
    "FedLin": fc.FedLin(stepsize=0.01, local_steps=4),
    "SCAFFOLD": fc.Scaffold(stepsize=0.01, local_steps=4, option=1),
    "SCAFFOLD, option 2": fc.Scaffold(stepsize=0.01, local_steps=4),
    "FedNova": fc.FedNova(stepsize=0.01),
    "Ditto": fc.Ditto(regularization=0.7, stepsize=0.01, local_steps=4),
    "pFedMe": fc.PFedMe(regularization=2, stepsize=0.05, local_steps=2),
    "FedAdam": fc.FedAdam(stepsize=0.01),
    "FedAvgM": fc.FedAvgM(stepsize=0.01),
    "FedSplit": fc.FedSplit(stepsize=0.1),
}
SOLVERS: dict[str, Any] = {
    "Adam": fc.Adam(epochs=2, batch_size=4, stepsize=0.01),
    "AdamW": fc.Adam(epochs=2, batch_size=4, stepsize=0.01, decoupled=True),
    "SGD": fc.SGD(epochs=2, batch_size=4, stepsize=0.03),
    "momentum": fc.SGD(epochs=2, batch_size=4, stepsize=0.03, momentum=0.9),
    "clipped": fc.SGD(epochs=2, batch_size=4, stepsize=0.03, clip=0.5),
}


def words(self: Any, x: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = self.last(self.words(x).mean(1))
    return result


TAKES_NO_ADAM = ("SCAFFOLD, option 2", "FedNova")
# Its client starts at its own model and is pulled to the average of all, which rounds where all are equal.
ROUNDS = ("FedPD",)
CASES = [
    (name, solver, *rest)
    for name, solver, *rest in meeting(list(METHODS), list(SOLVERS), ["float64", "float32"], ["evaluation", "training"])
    if not (solver.startswith("Adam") and name in TAKES_NO_ADAM + ROUNDS)
]


def model() -> nn.Module:
    return random(Made(words, words=nn.Embedding(WORDS, 4), last=nn.Linear(4, CLASSES)))


@pytest.mark.sample(15)
@pytest.mark.parametrize(("name", "solver", "dtype", "mode"), CASES)
def test_rows_that_nobody_sees_stay(name: str, solver: str, dtype: str, mode: str) -> None:
    given = model()
    options: dict[str, Any] = {"local_solver": SOLVERS[solver], "dtype": dtype, "local_mode": mode}
    if METHODS[name].personal is not None:
        options.pop("local_mode")  # has no steps in training mode
    found = run(METHODS[name], given, CLIENTS, rounds=4, **options)
    moved = vectors(found.model) - vectors(given).to(vectors(found.model))
    assert moved[:SEEN].abs().max() > 1e-3
    # the server averages equal numbers, which rounds; each round once
    assert moved[SEEN:].abs().max() < 8 * torch.finfo(moved.dtype).eps


def vectors(found: Any) -> torch.Tensor:
    weight: torch.Tensor = found.words.weight.detach()
    return weight


@pytest.mark.parametrize("shrink", [{"ridge": 0.2}, {"weight_decay": 0.2}, {"ridge": 0.5, "stepsize": 2.0}])
@pytest.mark.parametrize("weights", [None, (0.2, 0.5, 0.3)])
@pytest.mark.parametrize("layered", [False, True])
def test_terms_towards_the_center_and_towards_0_add_up(shrink: dict[str, float], weights: Any, layered: bool) -> None:
    """θ − s·(g + μ(θ − w) + (ridge + decay)·θ) by autograd, for FedDyn's scaled clients; also where s·ridge = 1."""
    ridge, decay, stepsize = (shrink.get(n, d) for n, d in (("ridge", 0.0), ("weight_decay", 0.0), ("stepsize", 0.1)))
    net = small() if layered else Wrapped(small())
    found = run(
        fc.FedDyn(alpha=0.3), random(net), SAMPLES, rounds=1, ridge=ridge, weights=weights,
        local_solver=fc.SGD(steps=3, batch_size=None, stepsize=stepsize, weight_decay=decay),
    )  # fmt: skip
    answers = []
    start = [p.detach() for p in random(net).parameters()]
    for k, (X, y) in enumerate(SAMPLES):
        scale = 1.0 if weights is None else 3 * weights[k]
        theta = [p.clone().requires_grad_() for p in start]
        for _ in range(3):
            outputs = functional_call(
                net, dict(zip(dict(net.named_parameters()), theta, strict=True)), torch.as_tensor(X)
            )
            loss = scale * nn.functional.cross_entropy(outputs, torch.as_tensor(y))
            for p, c in zip(theta, start, strict=True):
                loss = (
                    loss + scale * ridge / 2 * (p * p).sum() + decay / 2 * (p * p).sum() + 0.15 * (p - c).square().sum()
                )
            slopes = torch.autograd.grad(loss, theta)
            theta = [(p - stepsize * g).detach().requires_grad_() for p, g in zip(theta, slopes, strict=True)]
        answers.append(torch.cat([p.detach().reshape(-1) for p in theta]))
    flat, mean = torch.cat([p.reshape(-1) for p in start]), torch.stack(answers).mean(0)
    np.testing.assert_allclose(vector(found.model), (mean + (mean - flat)).numpy(), rtol=0, atol=1e-12)
