"""The result of `fixed_point`: a fixed point with its bias, and whether it is unique and attracting."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import FedconvexError, InvalidInput, short_text
from fedconvex.fixed_points.equations import solve_symmetric, stationarity
from fedconvex.fixed_points.method_analysis import MethodAnalysis
from fedconvex.ground_truths import ground_truth, require_minimizer
from fedconvex.ground_truths.low_rank import nearest_minimizer
from fedconvex.methods.base import Method
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem, parts_of
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.regularizers import Separable
from fedconvex.shown import ShownResult

if TYPE_CHECKING:
    import pandas


@final
@dataclass(frozen=True, eq=False)
class SameFixedPoints(MethodAnalysis):
    """The fixed points of a method that are known to be those of another, which is analysed."""

    other: MethodAnalysis

    @property
    def unique(self) -> bool | None:
        """As of the other method."""
        return self.other.unique

    @property
    def attracting(self) -> bool | None:
        """False where there are several; else not decided: the other method's rounds lead there in another way."""
        return False if self.unique is False else None


@final
@dataclass(frozen=True, eq=False)
class FixedPoint(ShownResult):
    """A fixed point of a method on a problem. Everything but the point itself is computed on first access."""

    point: Array  # (d,): float64, Fractions, or balls with .lower() and .upper(); torch tensors stay tensors
    method: Method
    problem: Problem | CompositeProblem
    arithmetic: Arithmetic
    analysis: MethodAnalysis

    @property
    def certainty(self) -> Certainty:
        """EXACT for rationals, ENCLOSED for balls, NUMERIC for floats."""
        return self.arithmetic.certainty

    @property
    def unique(self) -> bool | None:
        """Whether the method has no other fixed point on this problem.

        Quadratics: decided exactly. Logistic losses: True is proved, None means not decided.
        """
        return self.analysis.unique

    @property
    def attracting(self) -> bool | None:
        """Whether the method converges to this point from every start.

        Quadratics: decided from the eigenvalues of the map of one round, exactly for methods without memory and small
        states (`QuadraticFixedPoints.attracting`). False also where there are several fixed points: started at another
        one, the method stays there. Logistic losses: True is proved, False is numeric (the derivative of one round has
        spectral radius above 1), None means not decided.
        """
        return self.analysis.attracting

    @cached_property
    def minimizer(self) -> Array:
        """The minimiser of the objective in the same arithmetic; among many, the nearest to `point`.

        Raises:
            NoMinimizer: the objective is unbounded below or its infimum is not attained.
        """
        if isinstance(self.problem, CompositeProblem):
            return self._composite_minimizer(self.problem)
        if isinstance(self.problem, QuadraticProblem):
            from fedconvex.arithmetic.balls import largest_radius

            require_minimizer(self.problem)
            if isinstance(self.problem, LeastSquares) and self.problem.is_wide and self.certainty is Certainty.NUMERIC:
                nearest = nearest_minimizer(self.problem, self.arithmetic.to_float(self.point))
                return self.arithmetic.array(nearest)
            # among many minimisers, the nearest to a ball cannot be located more accurately than the ball
            radius = max(1e6 * largest_radius(self.point), 1e-30) if self.arithmetic.name == "ball" else np.inf
            anchor = self.arithmetic.to_float(self.point) if self.certainty is Certainty.NUMERIC else self.point
            problem = self.problem
            minimizer = solve_symmetric(
                stationarity(problem), self.arithmetic, radius, anchor, kernel=lambda: problem.kernel
            )
            return self.arithmetic.publish(minimizer)
        truth = ground_truth(self.problem)
        if self.arithmetic.name == "ball":
            return truth.enclosure()
        return self.arithmetic.array(truth.point)

    def _composite_minimizer(self, problem: CompositeProblem) -> Array:
        truth = ground_truth(problem)
        rational = isinstance(problem.problem, QuadraticProblem) and isinstance(problem.regularizer, Separable)
        if self.arithmetic.certainty is Certainty.EXACT or (self.arithmetic.name == "ball" and rational):
            return self.arithmetic.publish(self.arithmetic.array(truth.exact_point))
        return truth.enclosure() if self.arithmetic.name == "ball" else self.arithmetic.array(truth.point)

    @cached_property
    def bias(self) -> Array:
        """point − minimizer, in the same arithmetic."""
        with self.arithmetic.context():
            return self.point - self.minimizer

    @property
    def bias_norm(self) -> Scalar:
        """‖point − minimizer‖: a ball for balls; otherwise a float, inf where it exceeds the largest one."""
        with self.arithmetic.context():
            if self.arithmetic.name == "ball":
                from fedconvex.arithmetic.balls import norm

                return norm(self.bias)
            # divide by the largest entry first: squares leave the range of floats much sooner than the entries
            largest = max(abs(entry) for entry in self.bias)
            if not 0 < largest < np.inf:
                return nearest_float(largest)
            scaled = self.bias / largest
            return nearest_float(largest) * float((scaled * scaled).sum()) ** 0.5

    @property
    def bias_is_zero(self) -> bool:
        """Whether the fixed point is exactly a minimiser, which only rational arithmetic decides.

        Raises:
            InvalidInput: the fixed point was computed in another arithmetic.
        """
        if self.arithmetic.name != "exact":
            raise InvalidInput(
                "arithmetic",
                self.arithmetic.name,
                "cannot decide whether the bias is exactly 0",
                "call fixed_point(…, arithmetic='exact')",
            )
        return not any(self.bias)

    @property
    def gap(self) -> Scalar:
        """f(point) − f(minimizer), in the same arithmetic; of a composite objective f + ψ, with ψ."""
        smooth, regularizer = parts_of(self.problem)
        with self.arithmetic.context():
            clients = smooth.clients(self.arithmetic)
            weights = self.arithmetic.array(smooth.exact_weights_array)
            ends = self.arithmetic.array(self.point), self.arithmetic.array(self.minimizer)
            gap = self.arithmetic.average(weights, clients.differences(*ends))
            if regularizer is not None:
                terms = regularizer.values(self.arithmetic.rows(ends), self.arithmetic)
                gap = gap + terms[0] - terms[1]
            return self.arithmetic.publish_scalar(gap)

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each coefficient, in float64: coefficient, point, minimizer, bias (NaN without a minimiser)."""
        import pandas

        point = floats_of(self.point)
        try:
            minimizer, bias = floats_of(self.minimizer), floats_of(self.bias)
        except FedconvexError:
            minimizer = bias = np.full(len(point), np.nan)
        columns = {"coefficient": np.arange(len(point)), "point": point, "minimizer": minimizer, "bias": bias}
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        floats = arithmetics.of(self.point).to_float(self.point)
        shown = np.array2string(floats, precision=6, threshold=4, edgeitems=2, max_line_width=10**6)  # on one line
        return f"FixedPoint({short_text(self.method)}, point≈{shown}, {self.certainty.value})"


def floats_of(values: Array) -> np.ndarray:
    """The nearest floats."""
    return np.asarray(arithmetics.of(values).to_float(values))
