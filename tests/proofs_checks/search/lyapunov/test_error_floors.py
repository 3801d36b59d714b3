"""Error floors against known ones, exact federations, and a program with every client and its noise."""

from dataclasses import replace
from fractions import Fraction as F
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from full_program import Clients
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.participation import Bernoulli, Uniform, Weighted
from fedconvex.proofs_checks import Quadratics, SmoothConvex, SmoothStronglyConvex, error_floor
from fedconvex.proofs_checks.symbolic.randomness import draws_of
from fedconvex.runs.rounds import rounds_of

pytestmark = pytest.mark.beyond_core  # takes seconds

CLASS = SmoothStronglyConvex(1, 4)
floor_of = cache(error_floor)
TIGHT = 1 + F(1, 10**4)


@pytest.mark.parametrize("count", ["any", 1, 2, 10])
@pytest.mark.parametrize(("s", "mu", "L"), [(F(1, 4), 1, 4), (F(1, 20), F(1, 2), 10)])
def test_the_floor_of_noisy_gradient_steps(count, s, mu, L):
    """s²σ²/(m(1 − (1 − sμ)²)): of Scaffold with one step, too."""
    floor = s**2 / (1 if count == "any" else count) / (1 - (1 - s * mu) ** 2)
    for method in (fc.FedGD(stepsize=s), fc.Scaffold(stepsize=s)):
        found = error_floor(method, SmoothStronglyConvex(mu, L), count)
        assert found.lower == floor <= found.upper <= floor * TIGHT
        assert found.tight


@pytest.mark.parametrize(("s", "mu", "L"), [(F(1, 4), 1, 4), (2, 1, 9), (F(1, 3), F(1, 2), 2)])
def test_the_floor_of_fedprox_is_that_of_the_theorem(s, mu, L):
    """`exact_rates.fedproxerrorfloor`, squared; some quadratics come near it."""
    known = (s * (L - mu)) ** 2 / F(4 * mu * L * (1 + s * mu) * (1 + s * L))
    found = error_floor(fc.FedProx(mu=1 / F(s)), SmoothStronglyConvex(mu, L), cause="heterogeneity")
    assert found.lower <= known * (1 + F(1, 10**12))
    assert known <= found.upper <= known * TIGHT
    assert known * F(95, 100) < found.lower


FEW = settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow],
               derandomize=True)  # fmt: skip


@FEW
@given(data=st.data(), method=st.sampled_from([
    fc.FedGD(stepsize=F(1, 8), local_steps=2), fc.FedGD(stepsize=F(1, 8), local_steps=4), fc.FedProx(mu=3),
]))  # fmt: skip
def test_no_fixed_point_is_further_away_than_what_is_proved(data, method):
    found = floor_of(method, CLASS, cause="heterogeneity")
    a = [data.draw(st.sampled_from([F(1), F(4), data.draw(rationals(1, 4, 9))])) for _ in range(3)]
    pulls = [data.draw(rationals(-3, 3, 9)) for _ in a]
    problem = fc.Quadratic([np.array([[x]], dtype=object) for x in a], [np.array([b], dtype=object) for b in pulls])
    minimiser = sum(pulls) / sum(a)
    spread = sum((x * minimiser - b) ** 2 for x, b in zip(a, pulls, strict=True)) / 3
    point = fc.fixed_point(method, problem, arithmetic="exact").point[0]
    assert (point - minimiser) ** 2 <= found.upper * spread


@pytest.mark.parametrize(
    "s", [F(1, 100), F(2, 21), F(1, 3), F(499, 1000), F(1, 2), F(501, 1000), F(13, 20), F(199, 300)]
)
def test_one_gradient_step_has_no_floor_of_heterogeneity(s):
    """The averaged step is one of f, whose distances contract by max(|1 − sμ|, |1 − sL|): for every s < 2/L."""
    found = error_floor(fc.FedGD(stepsize=s), SmoothStronglyConvex(1, 3), cause="heterogeneity")
    assert (found.lower, found.upper, found.tight) == (0, 0, True)
    assert 0 <= found.rate / max(abs(1 - s), abs(1 - 3 * s)) ** 2 - 1 < F(1, 10**6)
    two = error_floor(fc.FedGD(stepsize=s / 2, local_steps=2), SmoothStronglyConvex(1, 3), cause="heterogeneity")
    assert 0 < two.lower <= two.upper  # a second step has one


