"""Local solvers, one file each: how a client's subproblem is solved."""

from fedconvex.local_solvers.accelerated import AcceleratedGradient
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.local_solvers.newton_steps import Newton
from fedconvex.local_solvers.sgd import SGD

__all__ = [
    "SGD",
    "AcceleratedGradient",
    "Answers",
    "Exact",
    "GradientDescent",
    "LocalSolver",
    "Newton",
    "ToInexactness",
]
