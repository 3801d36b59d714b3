"""Small helpers for flint balls: bounds as floats that are never on the wrong side, norms.

A comparison with a NaN ball is False, whichever way it is asked: nothing may follow from its being False. A ball that
is not finite says nothing about its number, and what is worked out from it says nothing either.
"""

import math
from collections.abc import Iterable
from typing import Any

PRECISION = 256  # bits with which a ball's ends are worked out


def upper_float(ball: Any) -> float:
    """A float that is >= every number in the ball, the least such up to one rounding."""
    import flint

    if not ball.is_finite():
        return math.inf
    with flint.ctx.workprec(max(PRECISION, flint.ctx.prec)):
        end = ball.upper()
    nearest = float(end)
    return nearest if flint.arb(nearest) >= end else math.nextafter(nearest, math.inf)


def lower_float(ball: Any) -> float:
    """A float that is <= every number in the ball."""
    import flint

    with flint.ctx.workprec(max(PRECISION, flint.ctx.prec)):
        return -upper_float(-ball)


def unbounded() -> Any:
    """The ball of all numbers."""
    import flint

    return flint.arb(0, "inf")


def highest_end(balls: Iterable[Any]) -> Any:
    """The largest upper end, as an exact ball: no number in any of the balls is larger; ∞ where one is not finite."""
    import flint

    balls = list(balls)
    if not all(ball.is_finite() for ball in balls):
        return flint.arb("inf")
    return max(ball.upper() for ball in balls)


def lowest_end(balls: Iterable[Any]) -> Any:
    """The least lower end: no number in any of the balls is smaller; −∞ where one is not finite."""
    return -highest_end(-ball for ball in balls)


def norm(vector: Iterable[Any]) -> Any:
    """The Euclidean norm of a vector of balls, as a ball; the ball of all numbers where one of them is not finite."""
    import flint

    return square_root_upper(sum((entry * entry for entry in vector), flint.arb(0)))


def square_root_upper(square: Any) -> Any:
    """A ball that contains √s for every s >= 0 in `square`; the part of the ball below 0 is ignored.

    A sum of squares is never negative, though its enclosure may reach below 0. The ball of all numbers where `square`
    is not finite.
    """
    import flint

    if not square.is_finite():
        return unbounded()
    if square.lower() > 0:
        return square.sqrt()
    upper = square.upper()
    return flint.arb(0).union(upper.sqrt()) if upper > 0 else flint.arb(0)


def largest_radius(vector: Iterable[Any]) -> float:
    """The largest radius of some balls; inf where one is unbounded."""
    return max(float(ball.rad()) if ball.is_finite() else math.inf for ball in vector)
