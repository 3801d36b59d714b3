"""Both ways of Newton's method, inverted Hessians and conjugate gradients, reach the certified minimiser."""

from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.arithmetic import newton
from fedconvex.fixed_points import smooth_clients
from fedconvex.ground_truths.certificates import certify
from fedconvex.local_solvers import gradient_descent
from fedconvex.problems import proximal
from fedconvex.problems.subproblem import Subproblem


def problem(ridge: float) -> fc.MultinomialLogistic:
    rng = np.random.default_rng(2)
    sizes = (12, 30, 7)
    A = [rng.standard_normal((n, 3)) for n in sizes]
    return fc.MultinomialLogistic(A, [rng.integers(0, 3, n) for n in sizes], num_classes=3, ridge=ridge)


def proximal_task(seed: int, weight: float) -> tuple[Any, Any, Any, Any]:
    """The clients, drawn centres, their proximal functions, and the minimisers of these from the centres."""
    case = problem(1e-3)
    clients, V = case.clients("float"), np.random.default_rng(seed).standard_normal((3, case.dim))
    functions = proximal.ProximalFunctions(clients, Subproblem(start=V, weight=weight, center=V))
    return clients, V, functions, newton.minimise(functions, V, rounding=functions.rounding)


@pytest.fixture(params=["inverted", "conjugate gradients"])
def way(request, monkeypatch):
    """Runs the test in both ways, with the other one made to fail."""

    def unwanted(*_):
        raise AssertionError("the other way was taken")

    chosen = request.param == "inverted"
    monkeypatch.setattr(newton, "INVERSION_LIMIT", float("inf") if chosen else 0)
    monkeypatch.setattr(newton, "conjugate_gradients" if chosen else "_inverse", unwanted)


@pytest.mark.usefixtures("way")
def test_the_minimiser_is_certified():
    truth = fc.ground_truth(problem(0.01), solver="newton")
    assert truth.distance_bound < 1e-13
    assert certify(truth.problem, truth.point + 1e-6, "moved").distance_bound > 1e-6


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("stepsize", [1e-3, 1.0, 1e3])
def test_every_clients_prox_is_stationary(stepsize):
    case = problem(0.0)
    V = 5 * np.random.default_rng(3).standard_normal((3, case.dim))
    theta = case.client_prox(V, stepsize)
    assert abs(case.client_gradients(theta) + (theta - V) / stepsize).max() < 1e-13 / min(stepsize, 1.0)


def test_applied_and_formed_derivatives_give_the_same_fixed_point(monkeypatch):
    case, method = problem(0.05), fc.FedGD(stepsize=0.5, local_steps=4)
    formed = fc.fixed_point(method, case).point
    monkeypatch.setattr(smooth_clients, "FORMED_DIMENSION", 0)
    applied = fc.fixed_point(method, problem(0.05)).point
    assert abs(applied - formed).max() < 1e-12
    moved = fc.simulate(method, case, rounds=1, x0=applied).points[1]
    assert abs(moved - applied).max() < 1e-14
    assert abs(formed - fc.ground_truth(case).point).max() > 1e-3  # it is not simply the minimiser


def test_derivatives_of_steps_by_matrices_by_kept_and_by_new_products_agree(monkeypatch):
    case = problem(0.05)
    clients, rng = case.clients("float"), np.random.default_rng(8)
    solver = fc.GradientDescent(steps=3, stepsize=0.3)
    start, change = rng.standard_normal((2, 3, case.dim))
    at = Subproblem(start=start, weight=0.5, center=start)
    along = Subproblem(start=change, weight=0.5, center=change)
    found = []
    for fast, kept in ((False, 0), (True, 3), (True, 0)):
        monkeypatch.setattr(type(clients), "has_fast_products", fast)
        monkeypatch.setattr(gradient_descent, "KEPT_MAPS", kept)
        found.append(solver.tangent(clients, at, start)(along))
    assert max(abs(one - found[0]).max() for one in found) < 1e-14
    size = 1e-6
    moved = Subproblem(start=start + size * change, weight=0.5, center=start + size * change)
    finite = (solver.solve(clients, moved).points - solver.solve(clients, at).points) / size
    assert abs(finite - found[0]).max() < 1e-5
    assert abs(finite - 1.01 * found[0]).max() > 1e-4


