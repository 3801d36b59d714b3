"""Measurements in a run agree with independent computations on small federations."""

from itertools import product
from math import inf
from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import CLASSES, CLIENTS, FEATURES, Plain, Wrapped, random, small, vector
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models
from fedconvex.deep.losses import loss_of
from fedconvex.deep.measuring import curvature as curvature_module
from fedconvex.deep.measuring.columns import heterogeneity
from fedconvex.deep.measuring.curvature import curvature
from fedconvex.deep.measuring.decrease import expected_decrease, outcomes
from fedconvex.deep.problem import NetworkProblem
from fedconvex.deep.tasks import Task, task_of
from fedconvex.errors import InvalidInput
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # trains networks

WEIGHTS = [1, 2, 3, 4]
TANH = small()
MODELS = [nn.Linear(FEATURES, CLASSES), Plain(), TANH, Wrapped(TANH), models.fully_connected([FEATURES, 4, CLASSES])]
SGD = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)


def task(model: nn.Module, clients: Any = CLIENTS, weights: Any = WEIGHTS, ridge: float = 0.1) -> Task:
    return task_of(random(model), clients, loss_of("cross_entropy"), weights, ridge, torch.device("cpu"), torch.float64)


def client_loss(model: nn.Module, k: int, ridge: float = 0.1) -> Any:
    """f_k as a function of the flat parameters, for autograd."""
    shapes = {n: p.shape for n, p in model.named_parameters()}
    X, y = (torch.as_tensor(part) for part in CLIENTS[k])

    def loss(theta: torch.Tensor) -> torch.Tensor:
        parts, begin = {}, 0
        for name, shape in shapes.items():
            parts[name] = theta[begin : begin + shape.numel()].reshape(shape)
            begin += shape.numel()
        outputs = torch.func.functional_call(model, parts, (X,))
        return nn.functional.cross_entropy(outputs, y) + ridge / 2 * theta @ theta

    return loss


def gradients_and_hessians(model: nn.Module) -> tuple[np.ndarray, list[np.ndarray]]:
    theta = torch.as_tensor(vector(model))
    losses = [client_loss(model, k) for k in range(len(CLIENTS))]
    gradients = [torch.autograd.functional.jacobian(loss, theta).numpy() for loss in losses]
    return np.array(gradients), [torch.autograd.functional.hessian(loss, theta).numpy() for loss in losses]


@pytest.mark.sample(1)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("at_once", [1, 10**9])
def test_heterogeneity(model: nn.Module, at_once: int) -> None:
    found_in = task(model)
    if isinstance(found_in.problem, NetworkProblem):
        found_in.problem.budget.numbers = at_once
    clients = found_in.problem.clients(found_in.arithmetic)
    found = heterogeneity(clients, found_in.problem.weights, found_in.start())
    gradients, _ = gradients_and_hessians(random(model))
    w = np.array(WEIGHTS) / 10
    mean, second = w @ gradients, w @ (gradients**2).sum(1)
    assert found.gradient_norm == pytest.approx(np.linalg.norm(mean), rel=1e-12)
    assert found.variance == pytest.approx(w @ ((gradients - mean) ** 2).sum(1), rel=1e-12)
    assert found.dissimilarity == pytest.approx(np.sqrt(second) / np.linalg.norm(mean), rel=1e-12)
    assert found.dissimilarity > 1.01


def test_heterogeneity_of_nearly_equal_clients_keeps_its_digits() -> None:
    X, y = CLIENTS[3]
    moved = X.copy()
    moved[0, 0] += 1e-9
    found_in = task(TANH, [(X, y), (moved, y)], None)
    found = heterogeneity(found_in.problem.clients(found_in.arithmetic), found_in.problem.weights, found_in.start())
    assert 1e-25 < found.variance < 1e-18
    assert found.dissimilarity == pytest.approx(1)


def test_where_the_gradient_is_zero() -> None:
    opposite = fc.Quadratic([[[1]], [[1]]], [[1], [-1]]).clients("float")
    assert heterogeneity(opposite, np.array([0.5, 0.5]), np.zeros(1)).dissimilarity == inf
    same = fc.Quadratic([[[1]], [[1]]], [[1], [1]]).clients("float")
    assert heterogeneity(same, np.array([0.5, 0.5]), np.ones(1)).dissimilarity == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("at_once", [1, 10**9])
def test_curvature(model: nn.Module, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curvature_module, "NUMBERS_AT_ONCE", at_once)
    found_in = task(model)
    clients = found_in.problem.clients(found_in.arithmetic)
    spectra = np.array([np.linalg.eigvalsh(H) for H in gradients_and_hessians(random(model))[1]])
    found = curvature(clients, found_in.start(), steps=clients.dim)
    np.testing.assert_allclose(found.lowest, spectra[:, 0], atol=1e-7)
    np.testing.assert_allclose(found.highest, spectra[:, -1], rtol=1e-9)
    assert found.smoothness == pytest.approx(abs(spectra).max(), rel=1e-9)
    assert found.weak_convexity == pytest.approx(max(0, -spectra.min()), abs=1e-7)
    few = curvature(clients, found_in.start(), steps=3)
    for numbers, errors in ((few.lowest, few.lowest_error), (few.highest, few.highest_error)):
        nearest = abs(spectra - numbers[:, None]).min(1)
        assert (nearest <= errors + 1e-12).all()
    assert (few.highest <= spectra[:, -1] + 1e-12).all()
    assert (few.lowest >= spectra[:, 0] - 1e-12).all()
    assert few.highest_error.max() > 1e-6
    assert (abs(few.highest - spectra[:, -1]) > 1e-9).any()


