"""Finds the minimiser: a candidate by Newton's method, or from CVXPY as a second, independent route; then certified."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.balls import norm, upper_float
from fedconvex.arithmetic.newton import minimise
from fedconvex.arithmetic.rationals import float_array
from fedconvex.errors import InvalidInput, TooLarge
from fedconvex.ground_truths.certificates import GroundTruth, certify, uncertified
from fedconvex.ground_truths.composite import composite_truth
from fedconvex.ground_truths.conic import conic_candidate
from fedconvex.ground_truths.existence import require_minimizer
from fedconvex.ground_truths.low_rank import low_rank_truth
from fedconvex.names import checked_keywords, one_of
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import CompositeProblem
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.validation import is_choice, read_only

POOR = 1e-3  # a distance bound from which on CVXPY is tried, too: Hessians beyond floats stop Newton's method
SOLVERS = ("newton", "cvxpy")


@checked_keywords
def ground_truth(problem: Problem | CompositeProblem, solver: str = "newton") -> GroundTruth:
    """The certified minimiser of the objective: a float64 point with rigorous bounds on its error.

    Use it as the reference x* for biases, gaps and bounds; for a minimiser in rational numbers see
    `GroundTruth.exact_point`. Results are kept with the problem.

    Of a composite objective f + ψ the error is bounded where f is proved strongly convex; the candidate of "newton" is
    found by proximal gradient steps and Newton's method where ψ is smooth (`ground_truths.composite`).

    Args:
        solver: "newton" (from the origin; where that ends far from the minimiser, as "cvxpy") or "cvxpy" (the conic
            solver Clarabel gives the candidate, Newton's method polishes it): slower, and independent up to the last
            digits. The certificate trusts neither.

    Raises:
        NoMinimizer: the objective is unbounded below or does not attain its infimum; with a direction as witness.
    """
    if not isinstance(problem, Problem | CompositeProblem):
        raise InvalidInput("problem", problem, "is not a problem", "give for example fedconvex.LeastSquares(A=…, b=…)")
    if not is_choice(solver, SOLVERS):
        raise InvalidInput("solver", solver, "is unknown", one_of(solver, SOLVERS))
    kept: dict[str, GroundTruth] = problem.known_ground_truths
    if solver not in kept:
        if isinstance(problem, CompositeProblem):
            kept[solver] = composite_truth(problem, solver)
            return kept[solver]
        with memory.refusing("problem", problem):
            require_minimizer(problem)
            kept[solver] = _find(problem, solver)
    return kept[solver]


def _find(problem: Problem, solver: str) -> GroundTruth:
    if isinstance(problem, LeastSquares) and problem.is_wide:
        return low_rank_truth(problem)
    if solver == "newton":
        truth = _polished(problem, np.zeros(problem.dim), "newton")
        if not POOR <= truth.distance_bound < np.inf:
            return truth
    candidate = conic_candidate(problem)
    if candidate is None:
        return truth if solver == "newton" else _polished(problem, np.zeros(problem.dim), "newton")
    other = _polished(problem, candidate, "cvxpy, then newton")
    return other if solver == "cvxpy" or other.distance_bound < truth.distance_bound else truth


def _polished(problem: Problem, start: np.ndarray, name: str) -> GroundTruth:
    """Newton's method from `start`, certified."""
    with arithmetics.get("float").context():
        point = minimise(_Objective(problem), start[None])[0]
    try:
        truth = certify(problem, point, name)
        if isinstance(problem, QuadraticProblem) and not np.isfinite(truth.distance_bound):
            return _in_balls(problem, truth, name)
    except TooLarge:
        return uncertified(problem, point, name)
    return truth


def _in_balls(problem: QuadraticProblem, truth: GroundTruth, name: str) -> GroundTruth:
    """The ground truth of a quadratic with many minimisers, or too ill-conditioned for the usual certificate.

    It solves for the minimiser in balls; the error of the point that is rounded from it is then enclosed, too.
    """
    from fedconvex.fixed_points.equations import ACCURATE, solve_symmetric, stationarity

    balls = arithmetics.get("ball", precision=256)
    with balls.context():
        minimizer = solve_symmetric(stationarity(problem), balls, ACCURATE, kernel=lambda: problem.kernel)
        point = float_array(minimizer)
        error = balls.array(point) - minimizer
        gradient = balls.apply(problem.weighted_hessian(balls), error)  # ∇f(point) = H (point − x*)
        return replace(
            truth,
            point=read_only(point),
            value=float(problem.value(point)),
            gradient_bound=upper_float(norm(gradient)),
            distance_bound=upper_float(norm(error)),
            gap_bound=max(0.0, upper_float((error * gradient).sum() / 2)),
            solver=f"{name}, then balls",
        )


@dataclass(frozen=True, eq=False)
class _Objective:
    """The objective as a batch of a single function, the interface that `newton.minimise` needs."""

    problem: Problem
    xp: Any = np

    def differences(self, theta: np.ndarray, step: np.ndarray) -> np.ndarray:
        changes = self.problem.clients("float").differences((theta + step)[0], theta[0])
        return np.array([self.problem.weights @ changes])

    def gradients(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(self.problem.gradient(theta[0])[None])

    def hessians(self, theta: np.ndarray) -> np.ndarray:
        return self.problem.hessian(theta[0])[None]

    def hessian_map(self, theta: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        hessian = self.problem.clients("float").hessian_map(theta[0])
        return lambda vectors: np.asarray((self.problem.weights @ hessian(vectors[0]))[None])
