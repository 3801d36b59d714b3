"""Gradient steps until the answer is γ-inexact in the sense of the FedProx paper."""

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

ROUNDING = 1e-9  # in floats the bound is reduced by this relative margin, so that rounding cannot hide a violation


@final
@dataclass(frozen=True)
class ToInexactness(LocalSolver):
    """Local solver: gradient steps from start_k until ‖∇φ_k(θ_k)‖ <= γ_k‖∇φ_k(start_k)‖, with φ_k the whole subproblem.

    Use it to run FedProx under the assumptions of its theorems; for a fixed amount of work use `GradientDescent`.
    Source: FedProx paper, Definition 1 (one γ) and Definition 2 (γ_k per client), where start_k = center_k = w. There γ
    is an inexactness; smaller is more accurate. The steps have size 1/(L_k + weight). γ = 1 returns the start, γ = 0
    the exact solution. `simulate(…, measure="all")` reports the inexactness that was reached.

    Works in floats, torch and exact arithmetic, not in balls, which cannot decide when to stop.

    Args:
        gamma: γ in [0, 1], or a sequence with one per client.
        max_steps: >= 1.

    Raises:
        InvalidInput: values out of range; a subproblem that is not strongly convex (when a run starts).
        NotConverged: a client needs more than max_steps steps.
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
        gamma = self._participants_gamma(draw, clients.num_clients)
        exactly = np.array([value == 0 for value in gamma])  # gradient steps would never reach these
        L = np.maximum(clients.curvatures.L, 0)
        stepsize = (1 / (arithmetic.array(L) + subproblem.weight))[:, None]
        theta = subproblem.start
        if exactly.any():
            theta = arithmetic.where(exactly, clients.minimise(subproblem), theta)
        bounds: Any = None
        for step in range(self.max_steps + 1):
            gradients = subproblem.add_gradients(theta, clients.gradients(theta))
            if bounds is None:  # relative to the gradients at the start
                bounds = self._bounds(arithmetic, gradients, gamma)
            reached = exactly | self._reached(arithmetic, gradients, bounds)
            if reached.all():
                return Answers(theta)
            if step < self.max_steps:
                theta = arithmetic.where(~reached, theta - stepsize * gradients, theta)
        required = arithmetic.to_float(bounds) ** 0.5 if arithmetic.certainty is Certainty.EXACT else bounds
        require_reached(reached, lengths(arithmetic.to_float(gradients)), required, self.max_steps)
        return Answers(theta)

    def _bounds(self, arithmetic: Arithmetic, gradients: Array, gamma: list[Fraction]) -> Array:
        """The bounds that gradients must reach, (K,), given the gradients at the start.

        In rationals, which have no square roots, they are squared: γ_k²‖∇φ_k(start_k)‖². In floats they are
        γ_k‖∇φ_k(start_k)‖, slightly reduced unless γ_k = 1, where the start itself must satisfy the bound.
        """
        if arithmetic.certainty is Certainty.EXACT:
            return (gradients * gradients).sum(-1) * arithmetic.array([value**2 for value in gamma])
        reduced = [float(value) * (1 - ROUNDING) if value < 1 else 1.0 for value in gamma]
        return lengths(arithmetic.to_float(gradients)) * np.array(reduced)

    def _reached(self, arithmetic: Arithmetic, gradients: Array, bounds: Array) -> np.ndarray:
        if arithmetic.certainty is Certainty.EXACT:
            return np.asarray((gradients * gradients).sum(-1) <= bounds, dtype=bool)
        return np.asarray(lengths(arithmetic.to_float(gradients)) <= bounds)

    def _participants_gamma(self, draw: Draw, size: int) -> list[Fraction]:
        if not isinstance(self.gamma, tuple):
            return [to_fraction(self.gamma)] * size
        members = range(size) if draw.members is None else draw.members
        return [to_fraction(self.gamma[k]) for k in members]
