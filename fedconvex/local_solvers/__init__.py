"""Local solvers, one file each: how a client's subproblem is solved."""

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent

__all__ = ["Exact", "GradientDescent", "LocalSolver"]
