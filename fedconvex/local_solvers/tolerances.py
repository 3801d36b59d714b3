"""What solvers that stop at a tolerance share: checks of parameters and curvature, and the error of too many steps."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.problems.base import Problem
from fedconvex.validation import integer_at_least, positive


class ToTolerance(LocalSolver):
    """The base class of solvers that step in floating point until ‖∇φ_k(θ_k)‖ <= tolerance, at most max_steps times."""

    tolerance: float
    max_steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", nearest_float(positive(self.tolerance, "tolerance")))
        object.__setattr__(self, "max_steps", integer_at_least(self.max_steps, 1, "max_steps"))

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if arithmetic.certainty is not Certainty.NUMERIC:
            problem = f"works in floats, not in {arithmetic.name} arithmetic"
            raise InvalidInput("local_solver", self, problem, "use Exact()")


def require_convex(problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
    """Raises InvalidInput unless every subproblem F_k + (weight/2)‖·‖² is convex."""
    _require_curvature(problem, scale, weight, "is not convex", strict=False)


def require_strongly_convex(problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
    """Raises InvalidInput unless every subproblem F_k + (weight/2)‖·‖² is strongly convex."""
    _require_curvature(problem, scale, weight, "is not strongly convex: its solution may not exist", strict=True)


def require_reached(reached: np.ndarray, left: np.ndarray, required: np.ndarray, max_steps: int) -> None:
    """Raises NotConverged unless all clients reached the gradient norm `required`; `left` are the final norms, (K,)."""
    if not reached.all():
        k = int(np.argmax(np.where(reached, -1.0, np.where(np.isnan(left), np.inf, left))))  # the worst; NaN is worst
        raise NotConverged(
            f"{int((~reached).sum())} local problems were not solved in {max_steps} steps: the largest remaining "
            f"gradient norm is {left[k]:.3g}, required {required[k]:.3g}; raise the tolerance (rounding limits it to "
            "about 1e-16 times the numbers involved) or max_steps"
        )


def _require_curvature(
    problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar, problem_found: str, strict: bool
) -> None:
    if problem.is_convex and (nearest_float(weight) > 0 or (not strict and weight == 0)):
        return
    factors = np.ones(problem.num_clients) if scale is None else np.array([float(factor) for factor in scale])
    least = factors * problem.mu + nearest_float(weight)
    bad = np.flatnonzero(least <= 0 if strict else least < 0)
    if not strict and weight == 0 and not len(bad):
        bad = np.array([np.argmin(least)])  # is_convex is exact: the curvature is negative, below floats' resolution
    if len(bad):
        k = int(bad[0])
        raise InvalidInput(
            "weight of the proximal term",
            nearest_float(weight),
            f"client {k}'s subproblem {problem_found} (its least curvature is {least[k]:.6g})",
            f"raise it above {max(0.0, nearest_float(weight) - least[k]):.6g}, or use gradient steps",
        )
