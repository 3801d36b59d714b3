"""Rounds that are local at random: expectations over the coin, against Scaffnew written out here."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from math import log, sqrt

import numpy as np
import pytest
from full_program import Clients
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Uniform
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, design, lyapunov
from fedconvex.proofs_checks.search.lyapunov.coordinates import coordinates
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

CASES = [(4, F(1, 2)), (4, F(1, 4)), (9, F(1, 3)), (100, F(1, 10)), (100, F(1, 7)), (30, F(1))]


@cache
def asked(kappa, p, **others):
    return lyapunov(fc.Scaffnew(stepsize=F(1, kappa), probability=p), SmoothStronglyConvex(1, kappa), **others)


def published(kappa, p):
    """Mishchenko et al. (2022), Theorem 5.5: max((1 − sμ)², 1 − p²), for s = 1/L."""
    return max((1 - F(1, kappa)) ** 2, 1 - p**2)


def both(x, h, gradients, s, p):
    """(chance, x, h, w) after a round of all clients, with and without communication; w is None where it stays."""
    hats = [a - s * (g - c) for a, g, c in zip(x, gradients, h, strict=True)]
    w = sum(hats) / len(x)
    return [(p, [w] * len(x), [c + p / s * (w - a) for c, a in zip(h, hats, strict=True)]), (1 - p, hats, list(h))]


@pytest.mark.parametrize(("kappa", "p"), CASES)
def test_the_proved_rate_is_at_most_the_published_one(kappa, p):
    found = asked(kappa, p)
    assert found.lower <= found.upper <= published(kappa, p)
    assert found.upper <= found.lower * (1 + F(1, 2000))
    if p == F(1, 7):  # 1 − p² is below (1 − sμ)² there
        assert found.upper == found.lower == F(99, 100) ** 2


def test_far_fewer_communications_suffice_than_published():
    """κ = 100: with p = 1/10 a step contracts by less than 0.98365, and not by 0.99 only."""
    found = asked(100, F(1, 10))
    assert found.tight
    assert found.upper < F(98365, 100000) < published(100, F(1, 10)) == F(99, 100)


@pytest.mark.parametrize(("kappa", "p"), CASES[:4])
def test_second_moments_decrease_as_the_lower_bound_says(kappa, p):
    """All products of (x_1, …, x_m, h_1, …, h_m), by NumPy alone, on the federation that is the slowest."""
    found = asked(kappa, p, num_clients=2)
    a, s = found.federation().L, 1 / kappa
    maps, chances = [[], []], [float(p), 1 - float(p)]
    basis = np.array([[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, -1]]) / 2**0.5  # mean h_k = 0
    for unit in basis:
        x, h = list(unit[:2]), list(unit[2:])
        for columns, (_, y, c) in zip(maps, both(x, h, [b * z for b, z in zip(a, x, strict=True)], s, float(p)),
                                      strict=True):  # fmt: skip
            columns.append(basis @ np.array([*y, *c]))
    maps = [np.array(columns).T for columns in maps]
    whole = sum(c * np.kron(M, M) for c, M in zip(chances, maps, strict=True))
    assert np.abs(np.linalg.eigvals(whole)).max() == pytest.approx(float(found.lower), rel=1e-7)


def value(names, entries, x, h, gradients, values, product):
    """V from each client's vectors; `product` of two of them, and mean values of the shifted functions."""
    m = len(x)
    vectors = {"model_k": x, "control_k": h, "gradient at point 1": gradients}
    total = 0
    for (one, other), c in entries.items():
        if one[0] == "value":
            total = total + c * sum(values) / m
            continue
        u, v = vectors[names[one]], vectors[names[other]]
        means = product(sum(u) / m, sum(v) / m)
        whole = means if one[0] == "mean" else sum(product(a, b) for a, b in zip(u, v, strict=True)) / m - means
        total = total + (c if one == other else 2 * c) * whole
    return total


