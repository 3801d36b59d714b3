"""The minimiser of wide least squares, from as many equations as there are samples instead of unknowns.

With fewer samples than unknowns and linearly independent samples, all residuals vanish at the minimisers, which are the
solutions of Ax = b. The one of least norm is Aᵀ(AAᵀ)⁻¹b, and the least value of the objective is 0.
"""

from typing import Any

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.balls import norm
from fedconvex.arithmetic.rationals import float_array
from fedconvex.ground_truths.certificates import GroundTruth, truth_at, uncertified
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.sparse import is_sparse, occupied

PRECISION = 256
BALL_ROWS = 300  # samples up to which the equations are solved in balls; beyond, that takes minutes


def low_rank_truth(problem: LeastSquares) -> GroundTruth:
    """The minimiser of least norm, certified in balls; only numeric for many or linearly dependent samples."""
    found = _enclosed(problem) if sum(map(len, problem.b)) <= BALL_ROWS else None
    if found is None:
        return uncertified(problem, nearest_minimizer(problem, np.zeros(problem.dim)), "least norm in floats")
    columns, A, b, weights, minimizer = found
    balls = arithmetics.get("ball", precision=PRECISION)
    with balls.context():
        point = np.zeros(problem.dim)
        point[columns] = float_array(minimizer)
        residual = balls.apply(A, balls.array(point[columns])) - b
        gradient = norm(balls.apply(balls.transpose(A), weights * residual))
        distance = norm(balls.array(point[columns]) - minimizer)
        gap = (weights * residual * residual).sum() / 2  # the least value is 0
        return truth_at(problem, point, "least norm in balls", gradient, None, distance, gap)


def nearest_minimizer(problem: LeastSquares, anchor: np.ndarray) -> np.ndarray:
    """The minimiser nearest to `anchor`, in floats: anchor + A⁺(b − A·anchor), rows scaled by the roots of weights."""
    columns, design, targets, weights = _stacked(problem)
    roots = float_array(weights) ** 0.5
    A, b = roots[:, None] * float_array(design), roots * float_array(targets)
    found = np.array(anchor, dtype=np.float64)
    with arithmetics.get("float").context():
        found[columns] += np.linalg.lstsq(A, b - A @ found[columns])[0]
    return found


def _enclosed(problem: LeastSquares) -> tuple[np.ndarray, Any, Any, Any, Any] | None:
    """Columns, A, b, weights and the least-norm minimiser on these columns, in balls; None for dependent samples."""
    columns, design, targets, shares = _stacked(problem)
    balls = arithmetics.get("ball", precision=PRECISION)
    with balls.context():
        A, b, weights = balls.matrix(design), balls.array(targets), balls.array(shares)
        transposed = balls.transpose(A)
        try:
            minimizer = balls.apply(transposed, balls.solve(balls.product(A, transposed), b))
        except ZeroDivisionError:
            return None
        return columns, A, b, weights, minimizer


def _stacked(problem: LeastSquares) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The samples of clients of positive weight: the columns that occur, these of A, b, and a weight for each row."""
    data = zip(problem.A, problem.b, problem.exact_weights, strict=True)
    designs, targets, weights = zip(*((A, b, w) for A, b, w in data if w > 0), strict=True)
    if is_sparse(designs[0]):
        from scipy.sparse import vstack

        columns, design = occupied(vstack(designs, format="csr"))
    else:
        columns, design = occupied(_joined(designs))
    return columns, design, _joined(targets), np.repeat(np.array(weights, dtype=object), list(map(len, targets)))


def _joined(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    """The parts in one array; exact numbers stay exact beside floats."""
    exact = len({part.dtype for part in parts}) > 1
    return np.concatenate([part.astype(object) if exact else part for part in parts])
