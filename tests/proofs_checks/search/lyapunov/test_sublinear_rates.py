"""Rates 1/T on convex clients: known constants, exact runs, and all draws of a round."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from lyapunov_values import fractions_of
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Uniform
from fedconvex.proofs_checks import SmoothConvex, SmoothStronglyConvex, sublinear_rate, worst_case
from fedconvex.proofs_checks.search.lyapunov import priced_functions
from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

CONVEX = SmoothConvex(1)
rate_of = cache(partial(sublinear_rate, clients=CONVEX))
NEAR = 1 + F(1, 10**5)
BIASED = [fc.FedGD(stepsize=F(1, 8), local_steps=2), fc.FedGD(stepsize=F(1, 8), local_steps=4), fc.FedProx(mu=2)]
MOMENTUM = fc.FedAvgM(stepsize=F(1, 2), momentum=F(1, 2))


@pytest.mark.parametrize("s", [F(1, 8), F(1, 2), F(1)])
@pytest.mark.parametrize("kind", [fc.FedGD, fc.Scaffold])
def test_gradient_steps(s, kind):
    """‖w⁰ − x*‖²/(2sT), as `exact_rates.fedsgdconvexclients` with everyone; no less for s <= 1/L."""
    found = sublinear_rate(kind(stepsize=s), CONVEX)
    assert 1 / (2 * s) <= found.distance <= NEAR / (2 * s)
    assert found.heterogeneity == 0


@pytest.mark.parametrize("e", [2, 3, 5])
def test_local_steps_are_worth_more_than_the_theorem_says(e):
    """`exact_rates.scaffoldconvexclientslocalsteps` has (‖w⁰ − x*‖² + (es)²ζ*²)/(2sT), as if a round were one step."""
    s = F(1, 2)
    found = sublinear_rate(fc.Scaffold(stepsize=s, local_steps=e), CONVEX)
    assert found.distance < F(3, 4) / (2 * s)
    assert found.heterogeneity < e**2 * s / 2


@pytest.mark.parametrize("s", [F(1, 2), F(1)])
def test_the_points_after_the_rounds(s):
    """Of gradient steps ‖w⁰ − x*‖²/(2sT), too: a descent step gains more than its gradient's share of the gap."""
    found = sublinear_rate(fc.FedGD(stepsize=s), CONVEX, points="after")
    assert found.distance <= NEAR / (2 * s)
    assert found.distance <= sublinear_rate(fc.FedGD(stepsize=s), CONVEX).distance * NEAR


@pytest.mark.parametrize(("kind", "name"), [(fc.FedDyn, "alpha"), (fc.FedPD, "eta")])
def test_feddyn_and_fedpd(kind, name):
    """Both theorems have (α‖w⁰ − x*‖² + ζ*²/α)/(2T), for α = 2L."""
    found = sublinear_rate(kind(**{name: F(2) if name == "alpha" else F(1, 2)}), CONVEX)
    assert found.distance + found.heterogeneity <= (1 + F(1, 4)) * NEAR


def test_drawn_clients():
    """`exact_rates.scaffoldconvexclients`: (‖w⁰ − x*‖² + 2(m/P)s²ζ*²)/(2sT)."""
    s, m, P = F(1, 8), 10, 2
    found = sublinear_rate(fc.Scaffold(stepsize=s), CONVEX, m, participation=Uniform(P))
    assert found.distance + found.heterogeneity <= (1 / (2 * s) + F(m, P) * s) * NEAR
    assert found.heterogeneity < F(m, P) * s


