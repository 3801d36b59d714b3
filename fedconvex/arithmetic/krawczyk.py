"""Krawczyk's theorem: proves that a smooth map has a zero near an approximate one, and encloses it.

Let w be a point, X a box around it, Y any matrix (in practice an approximate inverse of g'(w)). If
K = w − Y g(w) + (I − Y G)(X − w) lies in the interior of X, where G contains the derivative of g at every point of X,
then g has exactly one zero in X, and it lies in K.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedconvex.arithmetic.balls import highest_end
from fedconvex.arithmetic.base import Arithmetic, Matrix
from fedconvex.arithmetic.rationals import Array

ATTEMPTS = 12  # boxes that are tried, each four times as wide as the one before


def enclose_zero(
    value: Callable[[Array], Array],
    derivative: Callable[[Array], Matrix],
    w: np.ndarray,
    balls: Arithmetic,
) -> Array | None:
    """Balls (d,) that contain exactly one zero of g; None where no proof was found (which refutes nothing).

    Args:
        value: g in balls, (d,) to (d,).
        derivative: an arb matrix that contains g' at every point of a box, given as (d,) balls.
        w: (d,) floats, an approximate zero.
    """
    try:
        return _enclose_zero(value, derivative, w, balls)
    except ZeroDivisionError:
        return None  # the derivative cannot be enclosed on the box


def _enclose_zero(
    value: Callable[[Array], Array], derivative: Callable[[Array], Matrix], w: np.ndarray, balls: Arithmetic
) -> Array | None:
    import flint

    centre = balls.array(w)
    middle = balls.to_float(np.array(derivative(centre).tolist(), dtype=object))
    try:
        inverse = np.linalg.inv(middle)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all():
        return None
    Y = balls.matrix(inverse)
    newton_step = balls.apply(Y, value(centre))
    # a box twice the Newton step's size usually works at once
    radius = max(2 * float(highest_end(map(abs, newton_step))), 1e-30)
    for _ in range(ATTEMPTS):
        if not np.isfinite(radius):
            return None  # the theorem needs a bounded box
        box = np.array([x + flint.arb(0, radius) for x in centre], dtype=object)
        slope = balls.identity(len(w)) - balls.product(Y, derivative(box))
        image = centre - newton_step + balls.apply(slope, box - centre)
        if all(_inside(k, x) for k, x in zip(image, box, strict=True)):
            return image
        radius *= 4
    return None


def _inside(inner: Any, outer: Any) -> bool:
    return bool(outer.contains_interior(inner))
