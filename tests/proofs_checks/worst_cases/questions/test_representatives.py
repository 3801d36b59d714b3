"""The same worst cases by a program that knows no symmetry: every client has vectors of its own, in one Gram matrix.

Nothing is shared with the code under test: the methods are written once more, on rows of coefficients.
"""

from fractions import Fraction as F

import pytest
from full_program import Clients, agree, mean

import fedconvex as fc
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, WeaklyConvex, worst_case

pytestmark = pytest.mark.beyond_core  # takes seconds


def gradient_steps(c, k, theta, s, steps, add=lambda theta: 0.0):
    for _ in range(steps):
        theta = theta - s * (c.look(k, theta)[0] + add(theta))
    return theta


def fedgd(c, s=0.4, steps=2):
    return mean([gradient_steps(c, k, c.w, s, steps) for k in range(c.m)])


def fedprox(c, mu=1.5):
    return mean([c.prox(k, mu, c.w)[0] for k in range(c.m)])


def dane(c, mu=1.5):
    gradients = [c.look(k, c.w)[0] for k in range(c.m)]
    g = mean(gradients)
    return mean([c.prox(k, mu, c.w, g - gradients[k])[0] for k in range(c.m)])


def fedsplit(c, s=0.7, rounds=2):
    z, x = [c.w] * c.m, c.w
    for _ in range(rounds):
        z = [z[k] + 2 * (c.prox(k, 1 / s, 2 * x - z[k])[0] - x) for k in range(c.m)]
        x = mean(z)
    return x


def feddyn(c, alpha=1.2, rounds=2):
    g, w = [0 * c.w] * c.m, c.w
    for _ in range(rounds):
        answers = [c.prox(k, alpha, w, -g[k])[0] for k in range(c.m)]
        g = [g[k] - alpha * (answers[k] - w) for k in range(c.m)]
        w = mean(answers) - mean(g) / alpha
    return w


def feddyn_one_gd(c, alpha=4.0, rounds=2):
    g, w = [0 * c.w] * c.m, c.w
    for _ in range(rounds):
        answers = [w - (c.look(k, w)[0] - g[k]) / alpha for k in range(c.m)]
        g = [g[k] - alpha * (answers[k] - w) for k in range(c.m)]
        w = mean(answers) - mean(g) / alpha
    return w


def scaffold(c, s=0.25, steps=2, rounds=2, option=2):
    w, own = c.w, [0 * c.w] * c.m
    for _ in range(rounds):
        common = mean(own)
        answers = [
            gradient_steps(c, k, w, s, steps, lambda _, k=k, common=common, own=own: common - own[k])
            for k in range(c.m)
        ]
        if option == 1:
            own = [c.look(k, w)[0] for k in range(c.m)]
        else:
            own = [own[k] - common + (w - answers[k]) / (s * steps) for k in range(c.m)]
        w = mean(answers)
    return w


METHODS = {
    "fedgd": (fedgd, fc.FedGD(stepsize=F(2, 5), local_steps=2), 1),
    "fedprox": (fedprox, fc.FedProx(mu=F(3, 2)), 1),
    "dane": (dane, fc.DANE(mu=F(3, 2)), 1),
    "feddane": (dane, fc.FedDANE(mu=F(3, 2)), 1),
    "fedsplit": (fedsplit, fc.FedSplit(stepsize=F(7, 10)), 2),
    "feddyn": (feddyn, fc.FedDyn(alpha=F(6, 5)), 2),
    "feddyn_one_gd": (feddyn_one_gd, fc.FedDynOneGD(alpha=4), 2),
    "scaffold": (scaffold, fc.Scaffold(stepsize=F(1, 4), local_steps=2), 2),
    "scaffold_one": (lambda c: scaffold(c, option=1), fc.Scaffold(stepsize=F(1, 4), local_steps=2, option=1), 2),
}


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm"])
def test_symmetry_changes_nothing(name, metric):
    written, method, rounds = METHODS[name]
    m = 3 if metric == "distance" else 2
    mu, L, G = F(1, 3), 2, F(1, 2)
    c = Clients(m, float(mu), float(L), minimiser=True)
    last = written(c)
    looked = None if metric == "distance" else [c.look(k, last) for k in range(m)]

    def value(inner):
        if metric == "distance":
            return inner(last, last)
        if metric == "gap":
            return mean([f for _, f in looked])
        g = mean([g for g, _ in looked])
        return inner(g, g)

    def measure(inner):
        return inner(c.w, c.w) + float(G) / m * sum(inner(p, p) for p in c.pulls)

    truth = c.worst(value, measure)
    found = worst_case(method, SmoothStronglyConvex(mu, L), m, rounds=rounds, metric=metric, heterogeneity=G)
    agree(found, truth)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_lifted_contraction(m):
    mu, L, s = 0.5, 3.0, 0.6
    c = Clients(m, mu, L, minimiser=True)
    z = [c.new() for _ in range(m)]
    x = mean(z)
    after = [z[k] + 2 * (c.prox(k, 1 / s, 2 * x - z[k])[0] - x) for k in range(m)]
    fixed = [-s * pull for pull in c.pulls]

    def total(rows):
        return lambda inner: sum(inner(u - v, u - v) for u, v in zip(rows, fixed, strict=True))

    truth = c.worst(total(after), total(z))
    found = worst_case(fc.FedSplit(stepsize=F(3, 5)), SmoothStronglyConvex(F(1, 2), 3), m, metric="lifted_distance")
    assert float(found.upper) == pytest.approx(truth, abs=1e-6)
    assert found.upper == found.lower == max((1 - F(3, 10)) / (1 + F(3, 10)), (F(9, 5) - 1) / (1 + F(9, 5))) ** 2


@pytest.mark.parametrize(
    ("m", "clients", "mu", "B"),
    [(2, SmoothConvex(1), 2, F(3, 2)), (3, SmoothConvex(1), F(1, 2), F(5, 4)), (2, WeaklyConvex(F(1, 2), 1), 3, 2),
     (3, SmoothConvex(2), 1, 1), (2, WeaklyConvex(1, 1), F(5, 4), F(6, 5))],
)  # fmt: skip
def test_the_least_decrease_of_a_round_of_fedprox(m, clients, mu, B):
    c = Clients(m, float(clients.lowest), float(clients.highest), minimiser=False)
    here = [c.look(k, c.w) for k in range(m)]
    last = fedprox(c, float(mu))
    there = [c.look(k, last) for k in range(m)]
    g = mean([gradient for gradient, _ in here])
    truth = -c.worst(
        lambda inner: mean([f for _, f in there]) - mean([f for _, f in here]),
        lambda inner: inner(g, g),
        [lambda inner: mean([inner(h, h) for h, _ in here]) <= float(B) ** 2 * inner(g, g)],
    )
    found = worst_case(fc.FedProx(mu=mu), clients, m, metric="descent", dissimilarity=B)
    agree(found, truth)