UNBIASED = [(fc.Scaffold(stepsize=F(1, 8), local_steps=2), CLASS), (fc.FedSplit(stepsize=F(1, 2)), CLASS),
            (fc.FedDyn(alpha=2), CLASS), (fc.FedLin(stepsize=F(1, 8), local_steps=2), CLASS),
            (fc.FedGD(stepsize=F(1, 4)), CLASS), (fc.FedProx(mu=3), Quadratics(2, 2)),
            (fc.FedGD(stepsize=F(1, 8), local_steps=3), Quadratics(2, 2))]  # fmt: skip


@pytest.mark.parametrize(("method", "clients"), UNBIASED, ids=lambda one: type(one).__name__)
def test_a_floor_of_zero_is_that_of_exact_fixed_points(method, clients):
    """On clients that differ, whose minimiser is another point than the start."""
    found = error_floor(method, clients, cause="heterogeneity")
    assert found.lower == found.upper == 0 <= found.rate < 1
    low, high = clients.lowest, clients.highest
    problem = fc.Quadratic([np.array([[x]], dtype=object) for x in (low, (low + high) / F(2), high)],
                           [np.array([b], dtype=object) for b in (F(5), F(-1), F(7, 3))])  # fmt: skip
    assert fc.fixed_point(method, problem, arithmetic="exact").bias_is_zero
    run = fc.simulate(method, problem, 120)
    errors = [float(x[0]) - float(F(5 - 1) + F(7, 3)) / float(3 * (low + high) / F(2)) for x in run.points]
    assert abs(errors[-1]) < 1e-6 * abs(errors[0])


SAMPLED = [(3, Uniform(1)), (3, Uniform(2)), (3, Weighted(2)), (3, Bernoulli(F(1, 2)))]


@cache
def linear_rounds(method, curvatures, participation):
    """The chance of each draw, and what its round does by NumPy: A to a state, B to the gradients at the minimiser."""
    m = len(curvatures)
    every = [*np.eye(m), np.zeros(m)]
    problems = [fc.Quadratic([[[float(a)]] for a in curvatures], [[b] for b in linear]) for linear in every]
    *pulled, free = (rounds_of(method, problem, "float") for problem in problems)
    first = free.start(np.zeros(1))
    zero = np.zeros(len(first.flat()))

    def after(rounds, flat, draw):
        return rounds.advance(first.with_values(flat), draw).flat()

    return [(float(chance), np.array([after(free, unit, draw) for unit in np.eye(len(zero))]).T,
             np.array([after(one, zero, draw) for one in pulled]).T)
            for chance, draw in draws_of(participation, m).every()]  # fmt: skip


def stationary(method, curvatures, participation, pulls=None):
    """E‖w − x*‖² after 400 rounds from the minimiser: with these gradients there, or with noise of size 1.

    With noise every round has gradients of its own at 0, independent between clients: methods of one gradient a round.
    The mean products of errors follow from those of the round before, and with gradients that stay from mean errors.
    """
    each = linear_rounds(method, curvatures, participation)
    n = len(each[0][1])
    step = np.zeros((n * n + n + 1, n * n + n + 1))
    products, errors, step[-1, -1] = slice(n * n), slice(n * n, -1), 1
    for chance, A, B in each:
        added = B if pulls is None else B @ np.array(pulls, dtype=float)[:, None]
        step[products, products] += chance * np.kron(A, A)
        step[products, -1] += chance * (added @ added.T).ravel()
        if pulls is not None:
            step[products, errors] += chance * (np.kron(A, added) + np.kron(added, A))
            step[errors, errors] += chance * A
            step[errors, -1] += chance * added.ravel()
    return np.linalg.matrix_power(step, 400)[0, -1]


@pytest.mark.parametrize(("m", "participation"), SAMPLED)
@pytest.mark.parametrize(
    "method", [fc.FedGD(stepsize=F(1, 8)), fc.FedGD(stepsize=F(1, 8), local_steps=2), fc.FedProx(mu=3)]
)
def test_floors_of_heterogeneity_where_some_take_part(method, m, participation):
    """Of clients of one curvature and of several, none is further away."""
    found = floor_of(method, CLASS, m, cause="heterogeneity", participation=participation)
    for curvatures in ((1, 1, 1), (1, 1, 4), (1, 4, 4), (1, 2, 3), (4, 4, 4)):
        for free in ((1, -1, 0), (2, -1, -1), (1, 1, -2)):
            size = sum(x * x for x in free) / m
            assert stationary(method, curvatures, participation, free) <= float(found.upper) * size * (1 + 1e-9)
    assert found.lower <= found.upper <= found.lower * F(4, 3)
    alike = max(stationary(method, (a,) * m, participation, (1, -1, 0)) / F(2, m) for a in (1, 4))
    assert alike <= float(found.lower) * (1 + 1e-9)


