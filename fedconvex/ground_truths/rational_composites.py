"""Rational minimisers of ½xᵀΦx − qᵀx + ψ(x), ψ piecewise linear: ℓ1 and boxes.

A float candidate tells on which pieces of ψ the minimiser lies. On them the optimality conditions are linear equations,
which rational numbers solve; that the solution is the minimiser is then checked exactly: −(Φx − q) ∈ ∂ψ(x).
"""

from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Matrix
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.regularizers import Regularizer, Separable


def exact_minimizer(problem: CompositeProblem, candidate: np.ndarray) -> Array:
    """The minimiser of f + ψ in Fractions, f quadratic and ψ an ℓ1 term or a box.

    Raises:
        InvalidInput: the minimiser is not rational.
        NotConverged: the candidate is not near enough to it, or there are several.
    """
    if not isinstance(problem.problem, QuadraticProblem):
        raise InvalidInput("problem", problem, "has no rational minimiser", "use .point with .distance_bound")
    H, c = problem.problem.weighted_hessian("exact"), problem.problem.weighted_linear_term("exact")
    return arithmetics.get("exact").publish(exact_solution(H, c, problem.regularizer, candidate))


def exact_solution(phi: Matrix, q: Array, regularizer: Regularizer, candidate: np.ndarray) -> Array:
    """The minimiser of ½xᵀΦx − qᵀx + ψ(x), in flint's rationals; Φ positive semidefinite.

    Raises InvalidInput for a ψ with roots, and NotConverged as `exact_minimizer`.
    """
    exact = arithmetics.get("exact")
    if not isinstance(regularizer, Separable):
        name = type(regularizer).__name__
        raise InvalidInput("regularizer", regularizer, f"has roots: with {name} nothing is rational", "use 'ball'")
    x = exact.array(regularizer.snapped(candidate))
    intervals: list[Any] = regularizer.subdifferential([_fraction(entry) for entry in x])
    free = [i for i, (low, high) in enumerate(intervals) if low is not None and low == high]
    if free:
        rows = np.array([[phi[i, j] for j in free] for i in free], dtype=object)
        x[free] = 0 * x[free]
        slopes = exact.array([intervals[i][0] for i in free])
        right = (q - exact.apply(phi, x))[free] - slopes
        try:
            x[free] = exact.solve(exact.matrix(rows), right)
        except ZeroDivisionError:
            raise NotConverged("several points may be minimisers of the composite objective") from None
    point, downhill = [_fraction(entry) for entry in x], q - exact.apply(phi, x)
    for (low, high), slope in zip(regularizer.subdifferential(point), map(_fraction, downhill), strict=True):
        if (low is not None and slope < low) or (high is not None and slope > high):
            raise NotConverged("floats do not tell where the composite objective's minimiser has kinks; use 'ball'")
    if not regularizer.contains(point):
        raise NotConverged("floats do not tell which bounds the composite objective's minimiser attains; use 'ball'")
    return x


def _fraction(entry: Any) -> Any:
    return arithmetics.get("exact").publish_scalar(entry)
