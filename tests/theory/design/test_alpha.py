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


def convex_at(alpha: Any, r: Fraction, L: Fraction, D0: Fraction, G: Fraction) -> Any:
    return 10 * alpha * D0 + 100 * r * G / alpha


def nonconvex_at(alpha: Any, r: Fraction, L: Fraction, delta: Fraction, spread: Fraction) -> Any:
    return 3 * alpha * delta + 30 * L**3 * r * spread / alpha


# The bound of one round, which falls and then rises in α; its two letters; the smallest α.
BOUNDS: dict[str, tuple[Callable[..., Any], tuple[str, str], Callable[..., Any]]] = {
    "convex": (convex_at, ("D0", "G"), lambda L, r: 25 * L),
    "nonconvex": (nonconvex_at, ("delta", "spread"), lambda L, r: 20 * L * r),
}


@pytest.mark.parametrize("case", BOUNDS)
@given(L=positive, first=positive, second=nonnegative, m=counts)
def test_best_alpha(case: str, L: Fraction, first: Fraction, second: Fraction, m: dict[str, int]) -> None:
    """At an interior α the two terms are equal; at the smallest the bound already rises. In rationals, squared."""
    at, letters, smallest = BOUNDS[case]
    best_alpha, bound = getattr(feddyn, f"best_alpha_{case}"), getattr(feddyn, f"{case}_bound")
    given = dict(zip(letters, (first, second), strict=True))
    r = Fraction(m["num_clients"], m["num_active"])
    alpha, least = best_alpha(L=L, **given, **m), smallest(L, r)
    rises, falls = at(1, r, L, first, 0), at(1, r, L, 0, second)  # the bound is α·rises + falls/α
    if falls <= rises * least**2:
        assert is_near(alpha, least)
    else:
        assert fraction_of(alpha) > least
        assert abs(fraction_of(alpha) ** 2 * rises / falls - 1) < TINY
    best = fraction_of(alpha)
    for factor in (1 - Fraction(1, 1000), 1 + Fraction(1, 1000), 2):
        if best * factor >= least:
            here, there = (at(a, r, L, first, second) for a in (best, best * factor))
            assert here < there * (1 + TINY)
            assert bound(alpha=best * factor, L=L, T=1, **given, **m) == there


def is_near(value: Any, number: Fraction) -> bool:
    """Whether it is the number, a rational number hardly above it, or a ball around it."""
    if not isinstance(value, flint.arb):
        return bool(number <= value <= number * (1 + Fraction(1, 2**100)))
    with flint.ctx.workprec(BITS):
        return bool(value.overlaps(ball(number))) and value.rel_accuracy_bits() > 100


@pytest.mark.parametrize("case", BOUNDS)
@given(L=positive, first=positive, second=nonnegative, m=counts, epsilon=positive, more=nonnegative)
def test_rounds(
    case: str, L: Fraction, first: Fraction, second: Fraction, m: dict[str, int], epsilon: Fraction, more: Fraction
) -> None:
    at, letters, smallest = BOUNDS[case]
    rounds, bound = getattr(feddyn, f"{case}_rounds"), getattr(feddyn, f"{case}_bound")
    r = Fraction(m["num_clients"], m["num_active"])
    alpha = smallest(L, r) + more
    given = {"alpha": alpha, "L": L, **dict(zip(letters, (first, second), strict=True)), **m}
    T, at_once = rounds(**given, epsilon=epsilon), at(alpha, r, L, first, second)
    assert at_once / T <= epsilon
    assert T == 1 or at_once / (T - 1) > epsilon
    even = at_once / 7
    assert rounds(**given, epsilon=even) == 7
    assert rounds(**given, epsilon=even * (1 - TINY)) == 8
    assert rounds(**given, epsilon=even * (1 + TINY)) == 7
    assert bound(**given, T=7) == even


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
