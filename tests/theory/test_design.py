"""Design calculators by certificate and by brute force: optimal μ, thresholds, least numbers of devices and rounds."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import rho_by_hand
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rho_by_hand import ball, some_mu_decreases
from scipy.optimize import minimize_scalar

from fedconvex.errors import InvalidInput
from fedconvex.statements import Sign
from fedconvex.theory import feddyn, fedprox, fedsplit, nesterov

BITS = 600
TINY = Fraction(1, 10**25)
SHARPNESS = flint.arb(2) ** -90
positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=10**4)
nonnegative = st.one_of(st.just(Fraction(0)), positive)
dissimilarity = st.fractions(min_value=1, max_value=4, max_denominator=100)
inexactness = st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=1, max_denominator=200))
devices = st.one_of(st.sampled_from([2, 3, 8, 18, 50]), st.integers(1, 4000))


def in_balls(function: Callable[..., Any], mu: Any, at: dict[str, Any]) -> flint.arb:
    """ρ or its slope, with 600 bits."""
    with flint.ctx.workprec(BITS):
        numbers = {n: v if n == "K" else ball(v) for n, v in at.items()}
        mu = mu if isinstance(mu, flint.arb) else ball(mu)
        return function(mu, **numbers, root=flint.arb(2 * at["K"]).sqrt())


def is_the_best(mu: Any, at: dict[str, Any]) -> bool:
    """Whether ρ rises just before and falls just after; the only place where it does, as ρ has one maximum."""
    with flint.ctx.workprec(BITS):
        room = (mu - ball(at["L_minus"])) * SHARPNESS
        return bool(in_balls(rho_by_hand.slope, mu - room, at) > 0 > in_balls(rho_by_hand.slope, mu + room, at))


def is_the_threshold(mu: Any, at: dict[str, Any]) -> bool:
    with flint.ctx.workprec(BITS):
        room = (mu - ball(at["L_minus"])) * SHARPNESS
        below, above = mu - room, mu + room
        return bool(in_balls(rho_by_hand.rho, below, at) < 0 < in_balls(rho_by_hand.rho, above, at))


@given(L=positive, L_minus=nonnegative, B=dissimilarity, gamma=inexactness, K=devices)
@settings(max_examples=150)
def test_best_mu_and_mu_range(L: Fraction, L_minus: Fraction, B: Fraction, gamma: Fraction, K: int) -> None:
    at = {"L": L, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    best, start = fedprox.best_mu(**at), fedprox.mu_range(**at)
    if not some_mu_decreases(B, gamma, K):
        assert best is start is None
        return
    assert best.mu.rel_accuracy_bits() > 100
    assert is_the_best(best.mu, at)
    assert is_the_threshold(start, at)
    assert best.mu > start
    with flint.ctx.workprec(BITS):
        top = in_balls(rho_by_hand.rho, best.mu.mid(), at)
        assert best.rho.overlaps(top)
        assert best.rho > 0
        assert best.rho.rel_accuracy_bits() > 60
        for factor in (Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), 2):
            elsewhere = ball(L_minus) + (best.mu - ball(L_minus)) * ball(factor)
            assert in_balls(rho_by_hand.rho, elsewhere, at) < best.rho
            assert not is_the_best(elsewhere, at)
            assert not is_the_threshold(ball(L_minus) + (start - ball(L_minus)) * ball(factor), at)


@pytest.mark.parametrize("L_minus", [0, Fraction(1, 4), 3])
@pytest.mark.parametrize(("B", "gamma", "K"), [(1, 0, 10), (Fraction(6, 5), Fraction(1, 20), 40), (3, 0, 100)])
def test_signs_beside_the_threshold(L_minus: Any, B: Any, gamma: Any, K: int) -> None:
    """The project's own certified signs, with rational numbers 1e-25 to either side."""
    at = {"L": 1, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    start = fraction_of(fedprox.mu_range(**at))
    assert fedprox.rho.sign(mu=start * (1 - TINY), **at) is Sign.NEGATIVE
    assert fedprox.rho.sign(mu=start * (1 + TINY), **at) is Sign.POSITIVE


@pytest.mark.parametrize("L_minus", [0.0, 0.25, 3.0])
@pytest.mark.parametrize(("B", "gamma", "K"), [(1.0, 0.0, 10), (1.2, 0.05, 40), (3.0, 0.0, 100)])
def test_best_mu_against_a_search(L_minus: float, B: float, gamma: float, K: int) -> None:
    at = {"L": 1.0, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    start = float(fedprox.mu_range(**at))

    def loss(logarithm: float) -> float:
        return -fedprox.rho(mu=L_minus + (start - L_minus) * math.exp(logarithm), **at)

    found = minimize_scalar(loss, bounds=(0, 5), method="bounded", options={"xatol": 1e-10})
    best = fedprox.best_mu(**at)
    assert L_minus + (start - L_minus) * math.exp(found.x) == pytest.approx(float(best.mu), rel=1e-5)
    assert -found.fun == pytest.approx(float(best.rho), rel=1e-10)
    grid = np.geomspace(start * 1.0001, start * 1e3, 20001)
    values = fedprox.rho(mu=grid, **at)
    assert values.max() <= float(best.rho) * (1 + 1e-12)
    assert grid[values.argmax()] == pytest.approx(float(best.mu), rel=1e-3)
    assert (fedprox.rho(mu=np.linspace(L_minus + 1e-3, start * 0.9999, 1000), **at) < 0).all()


def fraction_of(number: flint.arb) -> Fraction:
    mantissa, exponent = (int(part) for part in number.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def test_balls_in_balls_out() -> None:
    """Wider arguments give wider answers that contain the narrow ones; nothing is promised of what is not known."""
    at = {"L": 1, "L_minus": Fraction(1, 2), "B": Fraction(5, 4), "gamma": 0, "K": 30}
    exact = fedprox.best_mu(**at), fedprox.mu_range(**at)
    wide = {n: flint.arb(flint.fmpq(v), 1e-4) if n in ("L", "L_minus") else v for n, v in at.items() if n != "L_minus"}
    wide["L_minus"] = flint.arb(0.5, 1e-4)
    best, start = fedprox.best_mu(**wide), fedprox.mu_range(**wide)
    assert best.mu.contains(exact[0].mu)
    assert best.rho.contains(exact[0].rho)
    assert start.contains(exact[1])
    assert best.mu.rad() > 1e-6
    with pytest.raises(InvalidInput, match="leave a sign undecided"):
        fedprox.best_mu(**{**at, "B": flint.arb(3.875, 0.25)})


@given(B=dissimilarity, gamma=inexactness, K=devices)
def test_can_decrease(B: Fraction, gamma: Fraction, K: int) -> None:
    sign = fedprox.can_decrease(B=B, gamma=gamma, K=K)
    assert (sign is Sign.POSITIVE) == some_mu_decreases(B, gamma, K)
    room = 1 - gamma * B
    vanishes = room >= 0 and room**2 * K == 2 * (B * (1 + gamma)) ** 2
    assert (sign is Sign.ZERO) == vanishes


@pytest.mark.parametrize(("B", "K"), [(1, 2), (2, 8), (3, 18), (50, 5000)])
def test_no_slack_at_all(B: Any, K: Any) -> None:
    assert fedprox.slack(B=Fraction(B), gamma=0, K=K) == 0
    assert fedprox.can_decrease(B=B, gamma=0, K=K) is Sign.ZERO
    assert fedprox.can_decrease(B=B, gamma=0, K=K + 1) is Sign.POSITIVE
    assert fedprox.can_decrease(B=B + TINY**4, gamma=0, K=K) is Sign.NEGATIVE
    assert fedprox.best_mu(L=1, L_minus=1, B=B, gamma=0, K=K) is None
    assert fedprox.mu_range(L=1, L_minus=0, B=B, gamma=0, K=K) is None
    assert fedprox.smallest_K(B=B, gamma=0) == K + 1


@given(B=dissimilarity, gamma=inexactness)
def test_smallest_number_for_the_best_mu(B: Fraction, gamma: Fraction) -> None:
    """K > 2B²(1 + γ)²/(1 − γB)², in rational numbers."""
    room = 1 - gamma * B
    expected = None if room <= 0 else max(1, math.floor(2 * (B * (1 + gamma)) ** 2 / room**2) + 1)
    assert fedprox.smallest_K(B=B, gamma=gamma) == expected


@given(mu=positive, L=nonnegative, L_minus=nonnegative, B=dissimilarity, gamma=inexactness)
def test_smallest_number_for_a_mu(mu: Fraction, L: Fraction, L_minus: Fraction, B: Fraction, gamma: Fraction) -> None:
    at = {"L": L, "L_minus": L_minus, "B": B, "gamma": gamma}
    mu += L_minus
    answer = fedprox.smallest_K(mu=mu, **at)
    c, x = B * (1 + gamma), mu - L_minus
    limit = (1 - gamma * B) / mu - L * c / (mu * x) - L * c * c / (2 * x * x)
    assert (answer is None) == (limit <= 0)
    if answer is None:
        return
    assert in_balls(rho_by_hand.rho, mu, {**at, "K": answer}) > 0
    if answer > 1:
        assert in_balls(rho_by_hand.rho, mu, {**at, "K": answer - 1}) < 1e-100  # 0, or less
    if 1 < answer <= 60:
        assert all(in_balls(rho_by_hand.rho, mu, {**at, "K": K}) < 1e-100 for K in range(1, answer))


def test_smallest_number_at_an_exact_zero() -> None:
    """With ρ = 0 exactly at K = 18, a device more is needed, and with a tiny bit less of L none."""
    at = {"mu": Fraction(50), "L_minus": Fraction(1, 3), "B": Fraction(6, 5), "gamma": Fraction(1, 100)}
    L = rho_by_hand.smoothness_of_no_decrease(**at, K=18, root=Fraction(6))
    assert fedprox.rho(L=L, K=18, **at) == 0
    assert fedprox.smallest_K(L=L, **at) == 19
    assert fedprox.smallest_K(L=L * (1 - TINY**10), **at) == 18
    assert fedprox.smallest_K(L=L * (1 + TINY**10), **at) == 19


def test_smallest_number_of_a_hair_of_room() -> None:
    gamma = Fraction(1, 2) - Fraction(1, 10**40)
    room = 1 - 2 * gamma
    assert fedprox.smallest_K(B=2, gamma=gamma) == math.floor(2 * (2 * (1 + gamma)) ** 2 / room**2) + 1 > 10**79
    assert fedprox.smallest_K(B=2, gamma=Fraction(1, 2)) is None
    assert fedprox.smallest_K(B=2, gamma=0.5) is None


# Rounds: the bound at the answer and one round before.


def fedsplit_bound(t: int, kappa: Fraction, initial_distance: Fraction, num_clients: int, b: Fraction) -> flint.arb:
    root = ball(kappa).sqrt()
    factor = (root - 1) / (root + 1)
    return factor**t * ball(initial_distance) / flint.arb(num_clients).sqrt() + (root + 1) * ball(b)


@given(
    kappa=st.fractions(min_value=Fraction(3, 2), max_value=10**4, max_denominator=100),
    initial_distance=positive,
    num_clients=st.integers(1, 100),
    accuracy=st.fractions(min_value=Fraction(1, 10**6), max_value=10, max_denominator=10**6),
    share=st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=2, max_denominator=50)),
)
def test_fedsplit_rounds(
    kappa: Fraction, initial_distance: Fraction, num_clients: int, accuracy: Fraction, share: Fraction
) -> None:
    b = share * accuracy / (math.isqrt(math.ceil(kappa)) + 1)
    given = {"kappa": kappa, "initial_distance": initial_distance, "num_clients": num_clients, "b": b}
    with flint.ctx.workprec(BITS):
        floor = (ball(kappa).sqrt() + 1) * ball(b)
        assume(not floor.overlaps(ball(accuracy)))
        t = fedsplit.rounds(**given, accuracy=accuracy)
        assert (t is None) == bool(floor > ball(accuracy))
        if t is None:
            return
        assert fedsplit_bound(t, **given) <= ball(accuracy)
        assert t == 1 or fedsplit_bound(t - 1, **given) > ball(accuracy)
        if t < 40:
            assert not any(fedsplit_bound(s, **given) <= ball(accuracy) for s in range(1, t))


@pytest.mark.parametrize("n", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("b", [0, Fraction(1, 7)])
def test_fedsplit_rounds_that_come_out_even(n: int, b: Any) -> None:
    """κ = 4: the factor is 1/3; 4 clients: a half. The bound after n rounds is the accuracy, exactly."""
    given = {"kappa": 4, "initial_distance": 2 * 3**n, "num_clients": 4, "b": b}
    assert fedsplit.rounds(**given, accuracy=1 + 3 * b) == n
    assert fedsplit.rounds(**given, accuracy=1 + 3 * b - TINY) == n + 1
    assert fedsplit.rounds(**given, accuracy=1 + 3 * b + TINY) == n
    assert fedsplit.rounds(**{**given, "initial_distance": 2 * 3**n + TINY}, accuracy=1 + 3 * b) == n + 1


def test_fedsplit_rounds_none_and_one() -> None:
    given = {"kappa": 4, "initial_distance": 6, "num_clients": 4, "b": 1}
    assert fedsplit.rounds(**given, accuracy=3) is None
    assert fedsplit.rounds(**given, accuracy=3 - TINY) is None
    assert fedsplit.rounds(**given, accuracy=3 + Fraction(1, 3**50)) == 51
    assert fedsplit.rounds(**given, accuracy=100) == 1
    assert fedsplit.rounds(kappa=1, initial_distance=10**9, num_clients=1, accuracy=TINY) == 1
    assert fedsplit.rounds(kappa=10**6, initial_distance=0, num_clients=1, accuracy=TINY) == 1


def nesterov_bound(t: int, stepsize: Fraction, mu: Fraction, L: Fraction, distance: Fraction) -> Fraction:
    return max(abs(1 - stepsize * mu), abs(1 - stepsize * L)) ** t * distance


@given(
    mu=positive,
    ratio=st.fractions(min_value=1, max_value=30, max_denominator=20),
    distance=positive,
    accuracy=st.fractions(min_value=Fraction(1, 10**4), max_value=10, max_denominator=10**4),
    part=st.one_of(st.none(), st.fractions(min_value=Fraction(1, 20), max_value=Fraction(5, 2), max_denominator=40)),
)
def test_nesterov_rounds(
    mu: Fraction, ratio: Fraction, distance: Fraction, accuracy: Fraction, part: Fraction | None
) -> None:
    L = mu * ratio
    stepsize = None if part is None else part / L
    t = nesterov.rounds(mu=mu, L=L, initial_distance=distance, accuracy=accuracy, stepsize=stepsize)
    step = 2 / (mu + L) if stepsize is None else stepsize
    if part is not None and part >= 2:
        assume(nesterov_bound(1, step, mu, L, distance) > accuracy)
        assert t is None
        return
    assert nesterov_bound(t, step, mu, L, distance) <= accuracy
    assert t == 1 or nesterov_bound(t - 1, step, mu, L, distance) > accuracy


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_nesterov_rounds_that_come_out_even(n: int) -> None:
    """s = 1/2, μ = 1, L = 3: the factor is 1/2."""
    given = {"mu": 1, "L": 3, "initial_distance": 2**n, "stepsize": 0.5}
    assert nesterov.rounds(**given, accuracy=1) == n
    assert nesterov.rounds(**given, accuracy=1 - TINY) == n + 1
    assert nesterov.rounds(**given, accuracy=1 + TINY) == n
    assert nesterov.rounds(**given, accuracy=math.nextafter(1, 0)) == n + 1
    given = {"mu": Fraction(1), "L": Fraction(2), "initial_distance": 3**n}
    assert nesterov.rounds(**given, accuracy=1) == n
    assert nesterov.rounds(**given, accuracy=1 - TINY) == n + 1
    assert nesterov.rounds(mu=Fraction(7, 3), L=Fraction(7, 3), initial_distance=10**9, accuracy=TINY**9) == 1


def test_nesterov_steps_that_are_too_long() -> None:
    given = {"mu": 1, "L": 4, "initial_distance": 8, "accuracy": 1}
    assert nesterov.rounds(**given, stepsize=0.5) is None
    assert nesterov.rounds(**given, stepsize=Fraction(1, 2) + TINY) is None
    assert nesterov.rounds(**given, stepsize=Fraction(1, 2) - Fraction(1, 10**5)) > 10**4
    with pytest.raises(InvalidInput, match=r"mu = 5: .*needs mu <= L"):
        nesterov.rounds(mu=5, L=4, initial_distance=8, accuracy=1)
    with pytest.raises(InvalidInput, match=r"mu = 5: .*needs mu <= L"):
        nesterov.rounds(mu=5, L=4, initial_distance=8, accuracy=1, stepsize=Fraction(1, 10))


# FedDyn: the α of the bounds.

counts = st.tuples(st.integers(1, 50), st.integers(1, 50)).map(lambda pair: {"num_clients": max(pair), "num_active": min(pair)})  # fmt: skip  # noqa: E501


def convex_at(alpha: Any, r: Fraction, D0: Fraction, G: Fraction) -> Any:
    return 10 * alpha * D0 + 100 * r * G / alpha


def nonconvex_at(alpha: Any, r: Fraction, L: Fraction, delta: Fraction, spread: Fraction) -> Any:
    return 3 * alpha * delta + 30 * L**3 * r * spread / alpha


@given(L=positive, D0=positive, G=nonnegative, m=counts)
def test_best_alpha_convex(L: Fraction, D0: Fraction, G: Fraction, m: dict[str, int]) -> None:
    """At an interior α the two terms are equal; at 25L the bound already rises. In rational numbers, squared."""
    alpha = feddyn.best_alpha_convex(L=L, D0=D0, G=G, **m)
    r = Fraction(m["num_clients"], m["num_active"])
    if 10 * r * G <= D0 * (25 * L) ** 2:
        assert is_near(alpha, 25 * L)
    else:
        assert fraction(alpha) > 25 * L
        assert abs(fraction(alpha) ** 2 * D0 / (10 * r * G) - 1) < TINY
    best = fraction(alpha)
    for factor in (1 - Fraction(1, 1000), 1 + Fraction(1, 1000), 2):
        if best * factor >= 25 * L:
            assert convex_at(best, r, D0, G) < convex_at(best * factor, r, D0, G) * (1 + TINY)
            bound = feddyn.convex_bound(alpha=best * factor, L=L, T=1, D0=D0, G=G, **m)
            assert bound == convex_at(best * factor, r, D0, G)


@given(L=positive, delta=positive, spread=nonnegative, m=counts)
def test_best_alpha_nonconvex(L: Fraction, delta: Fraction, spread: Fraction, m: dict[str, int]) -> None:
    alpha = feddyn.best_alpha_nonconvex(L=L, delta=delta, spread=spread, **m)
    r = Fraction(m["num_clients"], m["num_active"])
    least = 20 * L * r
    if 10 * L**3 * r * spread <= delta * least**2:
        assert is_near(alpha, least)
    else:
        assert fraction(alpha) > least
        assert abs(fraction(alpha) ** 2 * delta / (10 * L**3 * r * spread) - 1) < TINY
    best = fraction(alpha)
    for factor in (1 - Fraction(1, 1000), 1 + Fraction(1, 1000), 2):
        if best * factor >= least:
            here, there = (nonconvex_at(a, r, L, delta, spread) for a in (best, best * factor))
            assert here < there * (1 + TINY)
            assert feddyn.nonconvex_bound(alpha=best * factor, L=L, T=1, delta=delta, spread=spread, **m) == there


def fraction(value: Any) -> Fraction:
    return fraction_of(value) if isinstance(value, flint.arb) else Fraction(value)


def is_near(value: Any, number: Fraction) -> bool:
    """Whether it is the number, a rational number hardly above it, or a ball around it."""
    if not isinstance(value, flint.arb):
        return bool(number <= value <= number * (1 + Fraction(1, 2**100)))
    with flint.ctx.workprec(BITS):
        return bool(value.overlaps(ball(number))) and value.rel_accuracy_bits() > 100


@given(L=positive, D0=positive, G=nonnegative, m=counts, epsilon=positive, more=nonnegative)
def test_convex_rounds(L: Fraction, D0: Fraction, G: Fraction, m: dict[str, int], epsilon: Fraction, more: Fraction) -> None:  # fmt: skip  # noqa: E501
    alpha = 25 * L + more
    T = feddyn.convex_rounds(alpha=alpha, L=L, D0=D0, G=G, epsilon=epsilon, **m)
    at_once = convex_at(alpha, Fraction(m["num_clients"], m["num_active"]), D0, G)
    assert at_once / T <= epsilon
    assert T == 1 or at_once / (T - 1) > epsilon
    even = at_once / 7
    given = {"alpha": alpha, "L": L, "D0": D0, "G": G, **m}
    assert feddyn.convex_rounds(**given, epsilon=even) == 7
    assert feddyn.convex_rounds(**given, epsilon=even * (1 - TINY)) == 8
    assert feddyn.convex_rounds(**given, epsilon=even * (1 + TINY)) == 7
    assert feddyn.convex_bound(**given, T=7) == even


@given(L=positive, delta=positive, spread=nonnegative, m=counts, epsilon=positive, more=nonnegative)
def test_nonconvex_rounds(
    L: Fraction, delta: Fraction, spread: Fraction, m: dict[str, int], epsilon: Fraction, more: Fraction
) -> None:
    r = Fraction(m["num_clients"], m["num_active"])
    alpha = 20 * L * r + more
    given = {"alpha": alpha, "L": L, "delta": delta, "spread": spread, **m}
    T = feddyn.nonconvex_rounds(**given, epsilon=epsilon)
    at_once = nonconvex_at(alpha, r, L, delta, spread)
    assert at_once / T <= epsilon
    assert T == 1 or at_once / (T - 1) > epsilon
    assert feddyn.nonconvex_rounds(**given, epsilon=at_once / 5) == 5
    assert feddyn.nonconvex_rounds(**given, epsilon=at_once / 5 * (1 - TINY)) == 6
    assert feddyn.nonconvex_bound(**given, T=5) == at_once / 5


THRESHOLDS = {
    "convex": (feddyn.smallest_alpha_convex, feddyn.convex_bound, {"T": 3, "D0": 1, "G": 1}),
    "strongly convex": (feddyn.smallest_alpha_strongly_convex, feddyn.strongly_convex_bound, {"T": 3, "D0": 1, "G": 1}),
    "nonconvex": (feddyn.smallest_alpha_nonconvex, feddyn.nonconvex_bound, {"T": 3, "delta": 1, "spread": 1}),
    "one gradient": (feddyn.smallest_alpha_one_gradient, feddyn.one_gradient_scales, {}),
    "one gradient, nonconvex": (
        feddyn.smallest_alpha_one_gradient_nonconvex, feddyn.one_gradient_nonconvex_bound,
        {"T": 3, "delta": 1, "B0": 1},
    ),
}  # fmt: skip
BY_HAND: dict[str, Callable[..., Fraction]] = {
    "convex": lambda L, mu, r: 25 * L,
    "strongly convex": lambda L, mu, r: max(5 * r * mu, 30 * L),
    "nonconvex": lambda L, mu, r: 20 * L * r,
    "one gradient": lambda L, mu, r: max(50 * r * mu, 50 * L),
    "one gradient, nonconvex": lambda L, mu, r: 50 * L * r,
}


@pytest.mark.parametrize("case", THRESHOLDS)
@given(L=positive, part=st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100), m=counts)
@settings(max_examples=30)
def test_smallest_alpha(case: str, L: Fraction, part: Fraction, m: dict[str, int]) -> None:
    """The theorem accepts it, and refuses what is a tiny bit less."""
    smallest, bound, rest = THRESHOLDS[case]
    everything = {"L": L, "mu": part * L, **m, **rest}
    calculator = getattr(bound, "calculator", bound)
    alpha = smallest(**{n: everything[n] for n in smallest.names})
    assert alpha == BY_HAND[case](L, part * L, Fraction(m["num_clients"], m["num_active"]))
    given = {n: everything[n] for n in calculator.names if n != "alpha"}
    assert bound(alpha=alpha, **given) is not None
    with pytest.raises(InvalidInput, match=r"^alpha = .* needs alpha >= "):
        bound(alpha=alpha * (1 - TINY), **given)


# Theorem 6.


@given(delta=nonnegative, rho=positive, epsilon=positive)
def test_iterations(delta: Fraction, rho: Fraction, epsilon: Fraction) -> None:
    T = fedprox.iterations(delta=delta, rho=rho, epsilon=epsilon)
    assert type(T) is int
    assert T >= 1
    assert delta <= T * rho * epsilon
    assert T == 1 or delta > (T - 1) * rho * epsilon


@given(n=st.integers(1, 10**30), rho=positive, epsilon=positive)
def test_iterations_that_come_out_even(n: int, rho: Fraction, epsilon: Fraction) -> None:
    given = {"rho": rho, "epsilon": epsilon}
    tiny = Fraction(1, 10**60)
    assert fedprox.iterations(delta=n * rho * epsilon, **given) == n
    assert fedprox.iterations(delta=n * rho * epsilon * (1 + tiny), **given) == n + 1
    assert fedprox.iterations(delta=n * rho * epsilon * (1 - tiny), **given) == n
    assert fedprox.iterations(delta=n * rho * epsilon, rho=rho * (1 - tiny), epsilon=epsilon) == n + 1


@given(delta=st.floats(1e-3, 1e6), rho=st.floats(1e-3, 1e3), epsilon=st.floats(1e-6, 1))
def test_iterations_of_floats_are_those_of_the_numbers_that_they_are(delta: float, rho: float, epsilon: float) -> None:
    exact = math.ceil(Fraction(delta) / (Fraction(rho) * Fraction(epsilon)))
    assert fedprox.iterations(delta=delta, rho=rho, epsilon=epsilon) == max(1, exact)
    assert fedprox.iterations(delta=np.array([delta]), rho=rho, epsilon=epsilon)[0] == max(1, exact)


def test_floats_whose_quotient_rounds_to_an_integer() -> None:
    wrong = 0
    for n in range(1, 400):
        delta, rho = n * 0.1, 0.1
        exact = math.ceil(Fraction(delta) / Fraction(rho))
        assert fedprox.iterations(delta=delta, rho=rho, epsilon=1) == exact
        wrong += math.ceil(delta / rho) != exact
    assert wrong > 50  # of the quotients in floats


def test_a_wide_ball_does_not_give_an_integer() -> None:
    assert fedprox.iterations(delta=flint.arb(7.5, 0.25), rho=1, epsilon=1) == 8
    with pytest.raises(InvalidInput, match="too wide for one integer"):
        fedprox.iterations(delta=flint.arb(7.5, 0.75), rho=1, epsilon=1)
