"""Damped Newton steps on the subproblem, until the gradient is below a tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.arithmetic.lengths import lengths
from fedconvex.arithmetic.newton import minimise
from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers
from fedconvex.local_solvers.tolerances import ToTolerance, require_reached, require_strongly_convex
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.proximal import ProximalFunctions
from fedconvex.problems.subproblem import Subproblem


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
