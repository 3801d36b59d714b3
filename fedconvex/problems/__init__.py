"""Problems: clients' functions with weights. One file per family; `base.Problem` says what a problem must offer."""

from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.logistic import Logistic, MultinomialLogistic
from fedconvex.problems.quadratics import LeastSquares, Quadratic

__all__ = ["Clients", "LeastSquares", "Logistic", "MultinomialLogistic", "Problem", "Quadratic", "Subproblem"]
