"""Fixed points of methods: the points to which they converge, and their bias, the distance from the minimiser."""

from fedconvex.fixed_points.computation import fixed_point
from fedconvex.fixed_points.result import FixedPoint

__all__ = ["FixedPoint", "fixed_point"]
