"""Many parameters at once against runs of each alone, and the search on top of them against dense grids."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from designed_problems import UNEQUAL as PROBLEM
from designed_problems import measured, modelled

import fedconvex as fc
from fedconvex import arithmetic as arithmetics
from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import RoundMap
from fedconvex.audit.designs.spectral_clients import SpectralClients
from fedconvex.audit.designs.trials import FederationLimits, ParallelTrials, Trials

STEPS = [fc.GradientDescent(steps=steps, stepsize=0.03) for steps in (1, 3, 11)]
COLUMNS: dict[str, tuple[Sequence[Any], Sequence[Any] | None]] = {
    "FedSplit": ([fc.FedSplit(stepsize=s) for s in (0.05, 0.2, 1.0)], None),
    "FedDyn": ([fc.FedDyn(alpha=alpha) for alpha in (1.0, 4.0, 20.0)], None),
    "SCAFFOLD": ([fc.Scaffold(stepsize=s, local_steps=e) for s, e in ((0.05, 1), (0.02, 4), (0.003, 30))], None),
    "FedDyn with gradient steps": ([fc.FedDyn(alpha=4)] * 3, STEPS),
    "FedSplit from the server": ([fc.FedSplit(stepsize=s, start="server") for s in (0.1, 0.2, 0.4)], STEPS),
}


@pytest.fixture(scope="module")
def model() -> QuadraticModel:
    return modelled(PROBLEM)[1]


def trials_of(model: QuadraticModel, methods: Sequence[Any], solvers: Sequence[Any] | None = None) -> ParallelTrials:
    """Each method with its own solver, unless others are given."""
    return ParallelTrials(model, methods, solvers or [method.local_solver for method in methods])


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_reaches_the_target_in_the_round_of_its_own_run(model: QuadraticModel, name: str) -> None:
    methods, solvers = COLUMNS[name]
    target = 1e-4 * model.first_gap
    reached = trials_of(model, methods, solvers).reached(target, 600, every=True)
    for method, solver, found in zip(methods, solvers or [None] * len(methods), reached, strict=True):
        first = measured(method, PROBLEM, 1e-4, 600, local_solver=solver)
        assert first - 1 <= found.rounds <= first + 1e-9


def test_columns_with_drawn_clients_are_the_runs_with_the_same_draws(model: QuadraticModel) -> None:
    methods, scheme, target = COLUMNS["FedDyn"][0], fc.participation.Uniform(2), 1e-2 * model.first_gap
    reached = trials_of(model, methods).reached(target, 600, scheme, 5, every=True)
    for method, found in zip(methods, reached, strict=True):
        first = measured(method, PROBLEM, 1e-2, 600, participation=scheme, seed=5)
        assert first - 1 <= found.rounds <= first + 1e-9


def test_a_column_that_diverges_does_not_disturb_the_others(model: QuadraticModel) -> None:
    methods = [fc.Scaffold(stepsize=s, local_steps=2) for s in (0.02, 5.0)]
    target = 1e-4 * model.first_gap
    found = trials_of(model, methods).reached(target, 600, every=True)
    assert found[0].rounds == pytest.approx(RoundMap(model, methods[0]).reached(target).rounds, rel=1e-9)
    assert (found[1].rounds, found[1].gap) == (np.inf, np.inf)


def test_only_the_first_round_with_a_hit_is_played(model: QuadraticModel) -> None:
    methods = COLUMNS["FedSplit"][0]
    trials = trials_of(model, methods)
    target = 1e-4 * model.first_gap
    every = [one.rounds for one in trials.reached(target, 600, every=True)]
    first = [one.rounds for one in trials.reached(target, 600)]
    assert min(first) == min(every)
    assert [rounds for rounds in first if np.isfinite(rounds)] == [
        r for r in every if np.ceil(r) == np.ceil(min(every))
    ]


@pytest.mark.parametrize(("early", "stepped"), [(3, 3000), (2, 4)])
def test_late_rounds_are_those_of_early_ones(
    model: QuadraticModel, monkeypatch: pytest.MonkeyPatch, early: int, stepped: int
) -> None:
    candidates = [(fc.FedSplit(stepsize=s), None) for s in (0.05, 0.2, 1.0)]
    trials = Trials(model, 1e-6, FederationLimits())
    every = [one.rounds for one in trials.every(candidates)]
    monkeypatch.setattr("fedconvex.audit.designs.trials.SINGLE", early)
    monkeypatch.setattr("fedconvex.audit.designs.trials.STEPPED", stepped)
    assert [one.rounds for one in trials.every(candidates)] == pytest.approx(every, rel=1e-9)
    assert min(one.rounds for one in trials.first(candidates, np.inf)) == pytest.approx(min(every), rel=1e-9)


@pytest.mark.parametrize("name", ["feddyn", "fedsplit", "scaffold"])
def test_no_parameter_of_a_dense_grid_reaches_the_target_sooner(name: str) -> None:
    _, model = modelled(fc.data.conditioned_least_squares(300, clients=4, features=5, seed=2))
    own: Any = getattr(MethodDesigner(model, 1e-6), name)()
    grids: dict[str, list[Any]] = {
        "feddyn": [fc.FedDyn(alpha=float(a)) for a in np.geomspace(0.01, 100, 300) * model.curvatures[0]],
        "fedsplit": [fc.FedSplit(stepsize=float(s)) for s in np.geomspace(0.01, 100, 300) / model.curvatures[1]],
        "scaffold": [
            fc.Scaffold(stepsize=float(s), local_steps=e)
            for e in (1, 2, 5, 10, 20, 50, 100)
            for s in np.geomspace(0.01, 2, 50) / model.curvatures[1]
        ],
    }
    best = min(one.rounds for one in trials_of(model, grids[name]).reached(1e-6 * model.first_gap, 1000))
    assert own.reached.rounds <= 1.02 * best + 0.1


@pytest.mark.parametrize("equal", [0, 1, 2, 4])
def test_equal_eigenvalues_are_skipped(equal: int) -> None:
    """Functions of Hessians with some equal least eigenvalues, against those of the matrices."""
    rng = np.random.default_rng(equal)
    vectors = np.stack([np.linalg.qr(rng.standard_normal((5, 5)))[0] for _ in range(2)])
    eigenvalues = np.sort(rng.uniform(0.5, 2, (2, 5)), axis=1)
    eigenvalues[:, : max(equal, 1)] = 0.3 * (1 + 1e-16)
    eigenvalues[1, 0:equal] += 1e-15  # rounding
    eigenvalues[1] = np.sort(eigenvalues[1])
    clients = SpectralClients(arithmetics.get("float"), eigenvalues, vectors, np.zeros((2, 5)), np.ones(3))
    assert clients._equal == max(equal, 1) - 1
    X = rng.standard_normal((2, 15))
    factors = 1 / (eigenvalues[:, :, None] + np.array([0.1, 1, 10]))
    found = clients.times(factors, X).reshape(2, 5, 3)
    for k in range(2):
        H = vectors[k] * eigenvalues[k] @ vectors[k].T
        for b, weight in enumerate((0.1, 1, 10)):
            expected = np.linalg.solve(H + weight * np.eye(5), X[k].reshape(5, 3)[:, b])
            assert abs(found[k][:, b] - expected).max() < 1e-13
            assert abs(found[k][:, b] - 1.01 * expected).max() > 1e-6
