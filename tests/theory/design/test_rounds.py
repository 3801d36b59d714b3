"""Numbers of rounds that suffice: the bound holds there, and fails one round before."""

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from design_draws import BITS, TINY, nonnegative, positive
from hypothesis import assume, given
from hypothesis import strategies as st
from rational_draws import rationals
from statement_makers import ball

from fedconvex.errors import InvalidInput
from fedconvex.theory import fedprox, fedsplit, nesterov


def fedsplit_bound(t: int, kappa: Fraction, initial_distance: Fraction, num_clients: int, b: Fraction) -> flint.arb:
    root = ball(kappa).sqrt()
    factor = (root - 1) / (root + 1)
    return factor**t * ball(initial_distance) / flint.arb(num_clients).sqrt() + (root + 1) * ball(b)


@given(
    kappa=st.fractions(min_value=Fraction(3, 2), max_value=10**4, max_denominator=100),
    initial_distance=positive,
    num_clients=st.integers(1, 100),
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=10, max_denominator=10**6),
    share=st.one_of(st.just(Fraction(0)), rationals(0, 2, 50)),
)
def test_fedsplit_rounds(
    kappa: Fraction, initial_distance: Fraction, num_clients: int, epsilon: Fraction, share: Fraction
) -> None:
    b = share * epsilon / (math.isqrt(math.ceil(kappa)) + 1)
    given = {"kappa": kappa, "initial_distance": initial_distance, "num_clients": num_clients, "b": b}
    with flint.ctx.workprec(BITS):
        floor = (ball(kappa).sqrt() + 1) * ball(b)
        assume(not floor.overlaps(ball(epsilon)))
        t = fedsplit.rounds(**given, epsilon=epsilon)
        assert (t is None) == bool(floor > ball(epsilon))
        if t is None:
            return
        assert fedsplit_bound(t, **given) <= ball(epsilon)
        assert t == 1 or fedsplit_bound(t - 1, **given) > ball(epsilon)
        if t < 40:
            assert not any(fedsplit_bound(s, **given) <= ball(epsilon) for s in range(1, t))


@pytest.mark.parametrize("n", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("b", [0, Fraction(1, 7)])
def test_fedsplit_rounds_that_come_out_even(n: int, b: Any) -> None:
    """κ = 4: the factor is 1/3; 4 clients: a half. The bound after n rounds is the epsilon, exactly."""
    given = {"kappa": 4, "initial_distance": 2 * 3**n, "num_clients": 4, "b": b}
    assert fedsplit.rounds(**given, epsilon=1 + 3 * b) == n
    assert fedsplit.rounds(**given, epsilon=1 + 3 * b - TINY) == n + 1
    assert fedsplit.rounds(**given, epsilon=1 + 3 * b + TINY) == n
    assert fedsplit.rounds(**{**given, "initial_distance": 2 * 3**n + TINY}, epsilon=1 + 3 * b) == n + 1


def test_an_irrational_tie_is_called_one() -> None:
    """(3 − 2√2)·1 + (√2 + 1)·2 = 5: the bound of one round is the epsilon, and no precision tells the two apart."""
    at: dict[str, Any] = {"kappa": 2, "initial_distance": 1, "num_clients": 1, "b": 2}
    with pytest.raises(InvalidInput, match="likely equal; move one argument a little"):
        fedsplit.rounds(**at, epsilon=5)
    assert fedsplit.rounds(**at, epsilon=5 + Fraction(1, 10**30)) == 1
    assert fedsplit.rounds(**at, epsilon=5 - Fraction(1, 10**30)) == 2
    with pytest.raises(InvalidInput, match="give narrower balls"):
        fedsplit.rounds(**at, epsilon=flint.arb(5, 1e-3))


def test_fedsplit_rounds_none_and_one() -> None:
    given = {"kappa": 4, "initial_distance": 6, "num_clients": 4, "b": 1}
    assert fedsplit.rounds(**given, epsilon=3) is None
    assert fedsplit.rounds(**given, epsilon=3 - TINY) is None
    assert fedsplit.rounds(**given, epsilon=3 + Fraction(1, 3**50)) == 51
    assert fedsplit.rounds(**given, epsilon=100) == 1
    assert fedsplit.rounds(kappa=1, initial_distance=10**9, num_clients=1, epsilon=TINY) == 1
    assert fedsplit.rounds(kappa=10**6, initial_distance=0, num_clients=1, epsilon=TINY) == 1


def nesterov_bound(t: int, stepsize: Fraction, mu: Fraction, L: Fraction, distance: Fraction) -> Fraction:
    return max(abs(1 - stepsize * mu), abs(1 - stepsize * L)) ** t * distance


@given(
    mu=positive,
    ratio=rationals(1, 30, 20),
    distance=positive,
    epsilon=st.fractions(min_value=Fraction(1, 10**4), max_value=10, max_denominator=10**4),
    part=st.one_of(st.none(), rationals(Fraction(1, 20), Fraction(5, 2), 40)),
)
def test_nesterov_rounds(
    mu: Fraction, ratio: Fraction, distance: Fraction, epsilon: Fraction, part: Fraction | None
) -> None:
    L = mu * ratio
    stepsize = None if part is None else part / L
    t = nesterov.rounds(mu=mu, L=L, initial_distance=distance, epsilon=epsilon, stepsize=stepsize)
    step = 2 / (mu + L) if stepsize is None else stepsize
    if part is not None and part >= 2:
        assume(nesterov_bound(1, step, mu, L, distance) > epsilon)
        assert t is None
        return
    assert nesterov_bound(t, step, mu, L, distance) <= epsilon
    assert t == 1 or nesterov_bound(t - 1, step, mu, L, distance) > epsilon


@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_nesterov_rounds_that_come_out_even(n: int) -> None:
    """s = 1/2, μ = 1, L = 3: the factor is 1/2."""
    given = {"mu": 1, "L": 3, "initial_distance": 2**n, "stepsize": 0.5}
    assert nesterov.rounds(**given, epsilon=1) == n
    assert nesterov.rounds(**given, epsilon=1 - TINY) == n + 1
    assert nesterov.rounds(**given, epsilon=1 + TINY) == n
    assert nesterov.rounds(**given, epsilon=math.nextafter(1, 0)) == n + 1
    given = {"mu": Fraction(1), "L": Fraction(2), "initial_distance": 3**n}
    assert nesterov.rounds(**given, epsilon=1) == n
    assert nesterov.rounds(**given, epsilon=1 - TINY) == n + 1
    assert nesterov.rounds(mu=Fraction(7, 3), L=Fraction(7, 3), initial_distance=10**9, epsilon=TINY**9) == 1


def test_nesterov_steps_that_are_too_long() -> None:
    given = {"mu": 1, "L": 4, "initial_distance": 8, "epsilon": 1}
    assert nesterov.rounds(**given, stepsize=0.5) is None
    assert nesterov.rounds(**given, stepsize=Fraction(1, 2) + TINY) is None
    assert nesterov.rounds(**given, stepsize=Fraction(1, 2) - Fraction(1, 10**5)) > 10**4
    with pytest.raises(InvalidInput, match=r"mu = 5: .*needs mu <= L"):
        nesterov.rounds(mu=5, L=4, initial_distance=8, epsilon=1)
    with pytest.raises(InvalidInput, match=r"mu = 5: .*needs mu <= L"):
        nesterov.rounds(mu=5, L=4, initial_distance=8, epsilon=1, stepsize=Fraction(1, 10))


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
