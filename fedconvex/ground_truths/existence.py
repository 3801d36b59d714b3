"""Existence of a minimiser: decided exactly for quadratics, refuted by separating directions for logistic losses."""

from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.definiteness import (
    is_positive_definite,
    is_positive_semidefinite,
    negative_direction,
    null_space,
    proves_nonsingular,
)
from fedconvex.arithmetic.interruptible import in_a_process
from fedconvex.arithmetic.rationals import float_array, fraction_array
from fedconvex.errors import NoMinimizer
from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import LeastSquares, QuadraticProblem
from fedconvex.sparse import dense

LONG = 100_000  # numbers in the matrix of margins from which the linear program may take more than a second
COPIES = 6  # of the matrix of margins: as given, scaled, and in the linear program
# simplex, and for the rare program that it does not decide, interior points
METHODS: tuple[Literal["highs", "highs-ipm"], ...] = ("highs", "highs-ipm")
DENOMINATOR_LIMIT = 10**6  # of the rational directions that are checked exactly


def require_minimizer(problem: Problem) -> None:
    """Raises NoMinimizer where the objective has no minimiser; the witness is a direction of unbounded decrease.

    Quadratics are decided exactly. For logistic losses without ridge, linear programming looks for a separating
    direction v (y_i a_iᵀv >= 0 for all samples, > 0 for some), which is then checked in rational arithmetic. Returning
    without an error proves existence for quadratics only.
    """
    if isinstance(problem, QuadraticProblem):
        _require_quadratic(problem)
    elif isinstance(problem, LinearModel) and problem.ridge == 0:
        witness = separating_direction(problem)
        if witness is not None:
            kind = "separable" if problem.outputs == 1 else "separable by classes"
            raise NoMinimizer(
                f"the objective has no minimiser: without ridge and with {kind} data it decreases for ever along a "
                "direction (see .witness); give ridge > 0",
                witness=witness,
            )


def _require_quadratic(problem: QuadraticProblem) -> None:
    if isinstance(problem, LeastSquares):
        return  # a sum of squares of linear functions always has a minimiser
    if problem.is_convex:
        if proves_nonsingular(problem.weighted_hessian):
            return
    elif is_positive_definite(problem.weighted_hessian):
        return
    elif not is_positive_semidefinite(problem.weighted_hessian):
        raise NoMinimizer(
            "the objective has no minimiser: its Hessian has a negative eigenvalue (see .witness)",
            witness=fraction_array(negative_direction(problem.weighted_hessian())),
        )
    # H is positive semidefinite and singular: ½xᵀHx − cᵀx is bounded below iff c is orthogonal to the kernel of H
    c = problem.weighted_linear_term()
    for v in problem.kernel:
        slope = np.dot(v, c)
        if slope != 0:
            raise NoMinimizer(
                "the objective has no minimiser: along a direction of zero curvature it falls linearly (see .witness)",
                witness=fraction_array(v if slope > 0 else -v),
            )


def separating_direction(problem: LinearModel) -> np.ndarray | None:
    """A rational v with all margins along v >= 0 and some > 0, checked exactly; None where none was found.

    The margins are y_i a_iᵀv for two classes and (v_{y_i} − v_c)ᵀa_i, c ≠ y_i, for C classes, of all clients with
    positive weight.
    """
    from scipy.optimize import linprog

    rows = _margin_rows(problem)
    scaled = float_array(rows)
    scaled = scaled / np.maximum(abs(scaled).max(axis=1, keepdims=True), 1e-300)
    count, dim = scaled.shape
    # maximise Σ min(margin, 1) subject to margins >= 0: positive iff the data are (perhaps weakly) separable
    program: dict[str, Any] = {
        "c": np.concatenate([np.zeros(dim), -np.ones(count)]),
        "A_ub": np.hstack([-scaled, np.eye(count)]) if count * dim < 2_000_000 else _sparse(scaled),
        "b_ub": np.zeros(count),
        "bounds": [(None, None)] * dim + [(0, 1)] * count,
    }
    for method in METHODS:
        solve: Any = partial(linprog, **program, method=method)
        result = solve() if count * dim < LONG else in_a_process(solve)
        if result.status != 0:
            continue
        if -result.fun < 0.5:  # the optimum is 0 or, v being scalable, at least 1
            return None
        candidate = result.x[:dim] / max(abs(result.x[:dim]).max(), 1e-300)
        for direction in (_rounded(candidate), _on_the_boundary(rows, scaled, candidate)):
            if direction is not None and _separates(rows, direction):
                return fraction_array(np.array(direction, dtype=object))
    return None


def _margin_rows(problem: LinearModel) -> np.ndarray:
    """A matrix with a row per margin, in the exact numbers of the data: margins = rows · v."""
    rows = []
    margins = sum(len(y) for y in problem.y) * max(1, problem.outputs - 1)
    memory.require(
        margins * problem.dim * COPIES * memory.NUMBER,
        "ridge",
        0,
        "the search for a separating direction",
        "give ridge > 0",
    )
    for design, y, weight in zip(problem.A, problem.y, problem.exact_weights, strict=True):
        if weight == 0:
            continue
        A = dense(design, "A")
        if problem.outputs == 1:
            rows.append(A * y.astype(A.dtype)[:, None])
            continue
        for c in range(problem.outputs):
            others = y != c
            block = np.zeros((int(others.sum()), problem.outputs, A.shape[1]), dtype=A.dtype)
            block[np.arange(len(block)), y[others].astype(int)] = A[others]
            block[:, c] = -A[others]
            rows.append(block.reshape(len(block), problem.dim))
    return np.vstack(rows)


def _separates(rows: np.ndarray, direction: Any) -> bool:
    exact = arithmetics.get("exact")
    margins = exact.apply(exact.matrix(rows), exact.array(np.array(direction, dtype=object)))
    return all(m >= 0 for m in margins) and any(m > 0 for m in margins)


def _on_the_boundary(rows: np.ndarray, scaled: np.ndarray, candidate: np.ndarray) -> Any:
    """The rounded direction, projected exactly onto the subspace where the nearly vanishing margins are 0.

    Rounding alone would make some of these margins negative.
    """
    active = abs(scaled @ candidate) < 1e-7
    if not active.any():
        return None
    exact = arithmetics.get("exact")
    kernel = null_space(exact.matrix(rows[active]))
    if not kernel:
        return None
    N = exact.matrix(np.stack(kernel, axis=1))
    Nt = exact.transpose(N)
    coordinates = exact.solve(
        exact.product(Nt, N), exact.apply(Nt, exact.array(np.array(_rounded(candidate), dtype=object)))
    )
    return exact.publish(exact.apply(N, coordinates))


def _rounded(direction: np.ndarray) -> list[Fraction]:
    return [Fraction(float(v)).limit_denominator(DENOMINATOR_LIMIT) for v in direction]


def _sparse(scaled: np.ndarray) -> Any:
    import scipy.sparse

    blocks: Any = [-scipy.sparse.csr_array(scaled), scipy.sparse.eye_array(len(scaled))]
    return scipy.sparse.hstack(blocks, format="csr")
