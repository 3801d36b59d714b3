"""CVXPY's minimisers: candidates from a second, independent route, which certificates do not trust."""

import warnings
from typing import Any

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.rationals import float_array
from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.regularizers import Regularizer
from fedconvex.sparse import is_sparse

FILL_LIMIT = 10_000_000  # entries of the conic solver's factorisation; beyond, it takes long: Newton starts at 0
CONIC_COPIES = 12  # of a matrix that CVXPY and the conic solver keep, with indices
CONIC_ROWS = 30  # entries for every unknown: its cone, its bounds, its row of the factorisation
LOOSE = 1e-5  # the conic solver's tolerance: Newton's method adds further digits more cheaply


def conic_candidate(
    problem: Problem, regularizer: Regularizer | None = None, tolerance: float = LOOSE
) -> np.ndarray | None:
    """CVXPY's approximate minimiser, a candidate only; None where the problem is too large or the solver fails.

    With a regulariser: of the problem's objective and that term.
    """
    if not memory.fits(_conic_memory(problem)):
        return None  # the conic solver aborts the process where it gets no memory
    import cvxpy as cp

    x = cp.Variable(problem.dim)
    objective = _conic_objective(cp, problem, x)
    if objective is None:
        return None
    term, constraints = (0, []) if regularizer is None else regularizer.conic(cp, x)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they concern the accuracy, which `certify` bounds rigorously
            cp.Problem(cp.Minimize(objective + term), constraints).solve(
                solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance
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