FEW = settings(max_examples=15, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip
NUMBERS = rationals(-3, 3, 9)


def convex_problem(data, m):
    """Clients a x²/2 − b x with curvatures from 0 to 1, at least one of them positive; the minimiser, and ζ*²."""
    a = [F(1), *(data.draw(rationals(0, 1, 9)) for _ in range(m - 1))]
    b = [data.draw(NUMBERS) for _ in a]
    problem = fc.Quadratic([np.array([[x]], dtype=object) for x in a], [np.array([x], dtype=object) for x in b])
    x = sum(b) / sum(a)
    return problem, a, x, sum((c * x - d) ** 2 for c, d in zip(a, b, strict=True)) / m


@FEW
@given(data=st.data(), method=st.sampled_from([
    fc.Scaffold(stepsize=F(1, 2), local_steps=3), fc.FedDyn(alpha=2), fc.DANE(mu=2), fc.FedPD(eta=F(1, 2)), MOMENTUM,
    *BIASED,
]))  # fmt: skip
def test_no_run_is_worse(data, method):
    found = rate_of(method)
    problem, a, x, spread = convex_problem(data, 3)
    play, start = rounds_of(method, problem, "exact"), data.draw(NUMBERS)
    state, total = play.start(play.arithmetic.array([start])), F(0)
    bounds = found.distance * (start - x) ** 2 + found.heterogeneity * spread
    for t in range(6):
        played = play.play(state)
        at = state.server if "server" in found.at else fractions_of(played.answers.points).mean(0)
        total += (fractions_of(at)[0] - x) ** 2 * sum(a) / (2 * len(a))
        state = play.advance(state)
        assert total <= bounds + (t + 1) * found.floor * spread
    assert (found.floor == 0) == (method not in BIASED)


@pytest.mark.parametrize("method", BIASED, ids=str)
def test_what_biased_methods_keep(method):
    """Beside ‖w⁰ − x*‖²/(2esT), or μ‖w⁰ − x*‖²/(2T), a floor, which some clients come near: and none less is proved."""
    found = rate_of(method)
    step = method.stepsize * method.local_steps if isinstance(method, fc.FedGD) else 1 / F(method.mu)
    assert 1 / (2 * step) <= found.distance <= NEAR / (2 * step)
    assert (found.at, found.heterogeneity) == ("the server's point", 0)
    earned, paid = found.function.prices
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, prices=(earned, paid * F(9, 10)))
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, prices=(earned * F(11, 10), paid))
    assert found.bound(100, 1, 2) == found.distance / 100 + 4 * found.floor
    assert "/T + " in repr(found)
    with pytest.raises(InvalidInput, match="biased"):
        sublinear_rate(method, CONVEX, points="after")


@pytest.mark.parametrize("points", ["before", "after"])
def test_momentum_needs_the_objective_s_value(points):
    """Heavy ball with s = β = ½: no federation that a worst case has over three rounds breaks the potential's bound."""
    found = rate_of(MOMENTUM, points=points)
    assert "F(server)" in str(found.function)
    assert found.distance < (F(3, 2) if points == "before" else 1) * NEAR
    assert found.heterogeneity == 0
    if points == "before":  # the mean of f over the points before the rounds
        for T in (1, 2, 3):
            worst = worst_case(MOMENTUM, CONVEX, rounds=T, metric="mean_gap")
            assert 0 < worst.lower <= worst.upper <= found.distance / T
    plain = dict(found.function.entries)
    del plain[WEIGHT]
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found.function, entries=plain)


@FEW
@given(data=st.data(), e=st.sampled_from([1, 3, 5]))
def test_no_run_is_worse_after_its_rounds(data, e):
    found = rate_of(fc.Scaffold(stepsize=F(1, 2), local_steps=e), points="after")
    problem, a, x, spread = convex_problem(data, 3)
    play, start = rounds_of(found.method, problem, "exact"), data.draw(NUMBERS)
    state, total = play.start(play.arithmetic.array([start])), F(0)
    for _ in range(6):
        state = play.advance(state)
        total += (fractions_of(state.server)[0] - x) ** 2 * sum(a) / (2 * len(a))
        assert total <= found.distance * (start - x) ** 2 + found.heterogeneity * spread


def no_expectation_is_worse(data, found):
    """Five rounds of one of two clients, all 32 sequences of draws."""
    problem, a, x, spread = convex_problem(data, 2)
    play, start = rounds_of(found.method, problem, "exact"), data.draw(NUMBERS)
    draws = [Draw(np.array([k]), np.ones(1, dtype=np.int64)) for k in range(2)]
    states, total = [play.start(play.arithmetic.array([start]))], F(0)
    for _ in range(5):
        gaps = [(fractions_of(state.server)[0] - x) ** 2 * sum(a) / 4 for state in states]
        total += sum(gaps) / len(gaps)
        states = [play.advance(state, draw) for state in states for draw in draws]
    assert total <= found.distance * (start - x) ** 2 + found.heterogeneity * spread


@FEW
@given(data=st.data())
def test_no_expectation_over_all_draws_is_worse(data):
    no_expectation_is_worse(data, rate_of(fc.Scaffold(stepsize=F(1, 8)), num_clients=2, participation=Uniform(1)))


