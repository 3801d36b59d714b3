"""Rates on clients that need not be convex: known constants, exact and hand-written runs, slow functions."""

import itertools
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
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw
from fedconvex.proofs_checks import SmoothConvex, WeaklyConvex, sublinear_rate, worst_case
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

SMOOTH = WeaklyConvex(1, 1)
rate_of = cache(partial(sublinear_rate, clients=SMOOTH))
METHODS = [
    fc.FedGD(stepsize=1), fc.FedGD(stepsize=F(1, 4), local_steps=3), fc.FedProx(mu=3), fc.DANE(mu=4),
    fc.Scaffold(stepsize=F(1, 4), local_steps=2), fc.Scaffold(stepsize=F(1, 10), local_steps=4), fc.FedDyn(alpha=4),
    fc.FedDynOneGD(alpha=5), fc.FedPD(eta=F(1, 4)), fc.FedLin(stepsize=F(1, 10), local_steps=3),
]  # fmt: skip
REMOVE_DRIFT = METHODS[3:]
FEW = settings(max_examples=20, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip
NUMBERS = rationals(-3, 3, 9)


@pytest.mark.parametrize("s", [F(1, 4), F(1, 2), F(1)])
def test_gradient_descent(s):
    """2L(f(w⁰) − f*)/(1 + (T − 1)·sL(4 − sL)/2), Abbaszadehpeivasti, de Klerk and Zamani (2022): the best possible."""
    found = rate_of(fc.FedGD(stepsize=s))
    for T in (1, 2, 5, 100):
        exact = 2 / (1 + (T - 1) * s * (4 - s) / 2)
        assert exact <= found.bound(T, 1) <= exact * (1 + F(1, 1000))
        assert 1 / found.slowest.gap(T) == exact
    assert found.floor == found.heterogeneity == 0
    assert found.tight


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_what_is_proved_is_not_below_what_a_function_shows(method):
    found = rate_of(method)
    assert 0 < found.lower <= found.gap <= found.lower * F(3, 2)
    for T in (1, 2, 10, 200):
        assert found.bound(T, found.slowest.gap(T)) >= 1
    assert 200 / found.slowest.gap(200) >= found.lower * F(98, 100)  # its limit
    assert (found.floor == 0) == (method in [METHODS[0], *REMOVE_DRIFT])


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_slow_function_keeps_its_gradient_in_a_simulation(method):
    found, T = rate_of(method), 12
    problem = found.federation(T)
    points = fc.simulate(found.method, problem, rounds=T - 1, x0=[0.0]).points
    if found.at != "the server's point":
        pytest.fail("the server's points are not where the gradient is measured")
    assert np.allclose([problem.gradient(x)[0] for x in points], 1, atol=1e-9)
    least = min(problem.value(np.array([x])) for x in np.linspace(points[-1][0] - 8, points[0][0], 101))
    assert problem.value(points[0]) - least <= float(found.slowest.gap(T)) + 1e-9


@pytest.mark.parametrize("method", [fc.FedGD(stepsize=F(1, 2)), fc.FedGD(stepsize=F(1, 4), local_steps=2)], ids=str)
def test_the_slow_function_exactly(method):
    """By gradient steps on f′, a piecewise linear function through the points, between which it has a dent."""
    slow = rate_of(method).slowest
    points, known = slow.played(6)
    corners = sorted(known)

    def slope(x):
        a = max(c for c in corners if c <= x)
        b = min((c for c in corners if c > a), default=a)
        if a in (x, b):
            return known[a]
        return max(known[a] - (x - a), known[b] - (b - x))

    x = points[0]
    for p in points[:-1]:
        assert x == p
        assert slope(x) == 1
        for _ in range(method.local_steps):
            x = x - slow.solver.stepsize * slope(x)
    # the area under f′ between two points, by the trapezoids of a fine grid through all corners and turning points
    turns = [(a + b + known[a] - known[b]) / 2 for a, b in itertools.pairwise(corners)]
    grid = sorted(c for c in [*corners, *turns] if points[-3] <= c <= points[-4])
    area = sum((slope(a) + slope(b)) / 2 * (b - a) for a, b in itertools.pairwise(grid))
    assert to_fraction(area) == slow.decrease


def first_gradient(found):
    """How much of ‖∇f(w⁰)‖² the potential counts at the start."""
    return found.function.entries[found.descent.of_gradient] / found.function.prices[0]


def nonconvex_problem(data, m):
    """Clients a x²/2 − b x with curvatures from −1 to 1 whose mean is positive."""
    a = [data.draw(rationals(-1, 1, 9)) for _ in range(m - 1)]
    a.append(F(1))
    while sum(a) <= 0:
        a[a.index(min(a))] += F(1, 2)
    b = [data.draw(NUMBERS) for _ in a]
    problem = fc.Quadratic([np.array([[x]], dtype=object) for x in a], [np.array([x], dtype=object) for x in b])
    return problem, a, b


@FEW
@given(data=st.data(), method=st.sampled_from(METHODS))
def test_no_run_is_worse(data, method):
    """The sum of all ‖∇f‖² is at most what V at the start and heterogeneity pay, exactly."""
    found = rate_of(method)
    problem, a, b = nonconvex_problem(data, 3)
    play, start = rounds_of(method, problem, "exact"), data.draw(NUMBERS)
    state, total, floor = play.start(play.arithmetic.array([start])), F(0), F(0)
    H, p = sum(a) / 3, sum(b) / 3
    paid = found.gap * (H * start - p) ** 2 / (2 * H) + first_gradient(found) * (H * start - p) ** 2
    for t in range(8):
        x = fractions_of(state.server)[0]
        spread = sum((c * x - d - H * x + p) ** 2 for c, d in zip(a, b, strict=True)) / 3
        paid += found.heterogeneity * spread * (t == 0)
        floor += found.floor * spread
        total += (H * x - p) ** 2
        assert total <= paid + floor
        state = play.advance(state)


@FEW
@given(data=st.data(), p=st.sampled_from([F(1, 4), F(1, 2)]))
def test_no_expectation_over_all_coins_is_worse(data, p):
    """Scaffnew: every sequence of rounds with and without communication, exactly."""
    found = rate_of(fc.Scaffnew(stepsize=F(1, 50) * p, probability=p))
    problem, a, b = nonconvex_problem(data, 3)
    play, start = rounds_of(found.method, problem, "exact"), data.draw(NUMBERS)
    H, q = sum(a) / 3, sum(b) / 3
    paid = found.gap * (H * start - q) ** 2 / (2 * H) + first_gradient(found) * (H * start - q) ** 2
    ways, total = [(F(1), play.start(play.arithmetic.array([start])))], F(0)
    for t in range(6):
        for chance, state in ways:
            x = fractions_of(state.server)[0]
            spread = sum((c * x - d - H * x + q) ** 2 for c, d in zip(a, b, strict=True)) / 3
            paid += chance * spread * (found.floor + found.heterogeneity * (t == 0))
            total += chance * (H * x - q) ** 2
        assert total <= paid
        ways = [(chance * likely, play.advance(state, Draw(communicates=yes)))
                for chance, state in ways for likely, yes in ((p, True), (1 - p, False))]  # fmt: skip
    assert found.lower == 0 < found.gap < 53 / p
    with pytest.raises(ValueError, match="no proof"):
        replace(found.function, prices=tuple(c * F(21, 20) for c in found.function.prices))


def test_scaffold_by_hand_on_waves():
    """SCAFFOLD written out here, on f_k(x) = mean of sines with curvatures up to 1: 200 federations, 30 rounds each."""
    rng = np.random.default_rng(3)
    for s, e in ((F(1, 4), 2), (F(1, 10), 4)):
        found, m = rate_of(fc.Scaffold(stepsize=s, local_steps=e)), 4
        for _ in range(100):
            size, phase = rng.uniform(-1, 1, (2, m, 1)), rng.uniform(0, 6, (m, 1))
            size, frequency = size[0], rng.uniform(0.2, 1, (m, 1))
            size = size / np.maximum(1, np.abs(size))

            def gradient(x, size=size, phase=phase, frequency=frequency):  # of size/frequency² · sin
                return size / frequency * np.cos(frequency * x + phase)

            grid = np.linspace(-60, 60, 20_001)
            values = np.mean(size / frequency**2 * np.sin(frequency * grid + phase), 0)
            w, c = np.array([[rng.uniform(-3, 3)]]), np.zeros((m, 1))
            gap = np.mean(size / frequency**2 * np.sin(frequency * w + phase)) - values.min() + 1e-3
            spread, norms = np.var(gradient(w)), []
            for _ in range(30):
                norms.append(np.mean(gradient(w)) ** 2)
                y = np.repeat(w, m, 0)
                for _ in range(e):
                    y = y - float(s) * (gradient(y) - c + c.mean())
                c = c - c.mean() + (w - y) / float(e * s)
                w = y.mean(keepdims=True)
                assert min(norms) <= float(found.bound(len(norms), F(gap), F(np.sqrt(spread)))) + 1e-9
                paid = float(found.gap) * gap + float(found.heterogeneity) * spread
                assert sum(norms) <= paid + float(first_gradient(found)) * norms[0] + 1e-9


@pytest.mark.parametrize("s", [F(1, 2), F(1)])
def test_beside_a_program_of_several_rounds(s):
    """`worst_case` poses all rounds at once; the worst mean is below what is proved here, and above the least."""
    method = fc.FedGD(stepsize=s)
    found = rate_of(method)
    for T in (2, 3):
        worst = worst_case(method, SMOOTH, rounds=T, metric="mean_gradient_norm")
        assert worst.lower <= (found.gap + 2 * first_gradient(found)) / T
        assert worst.upper >= found.bound(T, 1) * F(999, 1000)  # the mean is at least the least


@pytest.mark.parametrize("method", [*METHODS[4:6], fc.Scaffold(stepsize=F(1, 100), local_steps=2)], ids=str)
def test_gradients_above_the_bound_contradict_the_potential(method):
    """earned·Σ g_t + last·g_{T−1} <= weight·gap + first·g_0, g_0 <= 2L·gap: the first gradient may be large."""
    found = rate_of(method)
    V, earned = found.function, found.function.prices[0]
    weight, first = V.entries[((VALUE, 0), (VALUE, 0))], V.entries[found.descent.of_gradient]
    last = earned * (1 - found.credit) + min(first, earned)
    for T in (2, 3, 10, 100, 1000):
        for share in (0, F(1, 2), 1):  # of the first gradient between the bound and the most that it can be
            least = found.bound(T, 1) * F(1001, 1000)
            g0 = least + share * (2 - least)
            if least < 2:
                assert earned * (g0 + (T - 2) * least) + last * least > weight + first * g0
    large = first > earned  # then another gradient counts for less than the first one
    assert large == (found.again > 0) == (method != METHODS[4])
    assert found.again == max(0, first / earned - 1)


def test_more_progress_and_a_longer_step_are_rejected():
    rate = rate_of(fc.Scaffold(stepsize=F(1, 4), local_steps=2))
    found = rate.function
    assert replace(found).rate == 1
    with pytest.raises(ValueError, match="no proof"):
        replace(found, prices=(found.prices[0] * F(102, 100), *found.prices[1:]))
    longer = rate_of(fc.Scaffold(stepsize=F(3, 10), local_steps=2)).function
    with pytest.raises(ValueError, match="no proof"):
        replace(found, posed=replace(longer.posed, sizes=found.posed.sizes))
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found, entries={pair: -c for pair, c in found.entries.items()})
    gradient = rate.descent.of_gradient
    with pytest.raises(ValueError, match="no Lyapunov function"):  # less than f(p) − inf f is worth
        replace(found, entries={**found.entries, gradient: -F(51, 100)})
    floor = rate_of(fc.FedProx(mu=3)).function
    with pytest.raises(ValueError, match="no proof"):
        replace(floor, prices=(floor.prices[0], F(0)))


