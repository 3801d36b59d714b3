"""K of m clients that need not be convex: a round's expectation over all draws, exactly and by NumPy alone."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import WeaklyConvex, sublinear_rate
from fedconvex.proofs_checks.search.lyapunov.posed_round import EACH, VALUE
from fedconvex.proofs_checks.symbolic.randomness import draws_of
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

SMOOTH = WeaklyConvex(1, 1)
WEIGHT, LAG = ((VALUE, 0), (VALUE, 0)), ((EACH, 0), (EACH, 0))
METHODS = [
    fc.Scaffold(stepsize=F(1, 8)), fc.Scaffold(stepsize=F(1, 40), local_steps=3, option=1), fc.FedDyn(alpha=20),
    fc.FedDynOneGD(alpha=20), fc.DANE(mu=8), fc.FedGD(stepsize=F(1, 8), local_steps=2), fc.FedProx(mu=8),
]  # fmt: skip
FEW = settings(max_examples=25, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip
NUMBERS = rationals(-3, 3, 9)


@cache
def rate_of(method, m, scheme, clients=SMOOTH):
    scheme = Uniform(scheme) if isinstance(scheme, int) else scheme
    return sublinear_rate(method, clients, m, participation=scheme)


def lag_of(found):
    return found.function.entries.get(LAG, F(0))


SCHEMES = [
    (2, Uniform(1)),
    (3, Uniform(2)),
    (4, Uniform(2)),
    (3, Weighted(2)),
    (4, Weighted(3)),
    (3, Bernoulli(F(1, 2))),
]


@FEW
@given(data=st.data(), method=st.sampled_from(METHODS), scheme=st.sampled_from(SCHEMES))
def test_no_expectation_over_all_draws_is_above_what_is_proved(data, method, scheme):
    """Clients a x²/2 − b x, −1 <= a <= 1, from states that runs reach, in rational numbers."""
    m, participation = scheme
    found, every = rate_of(method, m, participation), list(draws_of(participation, m).every())
    weight, prices = found.function.entries[WEIGHT], found.function.prices
    a = [data.draw(st.sampled_from([F(-1), F(1), data.draw(rationals(-1, 1, 9))])) for _ in range(m)]
    b = [data.draw(NUMBERS) for _ in a]
    problem = fc.Quadratic([np.array([[x]], dtype=object) for x in a], [np.array([x], dtype=object) for x in b])
    play = rounds_of(method, problem, "exact")

    def gradients(state):
        x = fractions_of(state.server)[0]
        return [c * x - d for c, d in zip(a, b, strict=True)]

    def potential(state):
        x = fractions_of(state.server)[0]
        value = sum(c * x * x / 2 - d * x for c, d in zip(a, b, strict=True)) / m
        lags = []
        if state.memory:
            (memory,) = state.memory.values()
            lags = [u[0] - g for u, g in zip(fractions_of(memory), gradients(state), strict=True)]
        return weight * value + lag_of(found) * sum(e * e for e in lags) / m

    state = play.start(play.arithmetic.array([data.draw(NUMBERS)]))
    for _ in range(data.draw(st.integers(0, 2))):
        state = play.advance(state, data.draw(st.sampled_from([draw for _, draw in every])))
    here = gradients(state)
    whole = sum(here) / m
    spread = sum((g - whole) ** 2 for g in here) / m
    after = sum(chance * potential(play.advance(state, draw)) for chance, draw in every)
    paid = potential(state) - prices[0] * whole**2 + sum(prices[1:]) * spread
    assert after <= paid


@pytest.mark.parametrize(("s", "e", "option"), [(F(1, 8), 1, 2), (F(1, 40), 3, 1), (F(1, 40), 3, 2)])
@pytest.mark.parametrize(("m", "K"), [(3, 1), (4, 3)])
def test_scaffold_by_hand_on_waves(s, e, option, m, K):
    """SCAFFOLD written out here, on sines with curvatures from −1 to 1 and any memories of the clients."""
    rng = np.random.default_rng(5)
    found = rate_of(fc.Scaffold(stepsize=s, local_steps=e, option=option), m, K)
    weight, lag, earned = (float(x) for x in (found.function.entries[WEIGHT], lag_of(found), found.function.prices[0]))
    assert found.floor == 0
    closest = np.inf
    for _ in range(60):
        size, phase, frequency = rng.uniform(-1, 1, m), rng.uniform(0, 6, m), rng.uniform(0.2, 1, m)
        w, memories = rng.uniform(-3, 3), rng.uniform(-1, 1) * rng.normal(size=m)

        def gradient(x, size=size, phase=phase, frequency=frequency):  # of size/frequency² · sin
            return size / frequency * np.cos(frequency * x + phase)

        def potential(x, memory, gradient=gradient, size=size, phase=phase, frequency=frequency):
            value = np.mean(size / frequency**2 * np.sin(frequency * x + phase))
            return weight * value + lag * np.mean((memory - gradient(x)) ** 2)

        y = np.full(m, w)
        for _ in range(e):
            y = y - float(s) * (gradient(y) - memories + memories.mean())
        new = gradient(np.full(m, w)) if option == 1 else memories - memories.mean() + (w - y) / float(e * s)
        after = []
        for drawn in map(list, combinations(range(m), K)):
            kept = memories.copy()
            kept[drawn] = new[drawn]
            after.append(potential(y[drawn].mean(), kept))
        spare = potential(w, memories) - earned * gradient(w).mean() ** 2 - np.mean(after)
        assert spare >= -1e-12
        closest = min(closest, spare)
    assert closest < 0.05  # some come close


def test_constants():
    """V >= the decrease of f alone: no method of total step es earns much more than es in a round of small steps."""
    for s in (F(1, 20), F(1, 50)):
        found = rate_of(fc.Scaffold(stepsize=s), 10, 2)
        assert 1 / s < found.gap < 1 / s * F(104, 100)
    assert [rate_of(method, 10, 5).floor == 0 for method in METHODS] == [True] * 5 + [False] * 2
    # no memory, so that whoever is drawn clients that are alike move alike
    for method in METHODS[4:]:
        found = rate_of(method, 10, 5)
        everyone = sublinear_rate(method, SMOOTH, 10)
        assert found.lower == everyone.lower <= everyone.gap <= found.gap * (1 + F(1, 1000))
        assert found.bound(12, found.slowest.gap(12)) >= 1
    assert rate_of(METHODS[0], 10, 5).lower == 0  # no slow function is known of clients that wait
    with pytest.raises(InvalidInput, match="has no function that is known to be slow"):
        rate_of(METHODS[0], 10, 5).federation()


@pytest.mark.parametrize("method", METHODS[:2], ids=str)
def test_fewer_drawn_clients_are_slower(method):
    """And all of them are everyone, whose V measures more."""
    gaps = [rate_of(method, 10, K).gap + rate_of(method, 10, K).heterogeneity for K in (2, 5, 9)]
    assert gaps == sorted(gaps, reverse=True)
    everyone = rate_of(method, 10, 10)
    assert everyone.gap + everyone.heterogeneity <= gaps[-1]
    assert everyone.lower > 0


def test_more_progress_is_rejected():
    V = rate_of(METHODS[0], 10, 2).function
    for changed in ({"prices": (V.prices[0] * F(11, 10),)}, {"entries": {**V.entries, LAG: -V.entries[LAG]}},
                    {"entries": {**V.entries, LAG: F(0)}}):  # fmt: skip
        with pytest.raises(ValueError, match=r"no proof|no Lyapunov"):
            replace(V, **changed)


def test_in_words():
    text = str(rate_of(METHODS[0], 10, 2))
    assert "mean‖(c_k − ∇F_k at the server's point)‖²" in " ".join(text.split())


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (fc.FedSplit(stepsize=F(1, 5)), "not one multiple of the clients' gradients"),
        (fc.FedPD(eta=F(1, 4)), "has a biased fixed point"),
        (fc.Scaffold(stepsize=F(2)), "no potential"),
        (fc.Scaffnew(stepsize=F(1, 8), probability=F(1, 2)), "at random"),
    ],
)
def test_what_is_not_analysed_is_refused(method, words):
    with pytest.raises(InvalidInput, match=words):
        rate_of(method, 4, 2)