@pytest.mark.parametrize(
    "method",
    [
        fc.FedGD(stepsize=F(1, 2)),
        fc.Scaffold(stepsize=F(1, 2), local_steps=2),
        fc.Scaffold(stepsize=F(1, 4), local_steps=4),
        fc.FedDyn(alpha=2),
        fc.FedDynOneGD(alpha=5),
        fc.DANE(mu=2),
        fc.FedLin(stepsize=F(1, 2), local_steps=3),
    ],
    ids=str,
)
def test_the_last_point(method):
    """No worse than the mean of all, up to 2 %; beside a slope of constant length that ends in a parabola."""
    found = rate_of(method, points="last")
    assert found.distance + found.heterogeneity <= (1 + F(1, 50)) * sum(
        getattr(rate_of(method), name) for name in ("distance", "heterogeneity")
    )
    assert found.lower <= found.distance <= found.lower * F(21, 10)
    assert slope_value(found, 300) >= float(found.lower) * 0.99
    assert slope_value(found, 300) <= float(found.distance)


@pytest.mark.parametrize("points", ["before", "after"])
@pytest.mark.parametrize("method", [fc.FedGD(stepsize=F(1, 2)), fc.Scaffold(stepsize=F(1, 4), local_steps=2)], ids=str)
def test_no_constant_before_the_distance_is_smaller_for_the_mean(method, points):
    found = rate_of(method, points=points)
    assert found.lower <= found.distance <= found.lower * NEAR
    assert float(found.lower) * 0.99 <= slope_value(found, 300) <= float(found.distance)


def slope_value(found, T):
    """T times what is measured, over ‖w⁰ − x*‖², by hand: f = max over slopes of at most 1 of (x − s/2)s, and s = 1."""
    e, s = getattr(found.solver, "steps", 1), float(getattr(found.solver, "stepsize", 0))
    move = e * s or 1 / float(found.method.proximal_weight)
    start = T * move * (2 if found.points == "last" else 1) + 1
    value = [start - t * move - 0.5 for t in range(T + 1)]
    assert min(value) >= 0.5  # the whole run is on the slope
    measured = {"before": sum(value[:T]) / T, "after": sum(value[1:]) / T, "last": value[T]}
    return T * measured[found.points] / start**2


@FEW
@given(data=st.data(), method=st.sampled_from([
    fc.Scaffold(stepsize=F(1, 2), local_steps=3), fc.FedDyn(alpha=2), fc.DANE(mu=2), fc.FedDynOneGD(alpha=3),
]))  # fmt: skip
def test_no_last_value_is_worse(data, method):
    found = rate_of(method, points="last")
    problem, a, x, spread = convex_problem(data, 3)
    play, start = rounds_of(method, problem, "exact"), data.draw(NUMBERS)
    state = play.start(play.arithmetic.array([start]))
    for t in range(8):
        at = state.server
        if "answers" in found.at:
            at = at + state.shared["h"] / method.alpha
        assert t * (fractions_of(at)[0] - x) ** 2 * sum(a) / (2 * len(a)) <= (
            found.distance * (start - x) ** 2 + found.heterogeneity * spread
        )
        state = play.advance(state)


@pytest.mark.parametrize("method", [fc.FedGD(stepsize=1), fc.FedDyn(alpha=2)])
def test_the_sign_of_a_margin_that_is_noise_does_not_matter(method, monkeypatch):
    """Where clients may have curvature 0 no proof of a last value has a margin, and the solver's is about ±1e-13."""
    usual = priced_functions.priced_proposal

    def with_noise(*arguments):
        found = usual(*arguments)
        return replace(found, margin=-1e-13) if found is not None and 0 < abs(found.margin) < 1e-9 else found

    monkeypatch.setattr(priced_functions, "priced_proposal", with_noise)
    assert sublinear_rate(method, CONVEX, points="last").distance > 0  # not the cached one


@pytest.mark.parametrize(("P", "alpha"), [(1, 20), (2, 20), (3, 4)])
def test_drawn_feddyn(P, alpha):
    """α/2, as everyone's: no constant is smaller. `feddyn.theorem2` needs α >= 25 L."""
    found = rate_of(fc.FedDyn(alpha=alpha), num_clients=4, participation=Uniform(P))
    assert F(alpha, 2) == found.lower <= found.distance <= F(alpha, 2) * (1 + F(1, 1000))
    one = rate_of(fc.FedDynOneGD(alpha=alpha), num_clients=4, participation=Uniform(P))
    assert one.lower <= one.distance


