"""FedProx: exact rounds keep Theorem 4 and the steps of its proof; what breaks the assumptions need not.

Expectations are over all draws: every K-tuple is played.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from bound_makers import gradient, gradients, lower, positive_weights, square, starts, upper, value
from hypothesis import assume, given
from hypothesis import strategies as st
from problem_makers import entries, few, fraction, fractions, identity, inverse, logistics
from promises import Asked, ProximalRound, at_most, promised

import fedconvex as fc
from fedconvex import participation
from fedconvex.statements.instance import Instance
from fedconvex.theory import fedprox
from fedconvex.theory.bounds import Applies


@st.composite
def gently_different(draw: Any) -> fc.Quadratic:
    """Clients that are not far from each other, convex or not."""
    m, d = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    centre = draw(entries(d, d))
    H = [centre + draw(entries(d, d)) / 4 for _ in range(m)]
    c = draw(entries(d))
    return fc.Quadratic(
        [(h + h.T) / 2 for h in H], [c + draw(entries(d)) / 4 for _ in range(m)], draw(positive_weights(m))
    )


@st.composite
def proximal_rounds(draw: Any) -> ProximalRound:
    """With μ and K such that Theorem 4 promises a decrease."""
    problem = draw(gently_different())
    w = draw(starts(problem))
    instance = Instance(problem, fc.FedProx(mu=1), point=w)
    assume(instance.square > 0)
    B = max(upper(instance.dissimilarity), Fraction(1))
    assume(B < 8)
    B = Fraction(int(B * 1000) + 1, 1000)
    gamma = draw(st.sampled_from([Fraction(0), 1 / (4 * B), 1 / (10 * B)]))
    K = fedprox.smallest_K(B=B, gamma=gamma) * draw(st.integers(2, 5))
    L, L_minus = fraction(instance.smoothness), fraction(instance.weak_convexity)
    assume(L > 0)
    best = fedprox.best_mu(L=L, L_minus=L_minus, B=B, gamma=gamma, K=K)
    mu = Fraction(float(best.mu)).limit_denominator(100) * draw(st.sampled_from([1, 2]))
    solver = fc.Exact() if gamma == 0 and draw(st.booleans()) else fc.ToInexactness(gamma)
    return ProximalRound(problem, mu, solver, w, K)


@few
@given(proximal_rounds())
def test_fedprox_decreases_as_theorem4_says(played: ProximalRound) -> None:
    bounds, w = played.bounds(), played.w
    rho, before, slope = promised(bounds, "fedprox.theorem4"), value(played.terms, w), square(gradient(played.terms, w))
    assert rho > 0
    assert played.expected_value <= before - upper(rho) * slope
    same = played.bounds(epsilon=slope * Fraction(999999, 1000000))
    assert 0 < lower(promised(same, "fedprox.theorem11")) <= upper(rho)
    assert float(promised(same, "fedprox.theorem11")) == pytest.approx(float(rho), rel=1e-3)
    largest = max(played.solver.gamma, 0) if isinstance(played.solver, fc.ToInexactness) else 0
    each = played.bounds(gammas=[largest] * played.problem.num_clients)
    assert promised(each, "fedprox.corollary9").overlaps(rho)


@few
@given(proximal_rounds())
def test_fedprox_keeps_the_steps_of_the_proof(played: ProximalRound) -> None:
    bounds, terms, w, K = played.bounds(), played.terms, played.w, played.K
    mu, H = Fraction(played.method.mu), terms.H
    own, whole = gradients(terms, w), gradient(terms, w)
    best = [inverse(h + mu * identity(len(w))) @ (c + mu * w) for h, c in zip(H, terms.c, strict=True)]
    residuals = [g + mu * (a - w) for g, a in zip(map(_at, H, terms.c, played.answers), played.answers, strict=True)]

    assert all(at_most(square(e), promised(bounds, "fedprox.equation3") ** 2) for e in residuals)
    distances = [square(a - exact) for a, exact in zip(played.answers, best, strict=True)]
    assert all(at_most(far, promised(bounds, "fedprox.equation5") ** 2) for far in distances)
    assert all(at_most(square(a - w), promised(bounds, "fedprox.equation6") ** 2) for a in played.answers)
    assert at_most(square(-mu * (played.average - w) - whole), promised(bounds, "fedprox.equation7") ** 2)
    assert at_most(value(terms, played.average), promised(bounds, "fedprox.equation8"))
    assert at_most(played.variance / K, promised(bounds, "fedprox.equation13"))
    assert at_most(played.sampling, promised(bounds, "fedprox.equation14"))
    assert max(map(square, own)) >= square(whole)


def _at(H: np.ndarray, c: np.ndarray, x: np.ndarray) -> np.ndarray:
    return H @ x - c


@few
@given(gently_different(), st.data(), st.integers(1, 4), st.sampled_from([Fraction(0), Fraction(1, 5)]))
def test_expectations_over_all_draws(problem: Any, data: Any, K: int, gamma: Fraction) -> None:
    """The closed forms are what enumeration gives; and Q_t, as the proof defines it, is below (14)."""
    w = data.draw(starts(problem))
    L = fraction(Instance(problem, fc.FedProx(mu=1)).smoothness)
    mu = L + fraction(Instance(problem, fc.FedProx(mu=1)).weak_convexity) + 1
    played = ProximalRound(problem, mu, fc.ToInexactness(gamma), w, K)
    draws, terms = list(played.draws()), played.terms
    assert sum(chance for chance, _ in draws) == 1
    assert sum(chance * value(terms, x) for chance, x in draws) == played.expected_value
    assert sum(chance * square(x - played.average) for chance, x in draws) == played.variance / K

    slope = square(gradient(terms, w))
    if slope == 0:
        return
    loss = 0.0
    for chance, x in draws:
        lengths = [float(square(v)) ** 0.5 for v in (played.average - w, x - w, x - played.average)]
        loss += float(chance) * (float(slope) ** 0.5 + float(L) * (lengths[0] + lengths[1])) * lengths[2]
    assert loss <= float(promised(played.bounds(), "fedprox.equation14")) * (1 + 1e-9) + 1e-12


def test_real_rounds_are_among_the_draws() -> None:
    problem = fc.Quadratic([[[2]], [[1]], [[3]]], [[1], [2], [0]], [1, 2, 3])
    played = ProximalRound(problem, Fraction(3), fc.Exact(), fractions([1]), 2)
    possible = {x[0] for chance, x in played.draws() if chance > 0}
    assert len(possible) == 6
    seen = {
        fc.simulate(played.method, problem, 1, played.scheme, x0=[1], seed=seed, arithmetic="exact").points[1][0]
        for seed in range(60)
    }
    assert seen == possible


def _unlike() -> ProximalRound:
    """Two clients, (x ± 1)²/2, seen from w = 2: B(w)² = 5/4."""
    problem = fc.Quadratic([[[1]], [[1]]], [[1], [-1]])
    return ProximalRound(problem, Fraction(12), fc.Exact(), fractions([2]), 100)


def test_theorem4_of_many_draws_says_nothing_of_one() -> None:
    played = _unlike()
    rho = promised(played.bounds(), "fedprox.theorem4")
    before, slope = value(played.terms, played.w), square(gradient(played.terms, played.w))
    assert played.expected_value <= before - upper(rho) * slope
    assert played.expected_value > before - 10 * upper(rho) * slope  # ten times as much is not true
    huge = fc.Quadratic([[[1]], [[1]]], [[100], [-100]])  # nearly stationary, clients far apart, one draw
    once = ProximalRound(huge, Fraction(12), fc.Exact(), fractions([1]), 1)
    assert once.expected_value > value(once.terms, once.w)
    assert not isinstance(once.bounds()["fedprox.theorem4"], Applies)


def test_smaller_steps_of_the_proof_are_not_true() -> None:
    """One client with curvature L_minus = −1 makes (6) an equality; 1 % less is violated."""
    played = ProximalRound(fc.Quadratic([[[-1]]], [[1]]), Fraction(3), fc.Exact(), fractions([0]), 1)
    bound = promised(played.bounds(), "fedprox.equation6")
    assert square(played.answers[0]) <= upper(bound) ** 2
    assert square(played.answers[0]) > (Fraction(99, 100) * upper(bound)) ** 2


@few
@given(logistics(), st.data())
def test_fedprox_on_logistic_losses(problem: Any, data: Any) -> None:
    """Theorem 4 with K draws, enumerated in floats."""
    w, K = data.draw(starts(problem)).astype(float), 5
    instance = Instance(problem, fc.FedProx(mu=1), point=w)
    assume(instance.square > 1e-6)
    B = max(upper(instance.dissimilarity), Fraction(1))
    best = fedprox.best_mu(L=fraction(instance.smoothness), L_minus=0, B=B, gamma=0, K=K)
    assume(best is not None)
    method, scheme = fc.FedProx(mu=float(best.mu)), participation.Weighted(K)
    rho = float(promised(Asked(method, problem, scheme, x0=w), "fedprox.theorem4"))
    clients = [k for k in range(problem.num_clients) if problem.weights[k] > 0]
    answers = {k: fc.simulate(method, problem, 1, participation.Schedule([[k]]), x0=w).points[1] for k in clients}
    expected = sum(
        np.prod(problem.weights[list(drawn)]) * problem.value(np.mean([answers[k] for k in drawn], axis=0))
        for drawn in product(clients, repeat=K)
    )
    assert expected <= problem.value(w) - rho * np.sum(problem.gradient(w) ** 2) + 1e-12
