"""Many gradient steps on the quadratic model as one matrix: what `GradientDescent` answers, in log(steps) time."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.audit.designs.model_clients import ModelClients
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem


@final
@dataclass(frozen=True)
class CollapsedSteps(LocalSolver):
    """θ = start − s Σ_{j<e} (I − s(H + weight·I))^j ∇φ(start), the answer of e gradient steps of size s."""

    steps: int
    stepsize: float

    has_path_lengths: ClassVar[bool] = True

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        assert isinstance(clients, ModelClients)
        gradients = subproblem.add_gradients(subproblem.start, clients.gradients(subproblem.start))
        length = self.steps * self.stepsize
        moved = clients.times(clients.step_sums(self.steps, self.stepsize, float(subproblem.weight)), gradients)
        return Answers(subproblem.start - moved, np.full((clients.num_clients, 1), length))

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Accepts every problem, as `GradientDescent` does."""