def test_impossible_patterns_are_no_functions():
    slow = rate_of(fc.FedGD(stepsize=F(1, 4), local_steps=2)).slowest
    assert replace(slow, pattern=(F(1), F(1, 2))).decrease is None  # f′ cannot fall by 1/2 within 1/4
    assert replace(slow, pattern=(F(2), F(2))).decrease is None  # at p it is 1
    with pytest.raises(ValueError, match="do not have such a function"):
        replace(slow, clients=WeaklyConvex(F(1, 100), F(1, 10))).gap(3)


def test_less_nonconvex_clients_descend_faster():
    method = fc.FedProx(mu=3)
    some, none = (sublinear_rate(method, WeaklyConvex(x, 1)) for x in (F(1, 4), F(1, 1000)))
    assert none.gap < some.gap < rate_of(method).gap
    assert none.lower < some.lower < rate_of(method).lower


@pytest.mark.parametrize("L", [F(1, 1000), F(100), F(10**6)])
def test_constants_scale_with_the_unit_of_function_values(L):
    """With L·F in the place of F, and steps that are L times as short, the same run: ‖∇f‖² is L² times as large."""
    method, scaled = (fc.Scaffold(stepsize=1 / (4 * x), local_steps=2) for x in (F(1), L))
    one, other = rate_of(method), sublinear_rate(scaled, WeaklyConvex(L, L))
    assert other.gap == pytest.approx(L * one.gap, rel=1e-2)
    assert other.lower == L * one.lower
    assert other.floor <= F(1, 10**5)  # rounding may take that