@pytest.mark.parametrize(("m", "participation"), SAMPLED)
@pytest.mark.parametrize("method", [fc.Scaffold(stepsize=F(1, 16)), fc.FedDynOneGD(alpha=12)])
def test_floors_of_noise_where_some_take_part(method, m, participation):
    found = floor_of(method, CLASS, m, participation=participation)
    alike = max(stationary(method, (a,) * m, participation) for a in np.linspace(1, 4, 9))
    assert float(found.lower) == pytest.approx(alike, rel=1e-6)
    for curvatures in ((1, 1, 4), (1, 4, 4), (1, 2, 3)):
        assert stationary(method, curvatures, participation) <= float(found.upper)


def scaffold(w, c, s, e, gradients):
    """One round, written out; `gradients(i, y)` are the clients' in step i. Option II and server stepsize 1."""
    m = len(c)
    mean = sum(c) / m
    y = [w] * m
    for i in range(e):
        y = [y[k] - s * (g - c[k] + mean) for k, g in enumerate(gradients(i, y))]
    return sum(y) / m, [c[k] - mean + (w - y[k]) / (e * s) for k in range(m)]


def energy(function, w, c, product):
    """V of the server's error and those of the c_k."""
    m, entries = len(c), {pair: float(x) if isinstance(w, np.ndarray) else x for pair, x in function.entries.items()}
    mean = sum(c) / m
    [of_w] = [x for pair, x in entries.items() if pair[0][0] == "mean"]
    [of_c] = [x for pair, x in entries.items() if pair[0][0] == "deviation"]
    return of_w * product(w, w) + of_c / m * sum(product(u - mean, u - mean) for u in c)


@pytest.mark.parametrize(("m", "e"), [(2, 2), (3, 2), (4, 3)])
def test_expectations_on_quadratics_are_at_most_what_is_proved(m, e):
    """Noise of variance 1, of every client and step alone: its squares are added exactly."""
    s, rng = F(1, 8), np.random.default_rng(m)
    found = error_floor(fc.Scaffold(stepsize=s, local_steps=e), CLASS, m).function

    def V(w, c):
        return energy(found, w, c, lambda u, v: u * v)

    shares = [F(1, m), 1 - F(1, m)] * e
    price = sum(p * share for p, share in zip(found.prices, shares, strict=True))
    for _ in range(10):
        a = [F(int(x), 4) for x in rng.integers(4, 17, m)]
        w, c = F(int(rng.integers(-9, 10))), [F(int(x)) for x in rng.integers(-9, 10, m)]

        def gradients(step, y, noisy=None, a=a):
            return [a[k] * y[k] + ((step, k) == noisy) for k in range(m)]

        total = V(*scaffold(w, c, s, e, gradients))
        for noisy in product(range(e), range(m)):
            total += V(*scaffold(F(0), [F(0)] * m, s, e, partial(gradients, noisy=noisy)))
        assert total <= found.rate * V(w, c) + price


def test_the_program_with_every_client_and_its_noise_agrees():
    """Two smooth clients in one Gram matrix: E V⁺ = rate·V + price at worst, and no more."""
    s, e = 1 / 8, 2
    found = error_floor(fc.Scaffold(stepsize=F(1, 8), local_steps=e), CLASS, 2).function
    worst = Clients(2, 1.0, 4.0, True, size=30)
    pulls, conditions, noises = worst.pulls, [], []
    half = worst.new()
    c = [half, -half]  # errors

    def gradients(step, y):
        exact = [worst.look(k, y[k])[0] for k in range(2)]
        before = [worst.w, half, *pulls, *(g for known in worst.known for _, g, _ in known), *noises]
        made = [worst.new() for _ in y]
        pairs = [*product(before, made), tuple(made)]
        conditions.extend(lambda inner, u=u, v=v: inner(u, v) == 0 for u, v in pairs)
        noises.extend(made)
        return [g - pull + xi for g, pull, xi in zip(exact, pulls, made, strict=True)]

    w_after, c_after = scaffold(worst.w, c, s, e, gradients)
    prices = list(map(float, found.prices))

    def measure(inner):
        total = float(found.rate) * energy(found, worst.w, c, inner)
        for i in range(e):
            one, two = noises[2 * i : 2 * i + 2]
            mean, deviation = (one + two) / 2, (one - two) / 2
            total = total + prices[2 * i] * inner(mean, mean) + prices[2 * i + 1] * inner(deviation, deviation)
        return total

    found_worst = worst.worst(lambda inner: energy(found, w_after, c_after, inner), measure, conditions)
    assert 0.999 < found_worst <= 1 + 1e-5


