"""Certificates for a candidate minimiser: its gradient, enclosed in balls, and strong convexity bound its error."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.balls import lower_float, norm, upper_float
from fedconvex.arithmetic.definiteness import smallest_eigenvalue_bound
from fedconvex.arithmetic.krawczyk import enclose_zero
from fedconvex.arithmetic.rationals import Array
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.shown import ShownResult
from fedconvex.validation import read_only

if TYPE_CHECKING:
    import pandas

PRECISION = 128
COPIES = 10  # of a point in balls, for the gradients of the clients and their mean
KRAWCZYK_DIMENSION = 300  # beyond, the products of (d, d) ball matrices take too long


@final
@dataclass(frozen=True, eq=False)
class GroundTruth(ShownResult):
    """The minimiser of the objective as a float64 point, with rigorous bounds on its error.

    With M the strong convexity constant of the objective, ‖point − x*‖ <= ‖∇f(point)‖/M and
    f(point) − f(x*) <= ‖∇f(point)‖²/(2M).
    Both bounds are inf where no M > 0 is proved, except for quadratics with many minimisers, which are solved in
    balls. Of a composite objective f + ψ, the shortest element of ∇f(point) + ∂ψ(point) takes the gradient's place.
    """

    problem: Problem | CompositeProblem
    point: np.ndarray  # (d,) float64
    value: float  # f(point), float64
    gradient_bound: float  # rigorous upper bound on ‖∇f(point)‖
    strong_convexity: float  # M, a rigorous lower bound
    distance_bound: float  # rigorous upper bound on ‖point − x*‖, inf if unknown
    gap_bound: float  # rigorous upper bound on f(point) − f(x*), inf if unknown
    solver: str  # how the candidate was found; the bounds do not depend on it

    def to_frame(self) -> "pandas.DataFrame":
        """One row for each coefficient of the minimiser: coefficient, value."""
        import pandas

        return pandas.DataFrame({"coefficient": np.arange(len(self.point)), "value": self.point})

    @property
    def certainty(self) -> Certainty:
        """ENCLOSED where the distance bound is finite, NUMERIC otherwise."""
        return Certainty.ENCLOSED if np.isfinite(self.distance_bound) else Certainty.NUMERIC

    @cached_property
    def exact_point(self) -> Array:
        """The exact rational minimiser (d,) of least squares and quadratics, also with ℓ1 or a box, as Fractions.

        Among many minimisers, the one of least norm.

        Raises:
            InvalidInput: the minimiser of a logistic loss is not rational.
        """
        from fedconvex.fixed_points.equations import solve_symmetric, stationarity

        if isinstance(self.problem, CompositeProblem):
            from fedconvex.ground_truths.rational_composites import exact_minimizer

            return exact_minimizer(self.problem, self.point)
        if not isinstance(self.problem, QuadraticProblem):
            raise InvalidInput("problem", self.problem, "has no rational minimiser", "use .point with .distance_bound")
        problem, exact = self.problem, arithmetics.get("exact")
        return exact.publish(solve_symmetric(stationarity(self.problem), exact, kernel=lambda: problem.kernel))

    def enclosure(self) -> Array:
        """Balls (d,) that contain the minimiser, from the distance bound.

        Where that is infinite, from Krawczyk's theorem for the gradient: minimisers of a convex function form a convex
        set, so that an isolated zero of the gradient is the only one. Infinitely wide where that fails, too.
        """
        import flint

        if np.isfinite(self.distance_bound) or self._krawczyk is None:
            return np.array([flint.arb(float(v), self.distance_bound) for v in self.point], dtype=object)
        return self._krawczyk

    @cached_property
    def _krawczyk(self) -> Array | None:
        if isinstance(self.problem, CompositeProblem):
            return None  # the optimality conditions are not smooth
        if self.problem.dim > KRAWCZYK_DIMENSION or not self.problem.is_convex:
            return None
        balls = arithmetics.get("ball", precision=PRECISION)
        with balls.context():
            clients, weights = self.problem.clients(balls), balls.array(self.problem.exact_weights_array)
            return enclose_zero(
                lambda x: balls.average(weights, clients.gradients(x)),
                lambda box: balls.weighted_sum(weights, clients.hessians(box)),
                self.point,
                balls,
            )


def certify(problem: Problem, point: np.ndarray, solver: str) -> GroundTruth:
    """Rigorous bounds on the distance from `point` to the minimiser, however the point was found."""
    needed = COPIES * problem.dim * memory.OBJECT
    memory.require(needed, "problem", problem, "its gradient in balls", "give fewer features")
    balls = arithmetics.get("ball", precision=PRECISION)
    with balls.context():
        gradient = norm(problem.gradient(balls.array(point)))
        modulus = strong_convexity_bound(problem)
        distance, gap = (gradient / modulus, gradient * gradient / (2 * modulus)) if modulus > 0 else (None, None)
        return truth_at(problem, point, solver, gradient, modulus, distance, gap)


def uncertified(problem: Problem, point: np.ndarray, solver: str) -> GroundTruth:
    """The point without bounds on its error, where proving them would take more memory than there is."""
    return truth_at(problem, point, f"{solver}, not certified")


def truth_at(
    problem: Problem | CompositeProblem,
    point: np.ndarray,
    solver: str,
    gradient: Any = None,
    modulus: Any = None,
    distance: Any = None,
    gap: Any = None,
) -> GroundTruth:
    """The point with bounds from these balls; None where nothing is proved."""
    gradient, distance, gap = (float("inf") if b is None else upper_float(b) for b in (gradient, distance, gap))
    convexity = 0.0 if modulus is None else max(0.0, lower_float(modulus))
    value = float(problem.value(point))
    return GroundTruth(problem, read_only(point), value, gradient, convexity, distance, gap, solver)


def strong_convexity_bound(problem: Problem) -> Any:
    """A ball that is a lower bound of the strong convexity constant of the objective Σ_k weights_k f_k.

    Quadratics: the least eigenvalue of Σ_k weights_k H_k. Others: Σ_k weights_k mu_k.
    """
    if isinstance(problem, QuadraticProblem):
        floats = problem.weighted_hessian("float")
        least = float(np.linalg.eigvalsh(floats)[0])
        return smallest_eigenvalue_bound(problem.weighted_hessian, least, PRECISION, semidefinite=problem.is_convex)
    weights = arithmetics.get("ball").array(problem.exact_weights_array)
    bounds = np.array([problem.strong_convexity_bound(k) for k in range(problem.num_clients)], dtype=object)
    return np.dot(weights, bounds)