def test_one_client_has_no_heterogeneity():
    found = sublinear_rate(fc.Scaffold(stepsize=F(1, 4), local_steps=2), SMOOTH, 1)
    assert found.heterogeneity == found.floor == 0
    assert found.federation(3).num_clients == 1
    assert found.gap <= rate_of(fc.Scaffold(stepsize=F(1, 4), local_steps=2)).gap * (1 + F(1, 1000))


def test_the_weight_trades_the_rate_for_the_floor():
    low, high = (sublinear_rate(fc.FedGD(stepsize=F(1, 4), local_steps=3), SMOOTH, weight=w) for w in (F(1, 20), 20))
    assert low.gap < high.gap
    assert low.floor > high.floor


def test_inexact_answers():
    exact, inexact = rate_of(fc.DANE(mu=4)), rate_of(fc.DANE(mu=4), local_solver=fc.ToInexactness(gamma=F(1, 10)))
    assert exact.gap < inexact.gap
    assert exact.lower == inexact.lower


def test_a_bound_in_words():
    found = rate_of(fc.Scaffold(stepsize=F(1, 4), local_steps=2))
    assert found.bound(1000, 1) < found.bound(10, 1) <= 2
    assert found.bound(10, 1) < found.bound(10, 1, 1)
    assert "‖∇f‖²" in repr(found)
    assert "server's point" in str(found)
    assert found.certificate.used
    for given_, words in (((0, 1), "rounds"), ((1, -1), "is negative"), ((1, 1, -1), "is negative")):
        with pytest.raises(InvalidInput, match=words):
            found.bound(*given_)
    with pytest.raises(InvalidInput, match="rounds"):
        found.federation(0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((fc.FedSplit(stepsize=F(1, 5)), SMOOTH), "no potential"),
        ((fc.FedGD(stepsize=F(5, 2)), SMOOTH), "no potential"),
        ((fc.FedProx(mu=1), SMOOTH), "give a larger weight"),
        ((fc.Scaffold(stepsize=F(1, 20), local_steps=17), SMOOTH), "give at most 16"),
        ((fc.FedGD(stepsize=1), SMOOTH, "any", None, None, 0), "is not positive"),
        ((fc.FedGD(stepsize=1), SMOOTH, "any", None, None, 1, "after"), "is for convex clients"),
        ((fc.Scaffnew(stepsize=F(1, 8), probability=F(1, 2)), SMOOTH), "has no potential"),
    ],
)
def test_what_is_not_analysed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        sublinear_rate(*arguments)


def test_convex_clients_without_curvature_below_0_have_a_rate_of_values():
    assert sublinear_rate(fc.FedGD(stepsize=1), WeaklyConvex(0, 1)).distance <= sublinear_rate(
        fc.FedGD(stepsize=1), SmoothConvex(1)
    ).distance * (1 + F(1, 10**5))
