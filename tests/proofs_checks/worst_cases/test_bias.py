"""The worst distance of a method's fixed point from the minimiser, and unequal local steps, by independent routes."""

import dataclasses
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.claims.claim import Claim
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import SimilarClients, SmoothConvex, SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.proofs_checks.kernel import Refused, theorem

CLASS = SmoothStronglyConvex(mu=1, L=4)
STEP = F(1, 8)


def bias(method, num_clients="any", clients=CLASS, **more):
    return worst_case(method, clients, num_clients, metric="bias", **more)


def on_federation(found, method):
    """The ratio on the federation that attains the lower bound, by the package's own fixed points."""
    problem = found.federation()
    rested = fc.fixed_point(dataclasses.replace(method, local_steps=found.local_steps), problem, arithmetic="exact")
    divisor = sum(F(x) ** 2 for c in problem.c for x in c) / problem.num_clients
    assert not any(np.sum(problem.c, axis=0))  # 0 is the minimiser
    return sum(F(x) ** 2 for x in rested.point) / divisor


@pytest.mark.parametrize(("mu", "L", "weight"), [(1, 4, 2), (1, 9, 3), (2, 8, 1)])
def test_fedprox_has_its_known_error_floor(mu, L, weight):
    # exact_rates: (s(L − μ)ζ/(2√(μL(1 + sμ)(1 + sL))))², proved for all federations and attained
    s = F(1, weight)
    truth = (s * (L - mu)) ** 2 / (4 * mu * L * (1 + s * mu) * (1 + s * L))
    found = bias(fc.FedProx(mu=weight), clients=SmoothStronglyConvex(mu, L))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= truth / 10**8


@pytest.mark.parametrize("steps", [(1, 3), (1, 2, 2)])
@pytest.mark.parametrize("kind", [fc.FedGD, fc.FedNova])
def test_random_federations_stay_below_the_certified_bound(kind, steps):
    method, generator = kind(stepsize=STEP, local_steps=steps), np.random.default_rng(3)
    found = bias(method, len(steps))
    assert found.upper - found.lower <= found.upper / 10**6
    for _ in range(40):
        curvatures = [F(int(h), 8) for h in generator.integers(8, 33, len(steps))]
        slopes = [F(int(p)) for p in generator.integers(-9, 10, len(steps) - 1)]
        slopes.append(-sum(slopes))
        problem = fc.Quadratic([[[h]] for h in curvatures], [[p] for p in slopes])
        point = fc.fixed_point(method, problem, arithmetic="exact").point[0]
        assert F(point) ** 2 * len(steps) <= found.upper * sum(p * p for p in slopes)


@pytest.mark.parametrize("num_clients", [2, "any"])
def test_the_lower_bound_is_the_bias_on_its_federation(num_clients):
    method = fc.FedGD(stepsize=STEP, local_steps=(1, 3))
    found = bias(method, num_clients)
    assert found.is_played
    assert on_federation(found, method) == found.lower


def test_functions_that_are_no_quadratics_have_the_bias_of_the_lower_bound():
    method = fc.FedNova(stepsize=STEP, local_steps=(1, 3))
    found = bias(method, 2)
    assert not found.is_played
    own = dataclasses.replace(method, local_steps=found.local_steps)
    played = fc.simulate(own, found.federation(), rounds=1, x0=found.start)
    assert played.points[-1] == pytest.approx(found.start, abs=1e-6)


def test_fednova_cures_the_inconsistency_of_fedavg():
    # For small stepsizes FedAvg minimises Σ τ_k F_k: for τ = (1, 3) and F_k' = h_k x ∓ 1 at −2/(h_1 + 3h_2)
    small = F(1, 8000)
    fedavg, fednova, fedlin = (
        bias(kind(stepsize=small, local_steps=(1, 3)), 2) for kind in (fc.FedGD, fc.FedNova, fc.FedLin)
    )
    worst = max(F(2, h + 3 * k) ** 2 for h, k in product((1, 4), repeat=2))
    assert abs(float(fedavg.lower) - float(worst)) < 1e-3
    assert fednova.upper < F(1, 10**6) < fedavg.lower
    assert fedlin.upper == 0


