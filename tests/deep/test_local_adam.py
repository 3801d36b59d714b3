"""Adam and AdamW as local solvers, and stepsizes that change within a round: against torch.optim in a plain loop."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, batches_of, continued, mixed, random, vector
from slow_layer import meeting
from torch import nn
from torch.nn import functional as F

import fedconvex as fc
from fedconvex.deep import run
from fedconvex.deep.training_mode import step_seeds
from fedconvex.errors import InvalidInput
from fedconvex.participation import Stragglers, Uniform

pytestmark = pytest.mark.beyond_core  # trains networks

ADAM = fc.Adam(epochs=2, batch_size=5, stepsize=0.03)


def network(dropout: float = 0.0) -> nn.Module:
    return random(nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Dropout(dropout), nn.Linear(5, CLASSES)))


def by_torch(model: nn.Module, solver: Any, rounds: int, mu: float = 0.0, training: bool = False) -> nn.Module:
    """FedProx with torch's own optimisers and schedulers, client after client."""
    scheme = Uniform(3)
    for t in range(rounds):
        models = []
        for k in scheme.draw(fc.LeastSquares([np.eye(1)] * 4, [np.ones(1)] * 4), 0, t).members:
            local = deepcopy(model).train(training)
            X, y = (torch.as_tensor(part) for part in CLIENTS[k])
            kind: Any = torch.optim.AdamW if getattr(solver, "decoupled", False) else torch.optim.Adam
            if isinstance(solver, fc.SGD):
                options = {"momentum": float(solver.momentum)}
                kind = torch.optim.SGD
            else:
                options = {"betas": tuple(map(float, solver.betas)), "eps": solver.epsilon}
            stepsize = solver.stepsize if isinstance(solver.stepsize, float) else float(solver.stepsize.at(t))
            optimizer = kind(local.parameters(), stepsize, weight_decay=float(solver.weight_decay), **options)
            rule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 1 if solver.within_round is None else 0.9**i)
            for step, rows in enumerate(batches_of(CLIENTS, k, solver, 0, t, solver.epochs)):
                optimizer.zero_grad()
                torch.manual_seed(step_seeds(0, t, k, step)[0])
                loss = F.cross_entropy(local(X[rows]), y[rows])
                for one, other in zip(local.parameters(), model.parameters(), strict=True):
                    loss = loss + mu / 2 * ((one - other.detach()) ** 2).sum()
                loss.backward()
                if solver.clip is not None:
                    nn.utils.clip_grad_norm_(local.parameters(), solver.clip)
                optimizer.step()
                rule.step()
            models.append(local)
        model = mixed(models, [1.0] * len(models))
    return model


CASES = {
    "Adam": ADAM,
    "AdamW": fc.Adam(epochs=2, batch_size=5, stepsize=0.03, weight_decay=0.3, decoupled=True, betas=(0.8, 0.9)),
    "weight decay": fc.Adam(epochs=2, batch_size=5, stepsize=0.03, weight_decay=0.3, epsilon=1e-3),
    "no memory": fc.Adam(epochs=1, batch_size=5, stepsize=0.03, betas=(0, 0)),
    "schedules": fc.Adam(epochs=2, batch_size=5, stepsize="0.03/(1 + t)", within_round="0.9**t"),
    "SGD within a round": fc.SGD(epochs=2, batch_size=5, stepsize=0.1, momentum=0.5, within_round="0.9**t"),
    "a function": fc.SGD(epochs=2, batch_size=5, stepsize=0.1, within_round=lambda t: 0.9**t, weight_decay=0.1),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize(("mu", "training", "name"), meeting([0.7, 0.0], [False, True], list(CASES)))
def test_it_agrees_with_torchs_optimisers(name: str, training: bool, mu: float) -> None:
    solver, model = CASES[name], network(0.3 * training)
    options: dict[str, Any] = {"local_mode": "training"} if training else {}
    before = torch.get_rng_state()
    found = run(fc.FedProx(mu=mu), model, CLIENTS, rounds=3, local_solver=solver, participation=Uniform(3), **options)
    expected = by_torch(model, solver, 3, mu, training)
    torch.set_rng_state(before)
    np.testing.assert_allclose(vector(found.model), vector(expected), rtol=0, atol=1e-12)
    assert abs(vector(found.model) - vector(model)).max() > 0.01


@pytest.mark.parametrize(
    "other",
    [{"betas": (0.9, 0.99)}, {"epsilon": 1e-3}, {"weight_decay": 0.1}, {"within_round": "0.99**t"}, {"clip": 0.01}],
)
def test_every_parameter_counts(other: dict[str, Any]) -> None:
    """The comparison above would notice a parameter that does nothing."""
    ours, theirs = (
        run(fc.FedProx(mu=0), network(), CLIENTS, rounds=1, local_solver=fc.Adam(epochs=2, stepsize=0.03, **given))
        for given in ({}, other)
    )
    assert abs(vector(ours.model) - vector(theirs.model)).max() > 1e-5


def test_clipping_agrees_with_torch() -> None:
    solver = fc.Adam(epochs=2, batch_size=5, stepsize=0.03, clip=0.2, epsilon=0.1)
    found = run(fc.FedProx(mu=0), network(), CLIENTS, rounds=2, local_solver=solver, participation=Uniform(3))
    # torch adds 1e-6 to the norm that it divides by
    np.testing.assert_allclose(vector(found.model), vector(by_torch(network(), solver, 2)), rtol=0, atol=1e-6)


def test_a_linear_model_is_trained_by_the_core_as_torch_trains_it() -> None:
    for solver in (CASES["AdamW"], CASES["SGD within a round"]):
        model = random(nn.Linear(FEATURES, CLASSES))
        found = run(fc.FedProx(mu=0.7), model, CLIENTS, rounds=2, local_solver=solver, participation=Uniform(3))
        assert type(found.task).__name__ == "LinearTask"
        expected = by_torch(model, solver, 2, 0.7)
        np.testing.assert_allclose(vector(found.model), vector(expected), rtol=0, atol=1e-12)


@pytest.mark.parametrize("training", [False, True])
def test_a_run_is_continued_bit_for_bit(training: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "local_solver": CASES["schedules"], "participation": Uniform(2), "measure": "drift",
        "stragglers": Stragglers(0.5), "local_mode": "training" if training else "evaluation",
    }  # fmt: skip
    model, file = network(0.3 * training), tmp_path / "run.safetensors"
    continued(file, fc.FedProx(mu=1), model, CLIENTS, 2, rounds=4, **options)
    with pytest.raises(InvalidInput, match="another local_solver"):
        run(fc.FedProx(mu=1), model, CLIENTS, rounds=4, checkpoint=file, **(options | {"local_solver": CASES["AdamW"]}))


def test_methods_that_divide_by_path_lengths_refuse_it() -> None:
    for method in (fc.Scaffold(stepsize=0.1, local_steps=2), fc.FedNova(stepsize=0.1)):
        with pytest.raises(InvalidInput, match="step"):
            run(method, network(), CLIENTS, rounds=1, local_solver=ADAM)
