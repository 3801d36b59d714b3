"""How accurately local solvers solve the clients' subproblems: proved inexactness, error of proximal steps."""

from typing import Any

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.parameters import is_scheduled
from fedconvex.statements.setting import CurvatureBounds, Unmeasured


def inexactness(solver: LocalSolver, method: Method, curvatures: CurvatureBounds, balls: Arithmetic) -> Any:
    """A γ for which every local solution is proved to be γ-inexact (FedProx paper, Definition 1).

    Raises Unmeasured for local solvers of which nothing is proved, and for gradient steps that are too long.
    """
    declared: Any = solver
    match type(solver).__name__:
        case "Exact":
            return 0
        case "ToInexactness":
            return max(declared.gamma) if isinstance(declared.gamma, tuple) else declared.gamma
        case "GradientDescent":
            with balls.context():
                # each step multiplies the subproblem's gradient by at most the contraction factor
                factor = step_contraction(solver, method, curvatures, balls) ** declared.steps
                if not factor <= 1:
                    raise Unmeasured("the local gradient steps are too long to reach an inexactness of at most 1")
                return factor
    raise Unmeasured(f"no inexactness is proved of the local solver {type(solver).__name__}")


def prox_error(solver: LocalSolver) -> Any:
    """An upper bound b of the distance from a computed proximal point to the true one (FedSplit paper, (15))."""
    if type(solver).__name__ == "Exact":
        return 0
    # the error of gradient steps is proportional to the distance from their start, which no constant bounds
    raise Unmeasured("no bound of the proximal steps' error is known that holds at all points")


def step_contraction(solver: LocalSolver, method: Method, curvatures: CurvatureBounds, balls: Arithmetic) -> Any:
    """The contraction factor max(|1 − s a|, |1 − s b|) of a local gradient step of size s.

    The eigenvalues of the subproblems' Hessians lie in [a, b]. A step multiplies the difference from the solution by
    I − sH, where H is the mean Hessian on the segment between them; and the gradient of the subproblem by a matrix of
    the same form.
    """
    steps: Any = solver
    if type(solver).__name__ != "GradientDescent":
        raise Unmeasured(f"the local solver {type(solver).__name__} takes no gradient steps of one size")
    if is_scheduled(solver):
        raise Unmeasured("the size of the local gradient steps changes from round to round")
    with balls.context():
        s, weight = balls.scalar(steps.stepsize), balls.scalar(method.proximal_weight)
        least, largest = curvatures.strong_convexity + weight, curvatures.smoothness + weight
        return abs(1 - s * least).max(abs(1 - s * largest))