FEW = settings(max_examples=40, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip
NUMBERS = rationals(-3, 3, 20)


@FEW
@given(data=st.data(), case=st.sampled_from(CASES[:4]), m=st.integers(1, 3))
def test_no_expectation_is_above_what_is_proved(data, case, m):
    kappa, p = case
    s, function = F(1, kappa), asked(kappa, p).function
    a = [data.draw(st.sampled_from([F(1), F(kappa), data.draw(st.fractions(1, kappa))])) for _ in range(m)]
    x, h = ([data.draw(NUMBERS) for _ in range(m)] for _ in range(2))
    h = [c - sum(h) / m for c in h]

    def V(x, h):
        gradients = [b * z for b, z in zip(a, x, strict=True)]
        values = [b * z * z / 2 for b, z in zip(a, x, strict=True)]
        return value(function.posed.names, function.entries, x, h, gradients, values, lambda u, v: u * v)

    after = both(x, h, [b * z for b, z in zip(a, x, strict=True)], s, p)
    assert sum(chance * V(y, c) for chance, y, c in after) <= function.rate * V(x, h)


@pytest.mark.parametrize(("kappa", "p"), [(4, F(1, 2)), (9, F(1, 3)), (100, F(1, 7))])
def test_the_program_with_every_client_agrees(kappa, p):
    """Two smooth clients in one Gram matrix, for the Lyapunov function that was found, rates in floating point."""
    function, s = asked(kappa, p).function, 1 / kappa
    worst = Clients(2, 1.0, float(kappa), True, size=40)
    x, half = [worst.w, worst.new()], worst.new()
    h = [half, -half]  # errors of the h_k

    def measured(x, h):
        looked = [worst.look(k, x[k]) for k in range(2)]
        gradients = [g - pull for (g, _), pull in zip(looked, worst.pulls, strict=True)]

        def V(inner):
            values = [f - inner(pull, y) for (_, f), pull, y in zip(looked, worst.pulls, x, strict=True)]
            entries = {pair: float(c) for pair, c in function.entries.items()}
            return value(function.posed.names, entries, x, h, gradients, values, inner)

        return gradients, V

    gradients, before = measured(x, h)
    after = [(float(chance), measured(y, c)[1]) for chance, y, c in both(x, h, gradients, s, float(p))]
    found = worst.worst(lambda inner: sum(c * V(inner) for c, V in after), before)
    assert found <= float(function.rate) * (1 + 1e-5)
    assert found >= float(function.rate) * (1 - 1e-4)


def test_the_package_plays_the_rounds_that_are_written_here():
    s, p = F(1, 4), F(1, 3)
    method = fc.Scaffnew(stepsize=s, probability=p)
    problem = fc.Quadratic([np.array([[a]], dtype=object) for a in (F(1), F(4))],
                           [np.array([b], dtype=object) for b in (F(1), F(-3))])  # fmt: skip
    play = rounds_of(method, problem, "exact")
    state = play.start(play.arithmetic.array([F(2)]))
    seen = set()
    for t in range(8):
        x, h = ([F(int(z.p), int(z.q)) if hasattr(z, "p") else F(z) for z in state.memory[name].ravel()]
                for name in ("model", "control"))  # fmt: skip
        gradients = [F(1) * x[0] - 1, F(4) * x[1] + 3]
        state = play.advance(state, Draw(seed=1, round=t))
        flat = [F(str(z)) for name in ("model", "control") for z in state.memory[name].ravel()]
        outcomes = [[*y, *c] for _, y, c in both(x, h, gradients, s, p)]
        assert flat in outcomes
        seen.add(outcomes.index(flat))
    assert seen == {0, 1}


def test_always_communicating_is_gradient_descent():
    assert asked(30, F(1)).upper == lyapunov(fc.FedGD(stepsize=F(1, 30)), SmoothStronglyConvex(1, 30)).upper


def test_one_client_and_any_number():
    method, clients = fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2)), SmoothStronglyConvex(1, 4)
    assert lyapunov(method, clients, 1).upper == F(9, 16)  # gradient descent, whoever hears of it
    assert lyapunov(method, clients, 10**30).upper == lyapunov(method, clients).upper
    convex = lyapunov(method, SmoothConvex(4))
    assert convex.lower == 1
    assert convex.linear is False


@pytest.mark.slow
def test_the_designed_probability_is_the_best_of_a_grid():
    """Per communication: below the published √(2/κ − 1/κ²), and cheaper."""
    clients = SmoothStronglyConvex(1, 16)

    def cost(p):
        return float(p) / -log(lyapunov(fc.Scaffnew(stepsize=F(1, 16), probability=p), clients).upper)

    found = design(fc.Scaffnew(stepsize=F(1, 16)), clients, over="probability", per="byte").parameters["probability"]
    assert cost(found) <= min(cost(F(i, 40)) for i in range(4, 40, 2)) * 1.0001
    known = sqrt(2 / 16 - 1 / 16**2)
    assert found < known
    assert cost(found) < 0.9 * known / -log((15 / 16) ** 2)


def test_what_is_measured_is_what_the_clients_compute_with():
    method = fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2))
    found = coordinates(method, method.local_solver, SmoothStronglyConvex(1, 4), 2)
    assert found.mean.names == ("model_k",)  # mean h_k = 0; the server's point waits for a communication
    assert found.deviation.names == ("model_k", "control_k")


def test_a_smaller_rate_and_another_chance_are_rejected():
    found = asked(9, F(1, 3)).function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, rate=found.rate * F(999, 1000))
    rarer = asked(9, F(1, 4)).function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, posed=replace(found.posed, squares=rarer.posed.squares))


def test_a_stepsize_that_is_too_long_diverges():
    found = lyapunov(fc.Scaffnew(stepsize=F(3, 4), probability=F(1, 2)), SmoothStronglyConvex(1, 4))
    assert found.lower > 1
    assert found.says.startswith("diverges")


@pytest.mark.parametrize(
    ("method", "others", "words"),
    [
        (fc.FedPD(eta=1, skip=F(1, 2)), {}, "keep no common state"),
        (fc.FedPD(eta=1, skip=F(1, 2)), {"num_clients": 4, "participation": Uniform(2)}, "FedPD needs all"),
    ],
)  # fmt: skip
def test_what_is_not_analysed_is_refused(method, others, words):
    with pytest.raises(InvalidInput, match=words):
        lyapunov(method, SmoothStronglyConvex(1, 4), **others)
