"""Written by `python docs/making/type_stubs.py` for type checkers, from the names that the package finds."""

from collections.abc import Mapping

from fedconvex.problems.base import Clients as Clients
from fedconvex.problems.base import Problem as Problem
from fedconvex.problems.base import Subproblem as Subproblem
from fedconvex.problems.logistic import Logistic as Logistic
from fedconvex.problems.logistic import MultinomialLogistic as MultinomialLogistic
from fedconvex.problems.quadratics import LeastSquares as LeastSquares
from fedconvex.problems.quadratics import Quadratic as Quadratic

PROBLEMS: Mapping[str, type[Problem]]
__all__ = [
    "PROBLEMS",
    "Clients",
    "LeastSquares",
    "Logistic",
    "MultinomialLogistic",
    "Problem",
    "Quadratic",
    "Subproblem",
]
