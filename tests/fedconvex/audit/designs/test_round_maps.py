"""The map of one round on the model against runs, which share only the methods' own lines with it."""

import numpy as np
import pytest
from designed_problems import UNEQUAL as PROBLEM
from designed_problems import measured, modelled

import fedconvex as fc
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import RoundMap
from fedconvex.audit.designs.trials import FederationLimits, Trials
from fedconvex.methods import Method

METHODS = (
    fc.FedGD(stepsize=0.02), fc.FedGD(stepsize=0.02, local_steps=5), fc.FedGD(stepsize=0.01, local_steps=37),
    fc.FedProx(mu=3), fc.FedSplit(stepsize=0.2), fc.FedDyn(alpha=4), fc.DANE(mu=20), fc.FedPD(eta=0.3),
    fc.Scaffold(stepsize=0.01, local_steps=3), fc.Scaffold(stepsize=0.005, local_steps=25, option=1),
)  # fmt: skip
STEPS = fc.GradientDescent(steps=11, stepsize=0.02)
WITH_SOLVERS = [(method, None) for method in METHODS]
WITH_SOLVERS += [(fc.FedProx(mu=3), STEPS), (fc.FedDyn(alpha=4), STEPS), (fc.FedSplit(stepsize=0.2), STEPS)]


@pytest.fixture(scope="module")
def model() -> QuadraticModel:
    return modelled(PROBLEM)[1]


@pytest.mark.parametrize(("method", "solver"), WITH_SOLVERS, ids=str)
def test_powers_of_the_map_are_the_rounds_of_a_run(
    model: QuadraticModel, method: Method, solver: fc.GradientDescent | None
) -> None:
    one = RoundMap(model, method, solver)
    state = np.append(one.first.flat(), 1.0)
    points = fc.simulate(method, PROBLEM, 12, local_solver=solver).points
    for point in points:
        assert state[:3] + fc.ground_truth(PROBLEM).point == pytest.approx(point, rel=1e-9, abs=1e-9)
        state = one.augmented @ state


@pytest.mark.parametrize("stepsize", [0.05, 0.002])  # some rounds, and more than are looked at one by one
def test_the_first_round_below_the_target_is_that_of_a_run(model: QuadraticModel, stepsize: float) -> None:
    method = fc.FedGD(stepsize=stepsize)
    found = RoundMap(model, method).reached(1e-4 * model.first_gap).rounds
    gaps = fc.simulate(method, PROBLEM, int(2 * found)).to_frame(["gap"])["gap"]
    first = int(np.flatnonzero(gaps <= 1e-4 * gaps[0])[0])
    assert first - 1 <= found <= first
    # a limit below is not reached, and the gap there is the run's
    below = RoundMap(model, method).reached(1e-4 * model.first_gap, first - 1)
    assert below.rounds == np.inf
    assert below.gap == pytest.approx(gaps[first - 1], rel=1e-6)


def test_states_that_are_too_large_for_a_matrix_give_the_same(
    model: QuadraticModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, target = RoundMap(model, fc.FedDyn(alpha=4)), 1e-6 * model.first_gap
    by_matrix, contraction = one.reached(target), one.contraction
    monkeypatch.setattr("fedconvex.audit.designs.round_maps.FORMED", 0)
    again = RoundMap(model, fc.FedDyn(alpha=4))
    assert again.reached(target).rounds == pytest.approx(by_matrix.rounds, rel=1e-9)
    assert again.contraction == pytest.approx(contraction, rel=1e-2)


@pytest.mark.parametrize(("stepsize", "converges"), [(0.5, True), (1.99, True), (2.01, False), (3.0, False)])
def test_contraction_of_gradient_descent_is_its_formula(
    model: QuadraticModel, stepsize: float, converges: bool
) -> None:
    eigenvalues = np.linalg.eigvalsh(PROBLEM.hessian(np.zeros(3)))
    s = stepsize / eigenvalues[-1]
    factor = RoundMap(model, fc.FedGD(stepsize=s)).contraction
    assert factor == pytest.approx(max(abs(1 - s * eigenvalues)), rel=1e-3)
    assert (factor < 1) is converges


def test_conserved_quantities_do_not_hide_the_contraction(model: QuadraticModel) -> None:
    # the anchor of RegularizedFedSplit never changes: the matrix has the eigenvalue 1, the run does not see it
    one = RoundMap(model, fc.RegularizedFedSplit(stepsize=0.2, regularization=0.5))
    assert max(abs(np.linalg.eigvals(one.augmented[:-1, :-1]))) == pytest.approx(1)
    assert one.contraction < 0.99


def test_floor_is_that_of_the_exact_fixed_point(model: QuadraticModel) -> None:
    for method in (fc.FedProx(mu=3), fc.FedGD(stepsize=0.02, local_steps=5)):
        exact = fc.fixed_point(method, PROBLEM, arithmetic="exact")
        assert RoundMap(model, method).floor == pytest.approx(float(exact.gap), rel=1e-6)


def test_drawn_clients_are_those_of_simulations(model: QuadraticModel) -> None:
    method, K = fc.FedDyn(alpha=6), fc.participation.Uniform(2)
    found = Trials(model, 1e-3, FederationLimits(participation=K)).every([(method, None)])[0]
    rounds = [measured(method, PROBLEM, 1e-3, 400, participation=K, seed=seed) for seed in (1, 2, 3)]
    assert np.mean(rounds) - 1 <= found.rounds <= np.mean(rounds)