@pytest.mark.parametrize(("samples", "fast"), [(4, True), (400, False)])
def test_products_with_few_samples_are_faster_than_with_matrices(samples, fast):
    rng = np.random.default_rng(1)
    case = fc.Logistic([rng.standard_normal((samples, 20))], [rng.choice([-1, 1], samples)], ridge=1)
    assert case.clients("float").has_fast_products == fast


@pytest.mark.parametrize("factor", [1.0, 1e9])
def test_local_solutions_end_at_the_rounding_of_their_gradients(monkeypatch, factor):
    """Residuals are a few rounding errors of ∇F_k; a wrong estimate of these errors is seen."""
    monkeypatch.setattr(newton, "INVERSION_LIMIT", 0)
    monkeypatch.setattr(proximal, "ROUNDING", factor * proximal.ROUNDING)
    case, rng = problem(1e-3), np.random.default_rng(4)
    for stepsize in (1.0, 10.0, 100.0):  # for smaller ones the rounding of θ itself counts
        V = rng.standard_normal((3, case.dim))
        theta = case.client_prox(V, stepsize)
        own = case.client_gradients(theta)
        left = np.linalg.norm(own + (theta - V) / stepsize, axis=1)
        assert bool((left <= 1e-14 * np.linalg.norm(own, axis=1)).all()) == (factor == 1)


def test_known_rounding_saves_hessian_products(monkeypatch):
    monkeypatch.setattr(newton, "INVERSION_LIMIT", 0)
    clients, V, functions, _ = proximal_task(5, 0.1)
    products, original = [], type(clients).hessian_map

    def counted(self, X):
        product = original(self, X)
        return lambda vectors: products.append(1) or product(vectors)

    monkeypatch.setattr(type(clients), "hessian_map", counted)
    found = []
    for rounding in (None, functions.rounding):
        products.clear()
        found.append((newton.minimise(functions, V, rounding=rounding), len(products)))
    (plain, more), (short, fewer) = found
    assert abs(plain - short).max() < 1e-13
    assert fewer < more


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-14])
def test_starts_near_the_minimiser_end_as_exactly_as_far_ones(distance):
    """Beside the rounding of θ + step no decrease of so short a step is seen: a line search would end it early."""
    rng = np.random.default_rng(9)
    clients, V, functions, solved = proximal_task(6, 0.05)
    for _ in range(5):
        start = solved + distance * rng.standard_normal(V.shape)
        found = newton.minimise(functions, start, rounding=functions.rounding)
        left, own = (np.linalg.norm(g, axis=1) for g in (functions.gradients(found), clients.gradients(found)))
        assert (left <= 1e-14 * own).all()
    assert not (np.linalg.norm(functions.gradients(solved + 1e-9), axis=1) <= 1e-14 * own).all()


def test_a_near_start_takes_one_step(monkeypatch):
    monkeypatch.setattr(newton, "INVERSION_LIMIT", 0)
    _, V, functions, solved = proximal_task(7, 0.1)
    steps, original = [], newton.conjugate_gradients
    monkeypatch.setattr(newton, "conjugate_gradients", lambda *a: steps.append(1) or original(*a))
    newton.minimise(functions, solved + 1e-10, rounding=functions.rounding)
    assert len(steps) == 1
    steps.clear()
    newton.minimise(functions, V, rounding=functions.rounding)
    assert len(steps) > 2


def test_the_first_step_is_as_exact_as_is_of_use():
    norm, enough = np.array([1.0, 1e-6, 1e-15, 0.0, 1.0]), np.array([1e-15, 1e-15, 1e-15, 1e-15, 0.0])
    found = newton._first_forcing(np, norm, enough)
    assert (found <= newton.FORCING).all()
    assert (found >= newton.TIGHT_FORCING).all()
    assert found[0] == newton.FORCING  # far away
    assert found[1] < 1e-6  # a step leaves the square of a small gradient
    assert found[2] == newton.FORCING  # rounding decides
    assert np.isfinite(found).all()
    assert newton._first_forcing(np, np.array([1e-9]), np.array([0.0])) == newton.FORCING  # in whatever unit
