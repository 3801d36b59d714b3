"""What potentials prove, beside programs of several rounds with vectors of every client: no code in common."""

from fractions import Fraction as F

import numpy as np
import pytest
from full_program import Clients

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, WeaklyConvex, sublinear_rate

pytestmark = pytest.mark.beyond_core  # takes seconds


def rounds_of_scaffold(program, T, e, s):
    """The server's points of T rounds, from control variates 0."""
    m, w, points = program.m, program.w, [program.w]
    c = [0 * w] * m
    for _ in range(T):
        y, mean = [w] * m, sum(c) / m
        for _ in range(e):
            y = [y[k] - s * (program.look(k, y[k])[0] - c[k] + mean) for k in range(m)]
        c = [c[k] - mean + (w - y[k]) / (e * s) for k in range(m)]
        w = sum(y) / m
        points.append(w)
    return points


def rounds_of_feddyn(program, T, alpha):
    """The server's points of T rounds, and the means of the answers, from duals 0."""
    m, w, points, answers = program.m, program.w, [program.w], []
    duals = [0 * w] * m
    for _ in range(T):
        theta, duals = zip(*(program.prox(k, alpha, w, -duals[k]) for k in range(m)), strict=True)
        answers.append(sum(theta) / m)
        w = answers[-1] - sum(duals) / m / alpha
        points.append(w)
    return points, answers


METHODS = {
    "scaffold": (fc.Scaffold(stepsize=F(1, 4), local_steps=2), lambda p, T: rounds_of_scaffold(p, T, 2, 0.25)),
    "gradient": (fc.FedGD(stepsize=F(1, 2)), lambda p, T: rounds_of_scaffold(p, T, 1, 0.5)),
    "feddyn": (fc.FedDyn(alpha=4), lambda p, T: rounds_of_feddyn(p, T, 4.0)[0]),
}


@pytest.mark.parametrize(("name", "clients", "T"), [
    ("scaffold", 1, 3), ("scaffold", 2, 2), ("scaffold", 3, 1), ("gradient", 2, 3), ("feddyn", 2, 2), ("feddyn", 3, 2),
])  # fmt: skip
def test_gradients_of_nonconvex_clients(name, clients, T):
    """max Σ_{t<T} ‖∇f(w_t)‖², and of the last what V keeps, where V at the start is at most 1: not far below 1."""
    worst = worst_sum(name, clients, T, F(1))
    assert 0.7 < worst <= 1 + 1e-6


def test_less_than_what_is_proved_would_be_contradicted():
    assert worst_sum("scaffold", 2, 2, F(3, 4)) > 1.05


def worst_sum(name, clients, T, part):
    """The largest sum where this part of what is proved to pay for it is 1."""
    method, rounds = METHODS[name]
    found = sublinear_rate(method, WeaklyConvex(1, 1))
    assert found.floor == 0
    program = Clients(clients, -1.0, 1.0, False, size=60)
    points = rounds(program, T)
    seen = [[program.look(k, w) for k in range(clients)] for w in points]
    values = [sum(f for _, f in one) / clients for one in seen]
    gradients = [sum(g for g, _ in one) / clients for one in seen]
    first = found.function.entries[found.descent.of_gradient] / found.function.prices[0]

    def paid(inner):
        gap = values[0] - values[-1] + inner(gradients[-1], gradients[-1]) / 2  # f(w_T) − inf f is at least that
        spread = sum(inner(g - gradients[0], g - gradients[0]) for g, _ in seen[0]) / clients
        start = inner(gradients[0], gradients[0])
        return float(part) * (float(found.gap) * gap + float(first) * start + float(found.heterogeneity) * spread)

    weights = [1.0] * T + [float(1 + min(first, 1) - found.credit)]
    return program.worst(lambda inner: sum(c * inner(g, g) for c, g in zip(weights, gradients, strict=True)), paid)


@pytest.mark.parametrize(("name", "clients", "T"), [
    ("scaffold", 1, 3), ("scaffold", 2, 2), ("gradient", 2, 3), ("feddyn", 2, 2), ("feddyn", 3, 1),
])  # fmt: skip
def test_last_values_of_convex_clients(name, clients, T):
    """max T·(f(p_T) − f*) where distance·‖w⁰ − x*‖² + heterogeneity·ζ*² = 1."""
    method, rounds = METHODS[name]
    found = sublinear_rate(method, SmoothConvex(1), points="last")
    program = Clients(clients, 0.0, 1.0, True, size=60)
    if name == "feddyn":
        assert "mean of the points" in found.at
        last = rounds_of_feddyn(program, T, 4.0)[1][-1]
    else:
        last = rounds(program, T)[-1]
    value = sum(program.look(k, last)[1] for k in range(clients)) / clients

    def paid(inner):
        spread = sum(inner(g, g) for g in program.pulls) / clients
        return float(found.distance) * inner(program.w, program.w) + float(found.heterogeneity) * spread

    assert 0.15 < program.worst(lambda _: T * value, paid) <= 1 + 1e-6


def test_the_programs_know_gradient_descent():
    """f(w_T) − f* <= ‖w⁰ − x*‖²/(4sT + 2) for L = 1, Drori and Teboulle (2014)."""
    program = Clients(1, 0.0, 1.0, True, size=20)
    last = rounds_of_scaffold(program, 3, 1, 0.5)[-1]
    value = program.look(0, last)[1]
    assert program.worst(lambda _: value, lambda inner: inner(program.w, program.w)) == pytest.approx(1 / 8, rel=1e-5)
    assert np.allclose(program.pulls, 0)