@FEW
@given(data=st.data(), method=st.sampled_from([fc.FedDyn(alpha=4), fc.FedDynOneGD(alpha=10)]))
def test_no_expectation_over_all_draws_is_worse_with_duals(data, method):
    found = rate_of(method, num_clients=2, participation=Uniform(1))
    assert found.at == "the server's point"
    no_expectation_is_worse(data, found)


def test_more_growth_is_rejected():
    found = rate_of(fc.FedGD(stepsize=F(1, 2)), points="last").function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, prices=(found.prices[0] * F(101, 100),))
    grown = [pair for pair in found.entries if pair[0][0].startswith("growing")]
    assert grown
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found, entries={**found.entries, **dict.fromkeys(grown, F(-1))})


def test_more_progress_and_a_longer_step_are_rejected():
    found = sublinear_rate(fc.Scaffold(stepsize=F(1, 2), local_steps=3), CONVEX).function
    assert replace(found).rate == 1
    with pytest.raises(ValueError, match="no proof"):
        replace(found, prices=(found.prices[0] * F(1001, 1000),))
    longer = sublinear_rate(fc.Scaffold(stepsize=F(3, 4), local_steps=3), CONVEX).function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, posed=longer.posed)
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found, entries={pair: -c for pair, c in found.entries.items()})


def test_skipped_communication_and_strongly_convex_clients():
    often, seldom = (sublinear_rate(fc.Scaffnew(stepsize=F(1, 2), probability=p), CONVEX) for p in (1, F(1, 3)))
    assert often.distance <= 1 * NEAR < seldom.distance + seldom.heterogeneity
    strongly = sublinear_rate(fc.FedGD(stepsize=F(1, 2)), SmoothStronglyConvex(F(1, 2), 1))
    assert strongly.distance <= NEAR  # convex clients, too


def test_a_bound_after_some_rounds():
    found = sublinear_rate(fc.FedGD(stepsize=1), CONVEX)
    assert found.bound(10, 2) == found.distance * F(4, 10)
    assert "/T" in repr(found)
    assert found.at in str(found).replace("\n ", "").replace("  ", " ")
    assert found.certificate.used
    for given_, words in (((0, 1), "rounds"), ((1, -1), "is no length"), ((1, 1, -1), "is no length")):
        with pytest.raises(InvalidInput, match=words):
            found.bound(*given_)


def test_the_weight_trades_one_constant_for_the_other():
    method = fc.Scaffold(stepsize=F(1, 2), local_steps=3)
    near, far = (sublinear_rate(method, CONVEX, weight=w) for w in (F(1, 100), 100))
    assert near.distance < far.distance
    assert near.heterogeneity > far.heterogeneity


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((fc.FedSplit(stepsize=1), CONVEX), "no quadratic potential"),  # its errors need not decrease
        ((fc.FedGD(stepsize=F(5, 2)), CONVEX), "no quadratic potential"),
        ((fc.FedPD(eta=1), CONVEX, 4, None, Uniform(2)), "has a biased fixed point"),
        ((fc.Scaffold(stepsize=F(1, 20), local_steps=17), CONVEX), "give at most 16"),
        ((fc.FedGD(stepsize=1), CONVEX, "any", None, None, 0), "is not positive"),
        ((fc.FedGD(stepsize=1), CONVEX, "any", None, None, 1, "later"), "is no place in a round"),
        ((fc.FedDyn(alpha=2), CONVEX, "any", None, None, 1, "after"), "is not analysed where"),
        ((fc.Scaffold(stepsize=F(1, 8)), CONVEX, 2, None, Uniform(1), 1, "after"), "is not analysed where"),
        ((fc.Scaffold(stepsize=F(1, 8)), CONVEX, 2, None, Uniform(1), 1, "last"), "where rounds are random"),
        ((fc.Scaffnew(stepsize=F(1, 2), probability=F(1, 2)), CONVEX, "any", None, None, 1, "last"), "are random"),
        ((fc.FedSplit(stepsize=1), CONVEX, "any", None, None, 1, "last"), "no"),
        (("FedGD", CONVEX), "is not a method"),
        ((fc.FedGD(stepsize=1), "convex"), "is not a class of functions"),
    ],
)
def test_what_is_not_analysed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        sublinear_rate(*arguments)
