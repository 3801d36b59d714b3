"""Small helpers for flint balls: bounds as floats that are never on the wrong side, norms."""

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


def norm(vector: Iterable[Any]) -> Any:
    """The Euclidean norm of a vector of balls, as a ball."""
    import flint

    return square_root_upper(sum((entry * entry for entry in vector), flint.arb(0)))


def square_root_upper(square: Any) -> Any:
    """A ball that contains √s for every s >= 0 in `square`; the part of the ball below 0 is ignored.

    A sum of squares is never negative, though its enclosure may reach below 0.
    """
    import flint

    lower = square.lower()
    if lower > 0:
        return square.sqrt()
    return flint.arb(0).union(square.upper().sqrt()) if square.upper() > 0 else flint.arb(0)


def largest_radius(vector: Iterable[Any]) -> float:
    """The largest radius of some balls; inf where one is unbounded."""
    return max(float(ball.rad()) if ball.is_finite() else math.inf for ball in vector)
