"""Gradient steps until the answer is as good as FedProx's definitions of inexactness ask for."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.lengths import lengths
from fedconvex.arithmetic.rationals import Array, Scalar, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.tolerances import require_reached, require_strongly_convex
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import integer_at_least

ROUNDING = 1e-9  # floats stop this much (relatively) below the bound, so that rounding cannot hide an excess


@final
@dataclass(frozen=True)
class ToInexactness(LocalSolver):
    """Gradient steps from start_k until ‖∇φ_k(θ_k)‖ <= γ_k‖∇φ_k(start_k)‖, φ_k being the whole subproblem of client k.

    FedProx paper, Definition 1 (the same γ for all) and Definition 2 (γ_k), where start_k = center_k = w. The steps are
    1/(L_k + weight). γ = 1 is the start itself, γ = 0 the exact solution. What was reached is measured as
    `inexactness` (`simulate(…, measure="all")`).

    Args:
        gamma: γ in [0, 1], or one per client.
        max_steps: NotConverged is raised where a client needs more.
    """

    gamma: Any
    max_steps: int = 100_000

    def __post_init__(self) -> None:
        several = isinstance(self.gamma, list | tuple) or np.ndim(self.gamma) > 0
        for value in self.gamma if several else (self.gamma,):
            if not 0 <= to_fraction(value, "gamma") <= 1:
                raise InvalidInput("gamma", value, "is not in [0, 1]", "give 0 (exact) <= gamma <= 1 (no work)")
        if several:
            object.__setattr__(self, "gamma", tuple(self.gamma))
        object.__setattr__(self, "max_steps", integer_at_least(self.max_steps, 1, "max_steps"))

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        if arithmetic.certainty is Certainty.ENCLOSED:
            raise InvalidInput("arithmetic", arithmetic.name, "cannot decide when to stop", "use 'exact' or 'float'")

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        if isinstance(self.gamma, tuple) and len(self.gamma) != problem.num_clients:
            cure = f"give one number, or {problem.num_clients}"
            raise InvalidInput("gamma", self.gamma, f"the problem has {problem.num_clients} clients", cure)
        require_strongly_convex(problem, scale, weight)

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        arithmetic = clients.arithmetic
        gamma = self._of(draw, clients.num_clients)
        exactly = np.array([value == 0 for value in gamma])
        L = np.maximum(clients.curvatures.L, 0)
        stepsize = (1 / (arithmetic.array(L) + subproblem.weight))[:, None]
        theta = subproblem.start
        if exactly.any():
            theta = arithmetic.where(exactly, clients.minimise(subproblem), theta)
        bounds: Any = None
        for step in range(self.max_steps + 1):
            gradients = subproblem.add_gradients(theta, clients.gradients(theta))
            if bounds is None:
                bounds = self._bounds(arithmetic, gradients, gamma)
            reached = exactly | self._reached(arithmetic, gradients, bounds)
            if reached.all():
                return Answers(theta)
            if step < self.max_steps:
                theta = arithmetic.where(~reached, theta - stepsize * gradients, theta)
        asked = arithmetic.to_float(bounds) ** 0.5 if arithmetic.certainty is Certainty.EXACT else bounds
        require_reached(reached, lengths(arithmetic.to_float(gradients)), asked, self.max_steps)
        return Answers(theta)

    def _bounds(self, arithmetic: Arithmetic, gradients: Array, gamma: list[Fraction]) -> Array:
        """γ_k² times the squared length of the first gradient in rationals; in floats γ_k times its length, less a
        little where that is less than all of it.
        """
        if arithmetic.certainty is Certainty.EXACT:
            return (gradients * gradients).sum(-1) * arithmetic.array([value**2 for value in gamma])
        reduced = [float(value) * (1 - ROUNDING) if value < 1 else 1.0 for value in gamma]
        return lengths(arithmetic.to_float(gradients)) * np.array(reduced)

    def _reached(self, arithmetic: Arithmetic, gradients: Array, bounds: Array) -> np.ndarray:
        if arithmetic.certainty is Certainty.EXACT:
            return np.asarray((gradients * gradients).sum(-1) <= bounds, dtype=bool)
        return np.asarray(lengths(arithmetic.to_float(gradients)) <= bounds)

    def _of(self, draw: Draw, size: int) -> list[Fraction]:
        if not isinstance(self.gamma, tuple):
            return [to_fraction(self.gamma)] * size
        members = range(size) if draw.members is None else draw.members
        return [to_fraction(self.gamma[k]) for k in members]
