"""Fixed points of methods: the points to which they converge, and their bias, the distance from the minimiser."""

from fedconvex.fixed_points.answer import FixedPoint
from fedconvex.fixed_points.find import fixed_point

__all__ = ["FixedPoint", "fixed_point"]
