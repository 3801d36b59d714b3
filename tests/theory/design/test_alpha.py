"""FedDyn's design: the α that minimises the bounds, the smallest admissible α, and rounds at the best α."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest
from design_draws import BITS, TINY, counts, fraction_of, nonnegative, positive
from hypothesis import given, settings
from rational_draws import rationals
from statement_makers import ball

from fedconvex.errors import InvalidInput
from fedconvex.theory import feddyn


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
        assert fraction_of(alpha) > 25 * L
        assert abs(fraction_of(alpha) ** 2 * D0 / (10 * r * G) - 1) < TINY
    best = fraction_of(alpha)
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
        assert fraction_of(alpha) > least
        assert abs(fraction_of(alpha) ** 2 * delta / (10 * L**3 * r * spread) - 1) < TINY
    best = fraction_of(alpha)
    for factor in (1 - Fraction(1, 1000), 1 + Fraction(1, 1000), 2):
        if best * factor >= least:
            here, there = (nonconvex_at(a, r, L, delta, spread) for a in (best, best * factor))
            assert here < there * (1 + TINY)
            assert feddyn.nonconvex_bound(alpha=best * factor, L=L, T=1, delta=delta, spread=spread, **m) == there


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
@given(L=positive, part=rationals(Fraction(1, 100), 1, 100), m=counts)
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
