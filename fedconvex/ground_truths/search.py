"""Finds the minimiser: a candidate by Newton's method, or from CVXPY as a second, independent route; then certified."""

import warnings
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
from fedconvex.ground_truths.existence import require_minimizer
from fedconvex.ground_truths.low_rank import low_rank_truth
from fedconvex.names import checked_keywords, one_of
from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.sparse import is_sparse
from fedconvex.validation import is_choice, read_only

FILL_LIMIT = 10_000_000  # entries of the conic solver's factorisation; beyond, it takes long: Newton starts at 0
CONIC_COPIES = 12  # of a matrix that CVXPY and the conic solver keep, with indices
CONIC_ROWS = 30  # entries for every unknown: its cone, its bounds, its row of the factorisation
POOR = 1e-3  # a distance bound from which on CVXPY is tried, too: Hessians beyond floats stop Newton's method
SOLVERS = ("newton", "cvxpy")
LOOSE = 1e-5  # the conic solver's tolerance: Newton's method adds further digits more cheaply


@checked_keywords
def ground_truth(problem: Problem, solver: str = "newton") -> GroundTruth:
    """The certified minimiser of the objective: a float64 point with rigorous bounds on its error.

    Use it as the reference x* for biases, gaps and bounds; for a minimiser in rational numbers see
    `GroundTruth.exact_point`. Results are kept with the problem.

    Args:
        solver: "newton" (from the origin; where that ends far from the minimiser, as "cvxpy") or "cvxpy" (the conic
            solver Clarabel gives the candidate, Newton's method polishes it): slower, and independent up to the last
            digits. The certificate trusts neither.

    Raises:
        NoMinimizer: the objective is unbounded below or does not attain its infimum; with a direction as witness.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "is not a problem", "give for example fedconvex.LeastSquares(A=…, b=…)")
    if not is_choice(solver, SOLVERS):
        raise InvalidInput("solver", solver, "is unknown", one_of(solver, SOLVERS))
    kept: dict[str, GroundTruth] = problem.known_ground_truths
    if solver not in kept:
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


def conic_candidate(problem: Problem) -> np.ndarray | None:
    """CVXPY's approximate minimiser, a candidate only; None where the problem is too large or the solver fails."""
    if not memory.fits(_conic_memory(problem)):
        return None  # the conic solver aborts the process where it gets no memory
    import cvxpy as cp

    x = cp.Variable(problem.dim)
    objective = _conic_objective(cp, problem, x)
    if objective is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they concern the accuracy, which `certify` bounds rigorously
            cp.Problem(cp.Minimize(objective)).solve(
                solver=cp.CLARABEL, tol_gap_abs=LOOSE, tol_gap_rel=LOOSE, tol_feas=LOOSE
            )
    except cp.error.SolverError:
        return None
    return None if x.value is None or not np.isfinite(x.value).all() else np.asarray(x.value, dtype=np.float64)


def _conic_objective(cp: Any, problem: Problem, x: Any) -> Any:
    if isinstance(problem, QuadraticProblem):
        H, c = problem.weighted_hessian("float"), problem.weighted_linear_term("float")
        return cp.quad_form(x, cp.psd_wrap(H)) / 2 - c @ x
    if not isinstance(problem, LinearModel) or _fill(problem) > FILL_LIMIT:
        return None
    A = _stacked(problem)
    y = np.concatenate([float_array(y) for y in problem.y])
    shares = np.concatenate([np.full(len(y), w / len(y)) for w, y in zip(problem.weights, problem.y, strict=True)])
    ridge = float(problem.ridge) / 2 * cp.sum_squares(x)
    if problem.outputs == 1:
        return shares @ cp.logistic(-cp.multiply(y, A @ x)) + ridge
    W = cp.reshape(x, (problem.outputs, A.shape[1]), order="C")
    scores = A @ W.T
    chosen = np.eye(problem.outputs)[y.astype(int)]
    return shares @ cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(shares[:, None] * chosen, scores)) + ridge


def _conic_memory(problem: Problem) -> int:
    """About the bytes that CVXPY and the conic solver take."""
    if isinstance(problem, QuadraticProblem):
        return (problem.num_clients + CONIC_COPIES) * problem.dim**2 * memory.NUMBER
    fill = _fill(problem) if isinstance(problem, LinearModel) else 0
    return CONIC_COPIES * (fill + CONIC_ROWS * problem.dim) * memory.NUMBER


def _fill(problem: LinearModel) -> int:
    """The entries of the conic solver's factorisation."""
    designs: Any = problem.A
    counts = [np.diff(A.indptr) if is_sparse(A) else np.count_nonzero(A, axis=1) for A in designs]
    return int((np.concatenate(counts).astype(np.int64) ** 2).sum()) * problem.outputs


def _stacked(problem: LinearModel) -> Any:
    """All designs in one array, sparse where most entries are 0."""
    import scipy.sparse

    designs: Any = problem.A
    if is_sparse(designs[0]):
        return scipy.sparse.csr_array(scipy.sparse.vstack(list(designs), format="csr"))
    A = np.vstack([float_array(part) for part in problem.A])
    return A if np.count_nonzero(A) > 0.3 * A.size else scipy.sparse.csr_array(A)


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
