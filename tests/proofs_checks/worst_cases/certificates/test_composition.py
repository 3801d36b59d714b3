"""Bounds for many rounds from one: against every sequence of draws, and against simulated rounds."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from all_draws import every_draw

import fedconvex as fc
from fedconvex.participation import Uniform, Weighted
from fedconvex.proofs_checks import SmoothStronglyConvex, worst_case
from fedconvex.proofs_checks.worst_cases.certificates.composition import after_rounds, shortened
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

CLIENTS = SmoothStronglyConvex(F(1, 2), 2)
METHODS = [fc.FedGD(stepsize=F(1, 3), local_steps=2), fc.FedProx(mu=2), fc.FedNova(stepsize=F(1, 4), local_steps=2)]
DRAWS = [Uniform(1), Uniform(2), Weighted(1), Weighted(2)]


def happens(method, problem, start, participation, rounds, G):
    """E‖w_T − x*‖², x* = 0, over all sequences of draws, divided by what it is measured in."""
    run = rounds_of(method, problem, "exact")
    total, draws = F(0), every_draw(problem.num_clients, participation)
    for sequence in product(draws, repeat=rounds):
        with run.arithmetic.context():
            state, chance = run.start(run.arithmetic.array(start)), F(1)
            for share, draw in sequence:
                state, chance = run.advance(state, draw), chance * share
            last = run.arithmetic.publish(state.server)
        total += chance * (last @ last)
    pulls = problem.client_gradients(0 * start)
    return total / (start @ start + G * sum(p @ p for p in pulls) / len(pulls))


@pytest.mark.sample(8)
@pytest.mark.parametrize("participation", DRAWS, ids=str)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_what_is_attained_happens_when_all_sequences_are_drawn(method, participation):
    G = F(1, 3)
    found = worst_case(method, CLIENTS, 4, 3, heterogeneity=G, participation=participation)
    assert found.lower <= found.upper
    problem, start = found.federation(), found.start
    few = problem.num_clients if isinstance(participation, Weighted) else 4
    assert problem.num_clients == few
    assert happens(method, problem, start, participation, 3, G) == found.lower > 0


@pytest.mark.parametrize("participation", DRAWS, ids=str)
def test_no_federation_of_three_is_above_the_proved_end(participation):
    G, method, rng, most = F(1, 4), METHODS[0], np.random.default_rng(5), F(0)
    found = worst_case(method, CLIENTS, 3, 2, heterogeneity=G, participation=participation)
    for _ in range(8):
        curvatures = [F(int(n)) / 2 for n in rng.integers(1, 5, 3)]
        pulls = [F(int(n)) for n in rng.integers(-3, 4, 3)]
        centred = [p - sum(pulls) / 3 for p in pulls]
        problem = fc.Quadratic([[[h]] for h in curvatures], [[p] for p in centred])
        start = np.array([F(int(rng.integers(0, 3)))], dtype=object)
        if any(centred) or any(start):
            most = max(most, happens(method, problem, start, participation, 2, G))
    assert 0 < most <= found.upper


@pytest.mark.sample(4)
@pytest.mark.parametrize("rounds", [2, 6, 20, 60])
@pytest.mark.parametrize("method", METHODS[:2], ids=lambda method: type(method).__name__)
def test_everyone(method, rounds):
    """Both ends, and what random clients do; no more than in the program of all rounds where that is small."""
    found = worst_case(method, CLIENTS, "any", rounds, heterogeneity=1)
    assert 0 < found.lower <= found.upper
    problem, start = found.federation(), np.array(found.start, dtype=float)
    last = fc.simulate(method, problem, rounds, x0=start).points[-1]
    pulls = problem.client_gradients(0 * start)
    size = start @ start + (pulls**2).sum() / len(pulls)
    assert last @ last / size == pytest.approx(float(found.lower), rel=1e-6)
    rng = np.random.default_rng(rounds)
    for _ in range(30):
        H, c, w = rng.uniform(0.5, 2, 2), rng.normal(), rng.normal(size=1)
        problem = fc.Quadratic([[[h]] for h in H], [[c], [-c]])
        last = fc.simulate(method, problem, rounds, x0=w).points[-1]
        assert last @ last <= float(found.upper) * (w @ w + c * c) * (1 + 1e-9)


def test_what_remains_is_a_floor():
    """However many rounds: the noise of the draws, and the bias of local steps."""
    ends = [
        worst_case(METHODS[0], CLIENTS, 4, rounds, heterogeneity=1, participation=Weighted(2)) for rounds in (20, 200)
    ]
    assert ends[0].lower > F(1, 100)
    assert ends[1].upper == pytest.approx(float(ends[0].upper), rel=1e-3)
    assert "added up over 200" in ends[1].says


def test_a_factor_that_is_too_small_would_be_noticed():
    found = worst_case(METHODS[1], CLIENTS, 4, 2, heterogeneity=F(1, 3), participation=Weighted(2))
    t, h = found.certificate.t, found.certified.spec.heterogeneity
    assert after_rounds(t, h, F(1, 3), 2) == found.upper >= found.lower
    assert after_rounds(t * F(9, 10), h, F(1, 3), 2) < found.lower


def test_sums_of_powers():
    t, h, H = F(2, 3), F(5), F(1, 2)
    assert after_rounds(t, h, H, 3) == h / H * (t + t**2 + t**3)
    assert after_rounds(F(1), h, H, 3) == 3 * h / H
    assert after_rounds(F(4), F(1, 10**9), H, 3) == 64
    assert after_rounds(t, F(0), F(0), 3) == t**3


def test_ends_of_thousands_of_digits_are_shortened_on_the_safe_side():
    found = worst_case(METHODS[0], CLIENTS, "any", 300, heterogeneity=1)
    assert found.lower.denominator.bit_length() < 2000 < found.played.denominator.bit_length()
    assert 0 <= found.played - found.lower < found.played * F(1, 2**190)
    longer = F(7**3000, 3**3000)
    assert F(1) <= shortened(longer, upwards=True) / longer < 1 + F(1, 2**190)
    assert 1 - F(1, 2**190) < shortened(longer, upwards=False) / longer <= 1
    assert shortened(F(1, 3), upwards=True) == F(1, 3)
    assert shortened(float("inf"), upwards=True) == float("inf")
