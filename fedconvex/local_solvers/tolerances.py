"""Newton's and Nesterov's methods on the subproblem, until the gradient is below a tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.lengths import lengths
from fedconvex.arithmetic.newton import minimise
from fedconvex.arithmetic.rationals import Scalar, nearest_float
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.proximal import ProximalFunctions
from fedconvex.problems.subproblem import Subproblem
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


@final
@dataclass(frozen=True, kw_only=True)
class AcceleratedGradient(ToTolerance):
    """Local solver: Nesterov's accelerated gradient steps until ‖∇φ_k(θ_k)‖ <= tolerance.

    Use it for large smooth convex subproblems where Newton's method would cost too much; it needs on the order of √κ
    steps instead of κ. On small problems `Newton` and `Exact` are faster. Floating point and torch only.

    y ← x + β(x − x_before), x ← y − ∇φ_k(y)/L from start_k; the answer is y. φ_k is the whole subproblem of client k,
    L = L_k + weight its smoothness and μ = mu_k + weight its strong convexity constant: β = (√L − √μ)/(√L + √μ), or
    t/(t + 3) in step t if μ = 0. Source: FedSplit paper, Figure 2(b), with tolerance 1e-8.

    Args:
        tolerance: > 0, absolute.
        max_steps: >= 1.

    Raises:
        InvalidInput: values out of range; a nonconvex subproblem (when a run starts).
        NotConverged: a client needs more than max_steps steps.
    """

    tolerance: float = 1e-8
    max_steps: int = 100_000

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        require_convex(problem, scale, weight)

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        weight = nearest_float(subproblem.weight)
        L = np.maximum(clients.curvatures.L + weight, 0)
        mu = np.maximum(clients.curvatures.mu + weight, 0)
        steady = (np.sqrt(L) - np.sqrt(mu)) / np.where(L > 0, np.sqrt(L) + np.sqrt(mu), 1)
        array, where = clients.arithmetic.array, clients.arithmetic.where
        stepsize = array(1 / np.where(L > 0, L, 1))[:, None]  # L = 0: the gradient is constant, any stepsize will do
        x = y = subproblem.start
        # clients that have reached the tolerance keep their point while the others continue
        for t in range(self.max_steps + 1):
            gradients = subproblem.add_gradients(y, clients.gradients(y))
            left = lengths(clients.arithmetic.to_float(gradients))
            reached = left <= self.tolerance  # tested at y, which is the answer
            if reached.all():
                return Answers(y)
            if t < self.max_steps:
                before, x = x, where(~reached, y - stepsize * gradients, x)
                momentum = array(np.where(mu > 0, steady, t / (t + 3)))[:, None]
                y = where(~reached, x + momentum * (x - before), y)
        require_reached(reached, left, np.full(len(left), self.tolerance), self.max_steps)
        return Answers(y)


@final
@dataclass(frozen=True, kw_only=True)
class Newton(ToTolerance):
    """Local solver: damped Newton steps from start_k until ‖∇φ_k(θ_k)‖ <= tolerance, with φ_k the whole subproblem.

    Use it for a stated accuracy on smooth strongly convex subproblems, mostly logistic ones; a few steps suffice.
    `Exact` runs the same method to the limit of floating point. Small Hessians are inverted, large ones used only in
    products (conjugate gradients). Floating point and torch; in exact and ball arithmetic use `Exact`.

    Args:
        tolerance: > 0, absolute.
        max_steps: >= 1.

    Raises:
        InvalidInput: values out of range; a subproblem that is not strongly convex (when a run starts).
        NotConverged: a client needs more than max_steps steps.
    """

    tolerance: float = 1e-10
    max_steps: int = 200

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        require_strongly_convex(problem, scale, weight)

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        functions = ProximalFunctions(clients, subproblem)
        theta = minimise(functions, subproblem.start, max_steps=self.max_steps, tolerance=self.tolerance)
        left = lengths(clients.arithmetic.to_float(functions.gradients(theta)))
        require_reached(left <= self.tolerance, left, np.full(len(left), self.tolerance), self.max_steps)
        return Answers(theta)
