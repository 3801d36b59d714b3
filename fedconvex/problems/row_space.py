"""Wide least squares in coordinates of their samples: as many unknowns as there are independent samples.

Rounds that start in the span of the samples stay there, and an orthonormal basis changes no length and no inner
product: the methods' rounds, fixed points and rates there are those of the problem in coordinates (NUMERIC: the basis
is rounded).
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import float_array
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.sparse import is_sparse, occupied


@final
@dataclass(frozen=True, eq=False)
class RowSpace:
    """An orthonormal basis of the span of all clients' samples, and the problem in its coordinates."""

    columns: np.ndarray  # the features that occur
    basis: np.ndarray  # (r, number of columns)
    dim: int  # of the whole space
    problem: LeastSquares  # in r unknowns

    @staticmethod
    def of(problem: LeastSquares) -> "RowSpace":
        """The span of the samples; directions within rounding of dependence count as dependent."""
        columns, stacked = _stacked(problem)
        with arithmetics.get("float").context():
            _, singular, rows = np.linalg.svd(stacked, full_matrices=False)
            noise = max(stacked.shape) * np.finfo(float).eps * singular[0]
            basis = rows[singular > noise] if singular[0] > 0 else rows[:1]
            parts = np.split(stacked @ basis.T, np.cumsum([len(b) for b in problem.b])[:-1])
        reduced = LeastSquares(A=parts, b=list(problem.b), weights=list(problem.exact_weights))
        return RowSpace(columns, basis, problem.dim, reduced)

    def point(self, coordinates: np.ndarray) -> np.ndarray:
        """The point (d,) with these coordinates (r,)."""
        found = np.zeros(self.dim)
        found[self.columns] = coordinates @ self.basis
        return found

    def coordinates(self, point: np.ndarray) -> np.ndarray:
        """The coordinates (r,) of the point of the span that is nearest to a point (d,)."""
        return np.asarray(self.basis @ point[self.columns])


def _stacked(problem: LeastSquares) -> tuple[np.ndarray, np.ndarray]:
    """The features that occur, and these columns of all samples, in floats."""
    designs: Any = problem.A
    if is_sparse(designs[0]):
        from scipy.sparse import vstack

        return occupied(vstack(list(designs), format="csr"))
    stacked = np.concatenate([float_array(A) for A in designs])
    return np.arange(problem.dim), stacked
