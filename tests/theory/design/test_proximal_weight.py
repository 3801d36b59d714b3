"""FedProx's design by certificate and by brute force: the best μ, the thresholds of μ, the fewest devices."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import reference_rho
from design_draws import BITS, TINY, fraction_of, nonnegative, positive
from hypothesis import given, settings
from hypothesis import strategies as st
from rational_draws import rationals
from reference_rho import some_mu_decreases
from scipy.optimize import minimize_scalar
from statement_makers import ball

from fedconvex.errors import InvalidInput
from fedconvex.statements import Sign
from fedconvex.theory import fedprox

SHARPNESS = flint.arb(2) ** -90
dissimilarity = rationals(1, 4, 100)
inexactness = st.one_of(st.just(Fraction(0)), rationals(0, 1, 200))
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
        return bool(in_balls(reference_rho.slope, mu - room, at) > 0 > in_balls(reference_rho.slope, mu + room, at))


def is_the_threshold(mu: Any, at: dict[str, Any]) -> bool:
    with flint.ctx.workprec(BITS):
        room = (mu - ball(at["L_minus"])) * SHARPNESS
        below, above = mu - room, mu + room
        return bool(in_balls(reference_rho.rho, below, at) < 0 < in_balls(reference_rho.rho, above, at))


@given(L=positive, L_minus=nonnegative, B=dissimilarity, gamma=inexactness, K=devices)
@settings(max_examples=150)
def test_best_mu_and_mu_range(L: Fraction, L_minus: Fraction, B: Fraction, gamma: Fraction, K: int) -> None:
    at = {"L": L, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    best, found = fedprox.best_mu(**at), fedprox.mu_range(**at)
    if not some_mu_decreases(B, gamma, K):
        assert best is found is None
        return
    start = found.low
    assert found.high == math.inf
    assert best.mu.rel_accuracy_bits() > 100
    assert is_the_best(best.mu, at)
    assert is_the_threshold(start, at)
    assert best.mu > start
    with flint.ctx.workprec(BITS):
        top = in_balls(reference_rho.rho, best.mu.mid(), at)
        assert best.rho.overlaps(top)
        assert best.rho > 0
        assert best.rho.rel_accuracy_bits() > 60
        for factor in (Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), 2):
            elsewhere = ball(L_minus) + (best.mu - ball(L_minus)) * ball(factor)
            assert in_balls(reference_rho.rho, elsewhere, at) < best.rho
            assert not is_the_best(elsewhere, at)
            assert not is_the_threshold(ball(L_minus) + (start - ball(L_minus)) * ball(factor), at)


@pytest.mark.parametrize("L_minus", [0, Fraction(1, 4), 3])
@pytest.mark.parametrize(("B", "gamma", "K"), [(1, 0, 10), (Fraction(6, 5), Fraction(1, 20), 40), (3, 0, 100)])
def test_signs_beside_the_threshold(L_minus: Any, B: Any, gamma: Any, K: int) -> None:
    """The project's own certified signs, with rational numbers 1e-25 to either side."""
    at = {"L": 1, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    start = fraction_of(fedprox.mu_range(**at).low)
    assert fedprox.rho.sign(mu=start * (1 - TINY), **at) is Sign.NEGATIVE
    assert fedprox.rho.sign(mu=start * (1 + TINY), **at) is Sign.POSITIVE


@pytest.mark.parametrize("L_minus", [0.0, 0.25, 3.0])
@pytest.mark.parametrize(("B", "gamma", "K"), [(1.0, 0.0, 10), (1.2, 0.05, 40), (3.0, 0.0, 100)])
def test_best_mu_against_a_search(L_minus: float, B: float, gamma: float, K: int) -> None:
    at = {"L": 1.0, "L_minus": L_minus, "B": B, "gamma": gamma, "K": K}
    start = float(fedprox.mu_range(**at).low)

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


def test_balls_in_balls_out() -> None:
    """Wider arguments give wider answers that contain the narrow ones; nothing is promised of what is not known."""
    at = {"L": 1, "L_minus": Fraction(1, 2), "B": Fraction(5, 4), "gamma": 0, "K": 30}
    exact = fedprox.best_mu(**at), fedprox.mu_range(**at)
    wide = {n: flint.arb(flint.fmpq(v), 1e-4) if n in ("L", "L_minus") else v for n, v in at.items() if n != "L_minus"}
    wide["L_minus"] = flint.arb(0.5, 1e-4)
    best, start = fedprox.best_mu(**wide), fedprox.mu_range(**wide).low
    assert best.mu.contains(exact[0].mu)
    assert best.rho.contains(exact[0].rho)
    assert start.contains(exact[1].low)
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
    assert in_balls(reference_rho.rho, mu, {**at, "K": answer}) > 0
    if answer > 1:
        assert in_balls(reference_rho.rho, mu, {**at, "K": answer - 1}) < 1e-100  # 0, or less
    if 1 < answer <= 60:
        assert all(in_balls(reference_rho.rho, mu, {**at, "K": K}) < 1e-100 for K in range(1, answer))


@pytest.mark.parametrize("missing", ["L", "L_minus"])
def test_a_mu_without_the_curvatures_is_refused(missing: str) -> None:
    given = {"mu": 30, "L": 1, "L_minus": 0, "B": 1.2, "gamma": 0}
    assert fedprox.smallest_K(**given) != fedprox.smallest_K(**{**given, "L": 0})
    with pytest.raises(InvalidInput, match=f"{missing} = None: is needed where mu is given"):
        fedprox.smallest_K(**{name: value for name, value in given.items() if name != missing})


def test_flat_clients_admit_every_mu() -> None:
    """ρ = a/μ for L = L_minus = 0."""
    at = {"L": 0, "L_minus": 0, "B": 1, "gamma": 0, "K": 10}
    assert fedprox.mu_range(**at).low == 0
    assert fedprox.rho.sign(mu=Fraction(1, 10**50), **at) is Sign.POSITIVE
    assert fedprox.mu_range(**{**at, "K": 2}) is None
    assert fedprox.mu_range(**{**at, "L": Fraction(1, 10**9)}).low > 0


def test_smallest_number_at_an_exact_zero() -> None:
    """With ρ = 0 exactly at K = 18, a device more is needed, and with a tiny bit less of L none."""
    at = {"mu": Fraction(50), "L_minus": Fraction(1, 3), "B": Fraction(6, 5), "gamma": Fraction(1, 100)}
    L = reference_rho.smoothness_of_no_decrease(**at, K=18, root=Fraction(6))
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
