"""Every attained bound has a federation on which `simulate` gives the same metric."""

from fractions import Fraction as F

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.instances.interpolating_functions import Interpolating, simplex_minimiser

QUESTIONS = {
    "gradient descent": (fc.FedGD(stepsize=1), SmoothConvex(1), {"rounds": 3, "metric": "gap", "num_clients": 1}),
    "fedprox": (fc.FedProx(mu=2), SmoothConvex(1), {"metric": "descent", "dissimilarity": F(3, 2)}),
    "dane": (fc.DANE(mu=1), SmoothStronglyConvex(1, 2), {}),
    "feddyn": (fc.FedDyn(alpha=3), SmoothConvex(1), {"rounds": 2, "metric": "gap", "heterogeneity": 1}),
    "scaffold": (fc.Scaffold(stepsize=F(1, 4), local_steps=2), SmoothStronglyConvex(F(1, 2), 2),
                 {"rounds": 2, "metric": "gradient_norm", "heterogeneity": 1}),
    "quadratic": (fc.FedProx(mu=2), SmoothStronglyConvex(1, 2), {"heterogeneity": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_attained_end_is_what_simulate_finds(name):
    method, clients, how = QUESTIONS[name]
    found = worst_case(method, clients, **how)
    problem, start = found.federation(), np.array(found.start, dtype=float)
    metric, G = how.get("metric", "distance"), float(how.get("heterogeneity", 0))
    last = fc.simulate(method, problem, how.get("rounds", 1), x0=start).points[-1]
    zero = 0 * start
    if metric == "descent":
        g = problem.gradient(start)
        ratio = (problem.value(start) - problem.value(last)) / (g @ g)
        assert ratio == pytest.approx(float(found.upper), abs=1e-7)
        return
    assert np.allclose(problem.gradient(zero), 0, atol=1e-7)
    slope = problem.gradient(last)
    value = {"distance": last @ last, "gap": problem.value(last) - problem.value(zero), "gradient_norm": slope @ slope}
    size = start @ start + G * np.mean([g @ g for g in problem.client_gradients(zero)])
    assert value[metric] / size == pytest.approx(float(found.lower), abs=1e-7)


def test_weakly_convex_clients():
    found = worst_case(fc.FedProx(mu=3), WeaklyConvex(1, 1), metric="descent", dissimilarity=F(6, 5))
    problem, start = found.federation(), found.start
    last, g = fc.simulate(fc.FedProx(mu=3), problem, 1, x0=start).points[-1], problem.gradient(start)
    assert np.allclose(last, problem.client_prox(start, 1 / 3).mean(0))
    with pytest.raises(InvalidInput, match="too small"):
        fc.simulate(fc.FedProx(mu=1), problem, 1, x0=start)
    ratio = (problem.value(start) - problem.value(last)) / (g @ g)
    assert ratio == pytest.approx(float(found.upper), abs=1e-7)


def test_the_interpolant_goes_through_its_points_and_is_in_the_class():
    found = worst_case(fc.FedProx(mu=3), WeaklyConvex(1, 2), metric="descent", dissimilarity=F(6, 5))
    problem = found.federation()
    assert isinstance(problem, Interpolating)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40, problem.dim))
    for a, b in zip(x, y, strict=True):
        for k in range(2):
            (f, e), (g, h) = (
                [call(p)[k] for p in (a, b)] for call in (problem.client_values, problem.client_gradients)
            )
            step, change = b - a, h - g + (b - a)
            assert e >= f + g @ step - step @ step / 2 + change @ change / 6 - 1e-9


def test_the_proximal_step_solves_its_subproblem():
    found = worst_case(fc.FedProx(mu=2), SmoothConvex(1), metric="descent", dissimilarity=F(3, 2))
    problem = found.federation()
    center = np.random.default_rng(1).normal(size=problem.dim)
    theta = problem.client_prox(center, 0.5)
    assert np.allclose(problem.client_gradients(theta) + 2 * (theta - center), 0, atol=1e-8)


def test_least_on_the_simplex():
    rng = np.random.default_rng(2)
    for _ in range(100):
        n, d = rng.integers(1, 9), rng.integers(1, 5)
        Y, q = rng.normal(size=(n, d)), rng.normal(size=n)
        alpha = simplex_minimiser(Y @ Y.T, q)
        slopes = Y @ Y.T @ alpha + q
        assert alpha.min() >= 0
        assert alpha.sum() == pytest.approx(1)
        assert slopes @ alpha <= slopes.min() + 1e-9


def test_a_federation_that_was_not_found_is_not_made_up():
    found = worst_case(fc.FedProx(mu=F(5, 2)), SmoothStronglyConvex(1, 2), 201, heterogeneity=1,
                       participation=fc.participation.Uniform(2), metric="gap")  # fmt: skip
    with pytest.raises(ValueError, match="no federation"):
        found.federation()