@pytest.mark.parametrize("steps", [2, (1, 3), (3, 1)])
def test_fedlin_rests_at_the_minimiser_alone(steps):
    found = bias(fc.FedLin(stepsize=STEP, local_steps=steps))
    assert found.lower == found.upper == 0


def test_equal_numbers_are_one_number():
    one, many = (bias(fc.FedGD(stepsize=STEP, local_steps=steps)) for steps in (2, (2, 2)))
    assert float(many.upper) == pytest.approx(float(one.upper), rel=1e-7)


@pytest.mark.parametrize("method", [fc.FedProx(mu=2), fc.FedGD(stepsize=STEP, local_steps=2), fc.DANE(mu=1)])
def test_the_kernel_replays_the_bound(method):
    lemma = bias(method).proof()
    assert lemma.setting.rests
    assert theorem(lemma.setting, lemma.claim, lemma.proof).claim == lemma.claim


def test_the_kernel_refuses_a_smaller_bound():
    lemma = bias(fc.FedProx(mu=2)).proof()
    too_small = Claim(lemma.claim.left, "<=", lemma.claim.right * F(99, 100))
    with pytest.raises(Refused):
        theorem(lemma.setting, too_small, lemma.proof)


@pytest.mark.parametrize("metric", ["distance", "gap"])
def test_unequal_steps_in_one_round_are_simulated(metric):
    method = fc.FedGD(stepsize=STEP, local_steps=(1, 3))
    found = worst_case(method, CLASS, 2, metric=metric, heterogeneity=1)
    assert found.upper - found.lower <= F(1, 10**8)
    problem, own = found.federation(), dataclasses.replace(method, local_steps=found.local_steps)
    end = fc.simulate(own, problem, rounds=1, x0=found.start).points[-1]
    star = 0 * end
    reached = end @ end if metric == "distance" else problem.value(end) - problem.value(star)
    gradients = problem.client_gradients(star)
    divisor = found.start @ found.start + problem.weights @ (gradients**2).sum(1)
    assert float(reached / divisor) == pytest.approx(float(found.lower), rel=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bias(fc.FedGD(stepsize=1, local_steps=(1, 3)), 3), "(1, 3): has 2 numbers for num_clients = 3"),
        (lambda: bias(fc.FedGD(stepsize=1, local_steps=fc.RandomNumberOfSteps((1, 2)))), "are drawn in every round"),
        (lambda: bias(fc.Scaffold(stepsize=1)), "keeps c"),
        (lambda: bias(fc.FedProx(mu=1), rounds=2), "rounds = 2"),
        (lambda: bias(fc.FedProx(mu=1), 1), "num_clients = 1"),
        (lambda: bias(fc.FedProx(mu=1), 3, participation=fc.participation.Uniform(2)), "participation"),
        (lambda: bias(fc.FedProx(mu=1), heterogeneity=1), "heterogeneity = 1"),
        (lambda: bias(fc.FedProx(mu=1), dissimilarity=2), "dissimilarity = 2"),
        (lambda: bias(fc.FedGD(stepsize="1/(1 + t)")), "schedule"),
        (lambda: bias(fc.FedGD(stepsize=1, local_steps=(1, 3)), 2, SimilarClients(1, 4, 1)), "similar clients"),
        (lambda: bias(fc.FedGD(stepsize=1, local_steps=(1, 3)), 2, SmoothStronglyConvex(2, 2)), "one curvature"),
        (lambda: lyapunov(fc.FedGD(stepsize=1, local_steps=(1, 3)), CLASS), "biased fixed point"),
        (
            lambda: worst_case(
                fc.FedGD(stepsize=1, local_steps=(1, 3)), CLASS, 2, participation=fc.participation.Uniform(1)
            ),
            "unequal numbers of local steps",
        ),
    ],
)  # fmt: skip
def test_refusals_name_argument_value_and_cure(call, words):
    with pytest.raises(InvalidInput) as refused:
        call()
    assert words in str(refused.value)
    assert refused.value.cure


def test_convex_clients_have_no_bound():
    found = bias(fc.FedProx(mu=2), clients=SmoothConvex(4))
    assert found.upper == float("inf")
    assert "may be any points" in found.says
