"""Fixed points on least squares with fewer samples than unknowns, in floats and in coordinates of the samples.

A direction v with A_k v = 0 for all clients changes no gradient: with w, every w + v is a fixed point, so that none is
unique and none attracts all starts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.fixed_points.equations import QuadraticFixedPoints
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method
from fedconvex.problems.quadratics import LeastSquares
from fedconvex.problems.row_space import RowSpace


@dataclass(frozen=True, eq=False)
class WideFixedPoints:
    """The fixed points of one method with one local solver on wide least squares."""

    method: Method
    problem: LeastSquares
    solver: SmoothSolver
    unique = False
    attracting = False

    @property
    def point(self) -> np.ndarray:
        """The fixed point that rounds from the origin reach, computed in the span of the samples."""
        floats = arithmetics.get("float")
        with floats.context():
            found = QuadraticFixedPoints(self.method, self.row_space.problem, self.solver).point(floats, np.inf)
            return self.row_space.point(found)

    @cached_property
    def row_space(self) -> RowSpace:
        """The span of the samples, which rounds from the origin do not leave."""
        return RowSpace.of(self.problem)
