"""Where a method stops, and how far that is from where it should."""

from fedconvex.fixed_points.answer import FixedPoint
from fedconvex.fixed_points.find import fixed_point

__all__ = ["FixedPoint", "fixed_point"]