def test_smaller_prices_and_rates_are_rejected():
    for cause, method in (("noise", fc.Scaffold(stepsize=F(1, 8), local_steps=2)), ("heterogeneity", fc.FedProx(mu=3))):
        found = floor_of(method, CLASS, cause=cause).function
        assert replace(found).prices == found.prices
        with pytest.raises(ValueError, match="no proof"):
            replace(found, prices=tuple(p * F(99, 100) for p in found.prices))
        with pytest.raises(ValueError, match="no proof"):
            replace(found, rate=found.rate * F(99, 100))
        with pytest.raises(ValueError, match="no Lyapunov function"):  # it no longer bounds the error
            replace(found, entries={pair: c / 2 for pair, c in found.entries.items()})
        with pytest.raises(ValueError, match="no Lyapunov function"):
            replace(found, prices=tuple(-p for p in found.prices))


def test_independent_noise_of_many_clients_costs_less():
    floors = [error_floor(fc.Scaffold(stepsize=F(1, 8), local_steps=2), CLASS, m).upper for m in (1, 4, 100)]
    assert floors[0] > floors[1] > floors[2]
    assert error_floor(fc.Scaffold(stepsize=F(1, 8), local_steps=2), CLASS).upper >= floors[1]


def test_noise_where_communication_is_skipped():
    """At most (s²σ²)/(1 − ρ), Mishchenko et al. (2022), Theorem 5.5 with noise: ρ = max((1 − sμ)², 1 − p²)."""
    found = error_floor(fc.Scaffnew(stepsize=F(1, 4), probability=F(1, 2)), CLASS, 10)
    assert found.lower <= found.upper < F(1, 16) / F(1, 4)
    assert "model_k" in str(found)


def test_the_result_shows_itself():
    found = floor_of(fc.FedProx(mu=3), CLASS, cause="heterogeneity")
    assert "ζ*²" in repr(found)
    assert found.certificate.used
    assert max(map(len, str(found).splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((fc.FedDyn(alpha=2), CLASS), "evaluates no gradients in steps"),
        ((fc.Scaffold(stepsize=F(1, 9), local_steps=9), CLASS), "give at most 8"),
        (
            (
                fc.FedSplit(stepsize=F(1, 2)),
                CLASS,
                "any",
                fc.GradientDescent(steps=1, stepsize=F(1, 8)),
                "heterogeneity",
            ),
            "is biased and has a memory",
        ),
        ((fc.FedGD(stepsize=F(1, 2)), CLASS, "any", None, "heterogeneity"), "was not proved to contract"),
        ((fc.Scaffold(stepsize=F(1, 2)), CLASS, "any", None, "heterogeneity"), "was not proved to contract"),
        ((fc.FedProx(mu=1), CLASS, 1, None, "heterogeneity"), "is not heterogeneous"),
        ((fc.FedGD(stepsize=1), CLASS), "was not proved to contract"),
        ((fc.FedGD(stepsize=F(1, 4)), SmoothConvex(4)), "give SmoothStronglyConvex"),
        ((fc.FedGD(stepsize=F(1, 4)), CLASS, "any", None, "noises"), "did you mean noise"),
        ((fc.FedGD(stepsize=F(1, 4)), CLASS, "any", None, 3), "is no cause"),
        (("FedGD", CLASS), "is not a method"),
        ((fc.FedGD(stepsize=F(1, 8), local_steps=2), CLASS), "has a biased fixed point"),
    ],
)
def test_what_is_not_analysed_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        error_floor(*arguments)


def test_clients_of_one_curvature():
    found = error_floor(fc.FedGD(stepsize=F(1, 4)), Quadratics(2, 2))
    assert found.lower == F(1, 16) / (1 - F(1, 4)) <= found.upper <= found.lower * TIGHT
