"""Rates of clients with similar Hessians, over many rounds."""

from fractions import Fraction as F

import numpy as np
import pytest
from lyapunov_values import one_round_of_scaffold

import fedconvex as fc
from fedconvex.proofs_checks import SimilarClients, SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.proofs_checks.search.lyapunov.design import with_curvatures
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import trial_federations

pytestmark = pytest.mark.beyond_core  # takes seconds

MU, L = F(1, 10), F(1)


@pytest.mark.parametrize(("delta", "least"), [(F(1, 20), F(1, 4)), (F(1, 10), F(4, 9))])
def test_dane_with_mu_of_twice_the_similarity(delta, least):
    """(2δ/(μ + 2δ))² on quadratics; nearer to it than in one round, and much faster than without similarity."""
    method = fc.DANE(mu=2 * delta)
    found = lyapunov(method, SimilarClients(MU, L, delta))
    assert found.lower == least <= found.upper <= least * F(1007, 1000)
    assert found.upper <= worst_case(method, SimilarClients(MU, L, delta), num_clients="any").upper
    assert found.upper <= lyapunov(method, SmoothStronglyConvex(MU, L)).upper * (1 + F(1, 10**6))
    assert SimilarClients(MU, L, delta).contains(found.federation())


def test_similarity_helps_where_the_method_uses_it():
    method, similar = fc.DANE(mu=F(1, 10)), SimilarClients(MU, L, F(1, 20))
    assert lyapunov(method, similar).upper < F(26, 100) < F(4, 10) < lyapunov(method, SmoothStronglyConvex(MU, L)).lower


@pytest.mark.parametrize("method", [fc.DANE(mu=F(1, 5)), fc.Scaffold(stepsize=F(1, 2), local_steps=3)])
def test_no_similarity_is_no_more_than_the_class_itself(method):
    plain = lyapunov(method, SmoothStronglyConvex(MU, L))
    assert float(lyapunov(method, SimilarClients(MU, L, 1)).upper) == pytest.approx(float(plain.upper), rel=1e-5)


@pytest.mark.parametrize("clients", [2, 3, 4, "any"])
def test_the_federations_that_are_tried_are_similar(clients):
    similar = SimilarClients(MU, L, F(1, 7))
    count = 0
    for one in trial_federations(similar, clients):
        m = max(2, one.fewest) if clients == "any" else clients
        H = one.problem(m).H
        assert similar.contains(one.problem(m))
        assert all(MU - 1e-12 <= x <= L + 1e-12 for h in H for x in np.linalg.eigvalsh(np.array(h, dtype=float)))
        count += one.fewest > 1
    assert count > 2
    assert not all(similar.contains(one.problem(max(2, one.fewest)))
                   for one in trial_federations(SmoothStronglyConvex(MU, L), "any"))  # fmt: skip


def test_no_explicit_federation_is_slower_than_what_is_proved():
    """SCAFFOLD by NumPy alone, on curvatures within δ of their mean; others exceed it."""
    s, e, delta, rng = F(2, 3), 4, 0.1, np.random.default_rng(3)
    upper = float(lyapunov(fc.Scaffold(stepsize=s, local_steps=e), SimilarClients(MU, L, F(1, 10))).upper)
    rates = []
    for _ in range(60):
        centre = rng.uniform(0.1 + delta, 1 - delta)
        a = centre + rng.choice([-delta, delta, 0], 2) * [1, -1]
        rates.append(np.abs(np.linalg.eigvals(one_round_of_scaffold(np.append(a, 2 * centre - a.mean()), float(s), e))))
    assert max(one.max() ** 2 for one in rates) <= upper * (1 + 1e-9)


def test_scaled_functions_are_as_similar_in_proportion():
    """With which `design` finds how a parameter scales, and tries formulas at other condition numbers."""
    assert with_curvatures(SimilarClients(MU, L, F(1, 20)), MU * 4, L * 4) == SimilarClients(MU * 4, L * 4, F(1, 5))
