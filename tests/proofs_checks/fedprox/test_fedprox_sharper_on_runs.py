"""FedProx's sharper results on exact runs, and the rounds by which tightness is measured against the running code."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from bound_makers import gradient, mean_square, square, value
from fedprox_rounds import admissible_round
from problem_makers import terms_of
from promises import ProximalRound

import fedconvex as fc
from fedconvex.participation import Schedule
from fedconvex.proofs_checks.fedprox.tightness import above, client, of_everyone
from fedconvex.theory import fedprox

F = Fraction
SEEDS = range(30)


W = np.array([F(0), F(0)], dtype=object)


def curvature(random: Random, convex: bool) -> Any:
    """h·vvᵀ with |v| = 1, 0 <= h <= 1, or between −1 and 1."""
    v = np.array(random.choice([(F(3, 5), F(4, 5)), (F(1), F(0)), (F(0), F(1)), (F(5, 13), F(-12, 13))]))
    return random.choice([F(1), F(1, 2), F(0)] if convex else [F(1), F(-1), F(-1, 2)]) * np.outer(v, v)


def clients_in_the_plane(seed: int, convex: bool) -> tuple[fc.Quadratic, Fraction, Fraction]:
    """Three of them with L = 1, a rational number just above B(W), and ‖∇f(W)‖²."""
    random = Random(seed)
    weights = random.sample([1, 2, 3], 3)
    H = [curvature(random, convex) for _ in range(3)]
    c = [np.array([F(random.randint(4, 9)), F(random.randint(-2, 2))]) for _ in range(3)]
    problem = fc.Quadratic(H, c, weights)
    slope = square(gradient(terms_of(problem), W))
    B = float(mean_square(terms_of(problem), W) / slope) ** 0.5
    return problem, F(int(B * 10**6) + 1, 10**6), slope


def decrease(problem: fc.Quadratic, mu: Fraction, K: int) -> Fraction:
    """f(W) − E f(w⁺) over K independent draws, with exact local solutions."""
    played = ProximalRound(problem, mu, fc.Exact(), W, K)
    return value(played.terms, W) - played.expected_value


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("seed", SEEDS)
def test_convex_clients_decrease_as_promised(seed: int) -> None:
    problem, B, slope = clients_in_the_plane(seed, convex=True)
    for mu in (F(3, 4), B, F(4)):
        for K in (1, 5, 40):
            promised = fedprox.rho_convex(mu=mu, L=F(1), B=B, K=K)
            assert decrease(problem, mu, K) >= promised * slope
            assert promised > fedprox.rho_sharp(mu=mu, L=F(1), L_minus=F(0), B=B, gamma=F(0))
            if mu >= 1:
                assert promised == fedprox.rho_by_curvature(mu=mu, L=F(1), L_minus=F(0), B=B, gamma=F(0), K=K)
    everyone = fc.simulate(fc.FedProx(mu=B), problem, 1, None, fc.Exact(), W, arithmetic="exact").points[1]
    terms = terms_of(problem)
    assert value(terms, W) - value(terms, everyone) >= fedprox.rho_convex_everyone(mu=B, L=F(1), B=B) * slope
    enough = int(4 * B) + 1
    chosen = fedprox.convex_choice_sharp(L=F(1), B=B, K=enough)
    assert decrease(problem, chosen.mu, enough) >= chosen.rho * slope


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("seed", SEEDS)
def test_any_clients_decrease_as_promised(seed: int) -> None:
    problem, B, slope = clients_in_the_plane(seed, convex=False)
    for mu in (F(2), 3 * B, F(20)):
        for K in (1, 5, 40):
            given = {"mu": mu, "L": F(1), "L_minus": F(1), "B": B, "gamma": F(0)}
            fallen = decrease(problem, mu, K)
            assert fallen >= fedprox.rho_sharp(**given) * slope
            by_variance = fedprox.rho_by_variance(**given, K=K)
            assert fallen >= by_variance * slope
            by_curvature = fedprox.rho_by_curvature(**given, K=K)
            assert fallen >= by_curvature * slope
            if mu > B + 1:  # δ < 1
                assert by_curvature > by_variance
                assert by_variance >= fedprox.rho_sharp(**given)


def test_with_many_devices_the_decrease_falls_like_one_over_the_dissimilarity() -> None:
    B = F(100)
    published = fedprox.best_mu(L=1, L_minus=0, B=100, gamma=0, K=10**8).rho
    assert float(published) < 1 / (2 * B**2)
    assert fedprox.rho_by_variance(mu=4 * B, L=F(1), L_minus=F(0), B=B, gamma=F(0), K=10**8) > 1 / (6 * B)
    assert fedprox.rho_convex(mu=B, L=F(1), B=B, K=400) > 1 / (4 * B)


@pytest.mark.parametrize("seed", SEEDS)
def test_rounds_are_those_of_the_running_code(seed: int) -> None:
    random = Random(seed)
    clients = tuple((F(p, 6), F(random.randint(0, 4), 4), F(random.randint(1, 9)), F(0)) for p in (1, 2, 3))
    found = admissible_round((2, 1, 0, 0, 3, clients))
    assert found is not None
    problem = fc.Quadratic([[[h]] for _, h, _, _ in clients], [[-a] for _, _, a, _ in clients], [1, 2, 3])
    runs = [
        fc.simulate(fc.FedProx(mu=2), problem, 1, Schedule([[k]]), fc.Exact(), [F(0)], arithmetic="exact")
        for k in range(3)
    ]
    assert [run.points[1][0] for run in runs] == found.steps
    everyone = fc.simulate(fc.FedProx(mu=2), problem, 1, None, fc.Exact(), [F(0)], arithmetic="exact").points[1][0]
    assert everyone == found.mean_step
    assert problem.value([everyone]) == found.value(everyone)
    assert abs(problem.gradient([F(0)])[0]) == found.gradient
    assert fc.gradient_variance(problem, [F(0)]) == found.variance


def test_residuals_beyond_gamma_are_no_instances() -> None:
    assert admissible_round((2, 1, 0, F(1, 2), 1, ((F(1), F(1), F(1), F(3, 4)),))) is None
    assert admissible_round((2, 1, 0, 0, 1, ((F(1), F(-1), F(1), F(0)),))) is None


@pytest.mark.parametrize("mu", [F(3, 4), F(1), F(2), F(7)])
@pytest.mark.parametrize("t", [F(0), F(5, 12), F(3, 4), F(4, 3)])
def test_convex_clients_attain_the_bound_with_everyone(mu: Fraction, t: Fraction) -> None:
    found = of_everyone(fedprox.theorem4convexeveryone)((mu, t))
    assert found is not None
    assert found[0] == found[1] > 0


def test_points_that_no_convex_function_has_are_noticed() -> None:
    start, answer, server = client(F(2), F(5, 4), F(3, 4))
    assert above(server, start) == above(answer, start) == 0
    assert above(server._replace(value=server.value - F(1, 1000)), start) < 0
    assert above(start, answer._replace(value=answer.value + F(1, 10))) < 0
