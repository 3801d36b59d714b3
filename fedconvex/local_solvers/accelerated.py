"""Nesterov's accelerated gradient method on the subproblem, until the gradient is below a tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.arithmetic.lengths import lengths
from fedconvex.arithmetic.rationals import Scalar, nearest_float
from fedconvex.local_solvers.base import EVERYONE, Answers
from fedconvex.local_solvers.tolerances import ToTolerance, require_convex, require_reached
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem


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
