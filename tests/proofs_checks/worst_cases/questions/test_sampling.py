"""Drawn clients: against every possible draw, and against a program with all clients and all draws."""

from fractions import Fraction as F

import numpy as np
import pytest
from all_draws import every_draw
from slow_layer import meeting

import fedconvex as fc
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.instances.replay import federation
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

METHODS = [
    fc.FedGD(stepsize=F(1, 3), local_steps=2), fc.FedProx(mu=2), fc.FedSplit(stepsize=F(1, 2)), fc.FedDyn(alpha=2),
    fc.Scaffold(stepsize=F(1, 5), local_steps=2), fc.DANE(mu=3), fc.FedDynOneGD(alpha=5),
]  # fmt: skip


def happens(method, problem, start, participation, metric, G):
    """The expectation of the metric, divided by what it is measured in."""
    total, run = F(0), rounds_of(method, problem, "exact")
    for chance, draw in every_draw(problem.num_clients, participation):
        with run.arithmetic.context():
            last = run.arithmetic.publish(run.advance(run.start(run.arithmetic.array(start)), draw).server)
        zero = 0 * last
        total += chance * (last @ last if metric == "distance" else problem.value(last) - problem.value(zero))
    pulls = problem.client_gradients(0 * start)
    return total / (start @ start + G * sum(p @ p for p in pulls) / len(pulls))


SCHEMES = [
    (2, Uniform(1)), (4, Uniform(1)), (3, Uniform(1)), (3, Uniform(2)), (5, Uniform(3)),
    (3, Bernoulli(F(4, 7))), (5, Bernoulli(F(2, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("method", "scheme"), meeting(METHODS, SCHEMES), ids=str)
def test_what_is_attained_happens_when_all_draws_are_made(method, scheme):
    """Also of an odd number of clients, of which one half is larger."""
    G, (m, participation) = F(1, 3), scheme
    found = worst_case(
        method, SmoothStronglyConvex(F(1, 2), 2), m, heterogeneity=G, participation=participation, metric="distance"
    )
    assert found.lower <= found.upper
    assert m % 2 or found.upper - found.lower <= 1e-9 * found.upper
    if found.instance is None:  # of an odd number one half is larger, which the search for quadratics does not know
        assert m % 2
        return
    problem, start = federation(found.question, found.instance), found.instance.start[0]
    assert problem.num_clients == found.federation().num_clients == m
    assert happens(method, problem, start, participation, "distance", G) == found.played
    assert found.played >= found.lower * F(9, 10)


@pytest.mark.sample(2)
@pytest.mark.parametrize("participation", [Uniform(1), Uniform(2), Weighted(1), Weighted(2)], ids=str)
@pytest.mark.parametrize("metric", ["distance", "gap"])
@pytest.mark.parametrize("method", METHODS[:2], ids=lambda method: type(method).__name__)
def test_no_federation_of_three_is_above_the_proved_end(participation, metric, method):
    """Three clients on a line and in the plane, all different; the draws are enumerated."""
    low, high, G = F(1, 2), F(2), F(1, 4)
    found = worst_case(
        method, SmoothStronglyConvex(low, high), 3, heterogeneity=G, participation=participation, metric=metric
    )
    rng = np.random.default_rng(1)
    most = F(0)
    for _ in range(12):
        H = [
            np.diag([low + (high - low) * F(int(n), 4) for n in rng.integers(0, 5, 2)]).astype(object) for _ in range(3)
        ]
        pulls = [np.array([F(int(n)) for n in rng.integers(-3, 4, 2)], dtype=object) for _ in range(3)]
        centre = sum(pulls[1:], start=pulls[0]) / F(3)
        problem = fc.Quadratic(H, [p - centre for p in pulls])
        start = np.array([F(int(n)) for n in rng.integers(1, 4, 2)], dtype=object)
        most = max(most, happens(method, problem, start, participation, metric, G))
    assert 0 < most <= found.upper


def test_the_moments_of_the_draw_matter():
    """Everyone is best, K of m without replacement next, K independent draws worst; K = m is everyone."""

    def ends(participation):
        found = worst_case(fc.FedGD(stepsize=F(2, 5), local_steps=2), SmoothStronglyConvex(1, 2), 4,
                           heterogeneity=1, participation=participation)  # fmt: skip
        return found.lower, found.upper

    everyone, without, independent = (ends(p) for p in (None, Uniform(2), Weighted(2)))
    assert everyone[1] < without[0] <= without[1] < independent[0] <= independent[1]
    assert ends(Uniform(4)) == everyone


def test_values_at_random_points_are_bounded_only():
    """By the descent lemma where clients are many, and it says so; what is attained is still played."""
    found = worst_case(fc.FedProx(mu=4), SmoothConvex(1), 20, metric="descent", dissimilarity=F(5, 4),
                       participation=Uniform(2))  # fmt: skip
    everyone = worst_case(fc.FedProx(mu=4), SmoothConvex(1), 20, metric="descent", dissimilarity=F(5, 4))
    assert found.lower < everyone.lower
    assert found.lower <= found.upper
    assert found.interpolated is None
    assert "is a relaxation" in found.says


def test_the_number_of_clients_costs_nothing():
    def found(m):
        return worst_case(fc.FedProx(mu=1), SmoothStronglyConvex(1, 2), m, heterogeneity=F(1, 100),
                          participation=Uniform(2))  # fmt: skip

    few, many = found(4), found(10**9)
    assert many.question.program.sizes == few.question.program.sizes
    assert few.upper < many.lower <= many.upper  # (m − K)/(K(m − 1)) grows with m


@pytest.mark.parametrize("method", [fc.FedGD(stepsize=F(1, 4)), fc.FedProx(mu=2)], ids=lambda one: type(one).__name__)
def test_an_odd_number_of_clients_attains_many_rounds(method):
    """Clients that are all alike, of which it does not matter who is drawn: ((1 − s)²)ᵀ and (1/(1 + 1/μ)²)ᵀ."""
    clients, factor = SmoothStronglyConvex(1, 4), F(9, 16) if isinstance(method, fc.FedGD) else F(4, 9)
    found = worst_case(method, clients, 3, rounds=2, heterogeneity=1, participation=Uniform(2))
    assert found.lower == found.upper == factor**2
    assert found.federation().num_clients == 3


def test_an_odd_number_of_clients_is_not_half_and_half():
    """With values at random points it may attain less than two equal groups."""
    question = {"metric": "gap", "heterogeneity": 1, "participation": Weighted(2)}
    clients = SmoothStronglyConvex(1, 2)
    odd, even = (worst_case(fc.FedProx(mu=1), clients, m, **question) for m in (21, 22))
    assert odd.federation().num_clients == 21
    assert 0 < odd.lower <= odd.upper == even.upper
    assert 0 < even.lower <= even.upper