def test_curvature_of_every_client_at_a_point_of_its_own() -> None:
    found_in = task(TANH)
    clients = found_in.problem.clients(found_in.arithmetic)
    points = torch.stack([found_in.start() + 0.1 * k for k in range(len(CLIENTS))])
    found = curvature(clients, points, steps=clients.dim)
    for k, point in enumerate(points):
        hessian = torch.autograd.functional.hessian(client_loss(random(TANH), k), point).numpy()
        spectrum = np.linalg.eigvalsh(hessian)
        assert (found.lowest[k], found.highest[k]) == pytest.approx((spectrum[0], spectrum[-1]), abs=1e-7)
    assert abs(curvature(clients, points[0], steps=clients.dim).highest - found.highest)[1:].min() > 1e-3


def test_curvatures_of_few_different_values_end_early() -> None:
    """2I and −I: one step and nothing is left; no zero eigenvalue may appear."""
    problem = fc.Quadratic([2 * np.eye(5), -np.eye(5), np.diag([1.0, 1, 1, 3, 3])], np.ones((3, 5)))
    found = curvature(problem.clients("float"), np.zeros(5), steps=5)
    np.testing.assert_allclose(found.lowest, [2, -1, 1], rtol=1e-12)
    np.testing.assert_allclose(found.highest, [2, -1, 3], rtol=1e-12)
    assert found.smoothness == pytest.approx(3)
    assert found.weak_convexity == pytest.approx(1)
    assert max(found.lowest_error.max(), found.highest_error.max()) < 1e-10


# ---- the expected decrease ----

SCHEMES = [
    participation.Uniform(2),
    participation.UniformThenWeighted(3),
    participation.Weighted(2),
    participation.Full(),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_outcomes_are_what_the_scheme_draws(scheme: Any) -> None:
    problem = task(TANH).problem
    found = outcomes(scheme, problem, 0, 1000)
    assert found is not None
    assert sum(chance for _, chance in found) == pytest.approx(1)
    seen: dict[Any, float] = {}
    for draw, chance in found:
        seen[key(draw)] = chance
    assert len(seen) == len(found)
    counts: dict[Any, int] = {}
    for t in range(3000):
        drawn = key(scheme.draw(problem, 0, t))
        counts[drawn] = counts.get(drawn, 0) + 1
    assert counts.keys() <= seen.keys()
    for drawn, chance in seen.items():
        assert abs(counts.get(drawn, 0) / 3000 - chance) < 5 * (chance / 3000) ** 0.5 + 1e-9
    assert outcomes(participation.Bernoulli(0.5), problem, 0, 1000) is None
    assert len(found) == 1 or outcomes(scheme, problem, 0, len(found) - 1) is None


def key(draw: Any) -> Any:
    return (
        None if draw.members is None else tuple(map(int, draw.members)),
        None if draw.shares is None else tuple(map(int, draw.shares)),
    )


@pytest.mark.parametrize("model", [MODELS[0], TANH], ids=["linear", "tanh"])
def test_expected_decrease_over_all_tuples(model: nn.Module) -> None:
    """K = 2 independent draws: every pair of answers, averaged, by hand."""
    here = task(model)
    rounds = rounds_of(fc.FedProx(mu=1), here.problem, here.arithmetic, SGD)
    state = rounds.start(here.start())
    found = expected_decrease(rounds, participation.Weighted(2), state, 4, seed=3, most=100)
    assert (found.draws, found.error) == (10, 0)
    points = []
    for k in range(len(CLIENTS)):
        alone = rounds.play(state, participation.Draw(np.array([k]), np.array([1]), round=4, seed=3))
        points.append(alone.state.server)
    w, expected = np.array(WEIGHTS) / 10, 0.0
    for i, j in product(range(len(CLIENTS)), repeat=2):
        expected += w[i] * w[j] * float(rounds.objective((points[i] + points[j]) / 2))
    assert found.mean == pytest.approx(float(rounds.objective(state.server)) - expected, rel=1e-10)


def test_expected_decrease_by_sampling() -> None:
    here = task(TANH)
    rounds = rounds_of(fc.FedProx(mu=1), here.problem, here.arithmetic, SGD)
    state = rounds.start(here.start())
    exact = expected_decrease(rounds, participation.Weighted(2), state, 0, seed=3, most=10)
    drawn = expected_decrease(rounds, participation.Weighted(2), state, 0, seed=3, most=9)
    assert exact.error == 0 < drawn.error
    assert drawn.draws == 9
    assert abs(drawn.mean - exact.mean) < 5 * drawn.error
    assert drawn.mean != exact.mean


def test_a_schedule_draws_what_is_written() -> None:
    """Nothing is left to chance, and after its end there is no round."""
    here, schedule = task(TANH), participation.Schedule([[0, 1], [2]])
    rounds = rounds_of(fc.FedProx(mu=1), here.problem, here.arithmetic, SGD)
    state = rounds.start(here.start())
    for t in range(2):
        found = expected_decrease(rounds, schedule, state, t, seed=3)
        after = rounds.play(state, schedule.draw(here.problem, 3, t))
        fell = float(rounds.objective(state.server)) - float(rounds.objective(after.state.server))
        assert found.mean == pytest.approx(fell, rel=1e-12)
        assert (found.draws, found.error) == (1, 0)
    assert np.isnan(expected_decrease(rounds, schedule, state, 2, seed=3).mean)


def test_methods_with_memory_have_no_expected_decrease() -> None:
    from fedconvex.deep.measuring.decrease import require_memoryless

    here = task(TANH)
    with pytest.raises(InvalidInput, match="not FedDyn"):
        require_memoryless(rounds_of(fc.FedDyn(alpha=1), here.problem, here.arithmetic, SGD))
    require_memoryless(rounds_of(fc.FedAvg(epochs=1, stepsize=1), here.problem, here.arithmetic))
