"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from collections.abc import Mapping

from fedconvex.local_solvers.adam import Adam as Adam
from fedconvex.local_solvers.base import Answers as Answers
from fedconvex.local_solvers.base import LocalSolver as LocalSolver
from fedconvex.local_solvers.exact import Exact as Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent as GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness as ToInexactness
from fedconvex.local_solvers.sgd import SGD as SGD
from fedconvex.local_solvers.tolerances import AcceleratedGradient as AcceleratedGradient
from fedconvex.local_solvers.tolerances import Newton as Newton
from fedconvex.local_solvers.unequal_steps import RandomSteps as RandomSteps
from fedconvex.local_solvers.unequal_steps import UnequalSteps as UnequalSteps

LOCAL_SOLVERS: Mapping[str, type[LocalSolver]]
__all__ = [
    "LOCAL_SOLVERS",
    "SGD",
    "AcceleratedGradient",
    "Adam",
    "Answers",
    "Exact",
    "GradientDescent",
    "LocalSolver",
    "Newton",
    "RandomSteps",
    "ToInexactness",
    "UnequalSteps",
]
