"""Flint balls: float bounds rounded outwards, extreme bounds of several balls, norms.

Every comparison with a NaN ball is False, so that code must draw conclusions only from comparisons that are True. A
ball that is not finite contains no information, and neither does any result computed from it.
"""

import math
from collections.abc import Iterable
from typing import Any

PRECISION = 256  # bits for computing the bounds of a ball


def upper_float(ball: Any) -> float:
    """A float that is >= every number in the ball, and at most one float above the smallest such; inf if not finite."""
    import flint

    if not ball.is_finite():
        return math.inf
    with flint.ctx.workprec(max(PRECISION, flint.ctx.prec)):
        bound = ball.upper()
    nearest = float(bound)
    return nearest if flint.arb(nearest) >= bound else math.nextafter(nearest, math.inf)


def lower_float(ball: Any) -> float:
    """A float that is <= every number in the ball, and at most one float below the largest such."""
    import flint

    with flint.ctx.workprec(max(PRECISION, flint.ctx.prec)):
        return -upper_float(-ball)  # negation is exact


def unbounded() -> Any:
    """The ball of all real numbers, which stands for an unknown value."""
    import flint

    return flint.arb(0, "inf")


def highest_end(balls: Iterable[Any]) -> Any:
    """The largest upper bound of the balls, as an exact ball; ∞ where one is not finite."""
    import flint

    balls = list(balls)
    if not all(ball.is_finite() for ball in balls):
        return flint.arb("inf")
    return max(ball.upper() for ball in balls)


def lowest_end(balls: Iterable[Any]) -> Any:
    """The least lower bound of the balls, as an exact ball; −∞ where one is not finite."""
    return -highest_end(-ball for ball in balls)


def around(center: Iterable[float], radius: Any) -> Any:
    """An array of balls of one radius around the coordinates of a point."""
    import flint
    import numpy as np

    return np.array([flint.arb(float(x), radius) for x in center], dtype=object)


def norm(vector: Iterable[Any]) -> Any:
    """The Euclidean norm of a vector of balls, as a ball; `unbounded()` where an entry is not finite."""
    import flint

    return square_root_upper(sum((entry * entry for entry in vector), flint.arb(0)))


def square_root_upper(square: Any) -> Any:
    """A ball that contains √s for every s >= 0 in `square`; `unbounded()` where that is not finite.

    Use it for sums of squares: these are not negative, though their enclosure may reach below 0, where flint's `sqrt`
    gives NaN.
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
