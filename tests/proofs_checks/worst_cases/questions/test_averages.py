"""Averages over the rounds: against a program without symmetry, known rates, and runs of the core."""

from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest
from command_runner import running
from full_program import Clients, agree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case

FEW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
METRICS = ("average_gap", "mean_gap", "mean_gradient_norm")
SMALL = rationals(-3, 3, 8)
run = running("worst-case")
proved = cache(worst_case)  # many runs for each proof


def feddyn_points(prox, w, alpha, rounds, m):
    """γ^0, …, γ^{rounds − 1} of the FedDyn paper's Algorithm 1, with its own letters; `prox` solves a subproblem."""
    points, theta, memories, h = [w], w, [0 * w] * m, 0 * w
    for _ in range(rounds - 1):
        models = [prox(k, alpha, theta, -memories[k]) for k in range(m)]
        memories = [memories[k] - alpha * (models[k] - theta) for k in range(m)]
        h = h - alpha / m * sum(model - theta for model in models)
        average = sum(models) / m
        points.append(average)
        theta = average - h / alpha
    return points


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("m", "rounds"), [(2, 2), (2, 3), (3, 2)])
def test_feddyn_against_the_program_without_symmetry(metric, m, rounds):
    alpha, mu, L, G = F(3), F(1, 4), F(1), F(1, 2)
    c = Clients(m, float(mu), float(L), minimiser=True)
    points = feddyn_points(lambda k, *subproblem: c.prox(k, *subproblem)[0], c.w, float(alpha), rounds, m)
    weights = [F(5, 4) ** t for t in range(rounds)]
    shares = [float(a / sum(weights)) for a in weights]
    looked_at = [sum(a * x for a, x in zip(shares, points, strict=True))] if metric == "average_gap" else points
    looked = [[c.look(k, x) for k in range(m)] for x in looked_at]
    first = [c.look(k, c.w) for k in range(m)]

    def value(inner):
        if metric == "average_gap":
            return sum(f for _, f in looked[0]) / m
        if metric == "mean_gap":
            return sum(a * sum(f for _, f in at) / m for a, at in zip(shares, looked, strict=True))
        slopes = [sum(g for g, _ in at) / m for at in looked]
        return sum(a * inner(g, g) for a, g in zip(shares, slopes, strict=True))

    def measure(inner):
        if metric == "mean_gradient_norm":
            return sum(f for _, f in first) / m + float(G) / m * sum(inner(g, g) for g, _ in first)
        return inner(c.w, c.w) + float(G) / m * sum(inner(p, p) for p in c.pulls)

    truth = c.worst(value, measure)
    found = worst_case(
        fc.FedDyn(alpha=alpha), SmoothStronglyConvex(mu, L), m, rounds, metric, heterogeneity=G, weights=weights
    )
    agree(found, truth)


@FEW
@given(metric=st.sampled_from(METRICS), m=st.sampled_from([1, 2, 3]), rounds=st.integers(1, 4), data=st.data())
def test_no_run_of_feddyn_is_above_the_proved_end(metric, m, rounds, data):
    """T rounds on random quadratics on a line, in fractions: nothing here is the code's under test."""
    alpha, L, G = F(4), F(1), F(1, 3)
    found = proved(fc.FedDyn(alpha=alpha), SmoothConvex(L), m, rounds, metric, heterogeneity=G)
    for _ in range(5):
        h = [data.draw(rationals(0, 1, 6)) for _ in range(m)]
        c, w = [data.draw(SMALL) for _ in range(m)], data.draw(SMALL)
        c = [x - sum(c) / m for x in c]  # the minimiser is 0
        points = feddyn_points(
            lambda k, weight, center, linear, h=h, c=c: (c[k] - linear + weight * center) / (h[k] + weight),
            w, alpha, rounds, m,
        )  # fmt: skip
        curvature = sum(h) / m
        gaps = {
            "average_gap": curvature / 2 * (sum(points) / rounds) ** 2,
            "mean_gap": sum(curvature / 2 * x * x for x in points) / rounds,
            "mean_gradient_norm": sum((curvature * x) ** 2 for x in points) / rounds,
        }
        size = w * w + G * sum(x * x for x in c) / m
        if metric == "mean_gradient_norm":
            size = curvature / 2 * w * w + G * sum((a * w - b) ** 2 for a, b in zip(h, c, strict=True)) / m
        assert gaps[metric] <= found.upper * size


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("method", [fc.FedDyn(alpha=3), fc.FedDynOneGD(alpha=3), fc.FedProx(mu=2)])
@pytest.mark.parametrize("metric", METRICS)
def test_the_attained_end_is_what_simulate_finds(method, metric):
    """γ^t from the server's point and its memory: θ^t = γ^t − h^t/α."""
    found = worst_case(method, SmoothStronglyConvex(F(1, 2), 1), 2, 3, metric, heterogeneity=1)
    problem, start = found.federation(), np.array(found.start, dtype=float)
    points, state = [start], None
    from fedconvex.runs.rounds import rounds_of

    rounds = rounds_of(method, problem, "float")
    state = rounds.start(start)
    for _ in range(2):
        state = rounds.advance(state)
        h = state.shared.get("h", 0 * start)
        points.append(state.server + h / float(getattr(method, "alpha", 1)))
    gaps = [problem.value(x) - problem.value(0 * start) for x in points]
    slopes = [problem.gradient(x) @ problem.gradient(x) for x in points]
    average = sum(points) / 3
    size = start @ start + np.mean([g @ g for g in problem.client_gradients(0 * start)])
    if metric == "mean_gradient_norm":
        size = gaps[0] + np.mean([g @ g for g in problem.client_gradients(start)])
    happens = {"average_gap": problem.value(average) - problem.value(0 * start), "mean_gap": np.mean(gaps),
               "mean_gradient_norm": np.mean(slopes)}[metric]  # fmt: skip
    assert happens / size == pytest.approx(float(found.lower), abs=1e-7)


