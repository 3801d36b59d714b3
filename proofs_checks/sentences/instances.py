"""The exact instances on which several sentences are checked, and what is computed of them."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.fixed_points.computation import fixed_point
from fedconvex.methods.base import Method
from fedconvex.problems.quadratics import LeastSquares, Quadratic
from fedconvex.runs.simulation import Trajectory, simulate

Numbers = Sequence[Any]


def line(curvatures: Numbers, linear: Numbers, weights: Numbers | None = None) -> Quadratic:
    """Clients ½hx² − cx on the real line."""
    return Quadratic(H=[[[h]] for h in curvatures], c=[[c] for c in linear], weights=weights)


# Two clients with different curvatures and different minimisers.
UNLIKE = LeastSquares(A=[[[1, 0], [0, 2]], [[2, 1], [0, 1]]], b=[[1, 2], [-1, 3]])
SHORT = Fraction(1, 10)  # a stepsize below 2/L for both of its clients


def exact(*entries: Any) -> Any:
    """A point in rational numbers."""
    return np.array([Fraction(x) for x in entries], dtype=object)


def squared(vector: Any) -> Any:
    """‖v‖²."""
    return sum(x * x for x in vector)


def bias(method: Method, problem: Any, **how: Any) -> Any:
    """‖x_∞ − x*‖², x_∞ the point to which the method converges."""
    return squared(fixed_point(method, problem, arithmetic="exact", **how).bias)


def run(method: Method, problem: Any, rounds: int, **how: Any) -> Trajectory:
    """The method's rounds in rational numbers."""
    return simulate(method, problem, rounds, arithmetic="exact", **how)
