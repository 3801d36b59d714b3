"""Gradient steps whose number every client draws in every round."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.step_numbers import RandomNumberOfSteps
from fedconvex.stepsizes import stepsize
from fedconvex.validation import instance_of


@final
@dataclass(frozen=True, kw_only=True)
class RandomSteps(LocalSolver):
    """Local solver: gradient steps θ ← θ − stepsize · ∇φ_k(θ) from start_k, as many as client k draws in the round.

    Use it for clients whose speed varies from round to round. The methods with `local_steps` make it themselves from a
    `RandomNumberOfSteps`; `UnequalSteps` is for numbers that stay the same.

    Args:
        steps: a `RandomNumberOfSteps`.
        stepsize: > 0 or a `StepsizeSchedule`, the same for all clients; on convex clients a step decreases φ_k if
            stepsize < 2/(L_k + weight).

    Raises:
        InvalidInput: values out of range; stragglers (when a run starts), whose work is part of a fixed one.
    """

    steps: RandomNumberOfSteps
    stepsize: Scalar = number()

    has_path_lengths: ClassVar[bool] = True
    equal_steps: ClassVar[bool] = False

    def __post_init__(self) -> None:
        cure = "give fedconvex.RandomNumberOfSteps((1, 2, 5))"
        instance_of(self.steps, RandomNumberOfSteps, "steps", "a distribution of numbers of steps", cure)
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        members = np.arange(clients.num_clients) if draw.members is None else draw.members
        own = self.steps.draw(draw.seed, draw.round, members)
        # clients that have taken their steps keep their point while the others continue
        steps = GradientDescent(steps=int(own.max()), stepsize=self.stepsize)
        return steps.solve(clients, subproblem, replace(draw, efforts=own))

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Accepts every problem: gradient steps exist on all of them."""