def test_known_rates():
    """Gradient descent: the gap of T steps of 1/L is L/(4T + 2) (Drori and Teboulle 2014); the mean squared gradient of
    smooth functions is 2L/T, which ½Lx² attains by its first point, since one step is enough for it.
    """
    for T in (1, 2, 5):
        gd = fc.FedGD(stepsize=1, local_steps=1)
        gap = worst_case(gd, SmoothConvex(1), 1, T, "gap")
        assert gap.lower <= F(1, 4 * T + 2) <= gap.upper <= gap.lower + F(1, 10**9)
        found = worst_case(gd, WeaklyConvex(1, 1), 1, T, "mean_gradient_norm")
        assert found.lower == found.upper == F(2, T)
    first = worst_case(fc.FedDyn(alpha=25), SmoothConvex(3), "any", 1, "average_gap", heterogeneity=1)
    assert first.lower == first.upper == F(3, 2)  # before any round: L/2


def test_clients_that_are_not_convex_need_their_own_points_or_gradients():
    feddyn, clients = fc.FedDyn(alpha=20), WeaklyConvex(1, 1)
    free = worst_case(feddyn, clients, "any", 3, "mean_gradient_norm")
    assert free.lower == float("inf")
    assert "heterogeneity" in free.says
    for how in ({"spread": F(1, 40)}, {"heterogeneity": 1}):
        found = worst_case(feddyn, clients, "any", 3, "mean_gradient_norm", **how)
        assert 0 < found.lower <= found.upper < float("inf")
        assert found.is_played


@FEW
@given(h=st.tuples(*[rationals(-1, 1, 6)] * 2), c=st.tuples(SMALL, SMALL), w=SMALL)
def test_no_run_with_stationary_points_of_its_own_is_above(h, c, w):
    alpha, S = F(20), F(1, 40)
    found = proved(fc.FedDyn(alpha=alpha), WeaklyConvex(1, 1), 2, 3, "mean_gradient_norm", spread=S)
    if not all(h) or sum(h) <= 0:
        return
    points = feddyn_points(
        lambda k, weight, center, linear: (c[k] - linear + weight * center) / (h[k] + weight), w, alpha, 3, 2
    )
    curvature, pull = sum(h) / 2, sum(c) / 2
    delta = (curvature * w - pull) ** 2 / (2 * curvature)
    spread = sum((b / a - w) ** 2 for a, b in zip(h, c, strict=True)) / 2
    assert sum((curvature * x - pull) ** 2 for x in points) / 3 <= found.upper * (delta + S * spread)


@pytest.mark.parametrize("clients", [SmoothConvex(1), WeaklyConvex(1, 1)])
def test_certificates_are_proofs(clients):
    found = worst_case(fc.FedDyn(alpha=20), clients, "any", 2, "mean_gradient_norm", spread=F(1, 40))
    assert found.proof().theorem().setting.starts_at_own_minima


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"weights": [1, 2, 3]}, "not 2 numbers"),
        ({"weights": [0, 0]}, "not all 0"),
        ({"weights": [1, -1]}, ">= 0"),
        ({"weights": 5}, "not 2 numbers"),
        ({"weights": "11"}, "not 2 numbers"),
        ({"metric": "gap", "weights": [1, 1]}, "no part in gap"),
        ({"spread": 1}, "no part in average_gap"),
        ({"metric": "mean_gradient_norm", "spread": -1}, "negative"),
        ({"participation": fc.participation.Weighted(2), "num_clients": "any"}, "who take part"),
        ({"clients": WeaklyConvex(1, 1)}, "no minimiser"),
    ],
)
def test_questions_without_an_answer_are_refused(arguments, says):
    whole = {"method": fc.FedDyn(alpha=25), "clients": SmoothConvex(1), "rounds": 2, "metric": "average_gap"}
    with pytest.raises(InvalidInput, match=says):
        worst_case(**{**whole, **arguments})


def test_the_command_knows_the_averages(run):
    words = ["feddyn:alpha=20", "--L", "1", "--L-minus", "1", "--metric", "mean_gradient_norm",
             "--spread", "1/40"]  # fmt: skip
    status, out, _ = run(*words)
    assert status == 0
    assert "inf f + 1/40·mean‖θ_k⁰ − w_0‖²" in out
    assert "worst: 40/21 = 1.90476190476" in out
