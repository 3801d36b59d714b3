"""Gradient steps of which every client takes a number of its own, always the same or drawn in every round."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver, SmoothSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.step_numbers import NumberOfSteps, RandomNumberOfSteps, require_one_per_client, steps_of_every_client
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


@final
@dataclass(frozen=True, kw_only=True)
class UnequalSteps(SmoothSolver):
    """Local solver: client k takes `steps[k]` gradient steps θ ← θ − stepsize · ∇φ_k(θ) from start_k.

    Use it where clients differ in speed, always in the same way: FedNova's objective inconsistency, FedLin's τ_k. The
    methods with `local_steps` make it themselves from a tuple; for clients that are slow at random use
    `participation.Stragglers`. With partial participation every participant takes its own number of steps.

    Args:
        steps: one integer >= 1 for every client of the problem, in the problem's order.
        stepsize: > 0 or a `StepsizeSchedule`, the same for all clients; on convex clients a step decreases φ_k if
            stepsize < 2/(L_k + weight).

    Raises:
        InvalidInput: values out of range; a problem with another number of clients, or stragglers (when a run starts).
    """

    steps: tuple[int, ...]
    stepsize: Scalar = number()

    has_path_lengths: ClassVar[bool] = True
    equal_steps: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", steps_of_every_client(self.steps, "steps"))
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        own = np.array(self.steps) if draw.members is None else np.array(self.steps)[draw.members]
        # clients that have taken their steps keep their point while the others continue
        return self._taking(max(own)).solve(clients, subproblem, replace(draw, efforts=own))

    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        parts = [
            (members, solver.tangent(clients.subset(members), subproblem.of(members), answers[members]))
            for members, solver in self._groups()
        ]

        def derivative(change: Subproblem) -> Array:
            moved = change.start + 0  # a copy in every array library
            for members, part in parts:
                moved[members] = part(change.of(members))
            return moved

        return derivative

    def response(self, arithmetic: Arithmetic, H: Batch, c: Array, weight: Scalar) -> tuple[Batch, Array]:
        """As GradientDescent's, with e = steps[k] for client k; without a proximal term, R_k H_k = I − M_k^steps[k]."""
        matrices, vectors = {}, {}
        for members, solver in self._groups():
            RH, Rc = solver.response(arithmetic, arithmetic.stack([H[k] for k in members]), c[members], weight)
            for place, k in enumerate(members):
                matrices[k], vectors[k] = RH[place], Rc[place]
        places = range(len(self.steps))
        return arithmetic.stack([matrices[k] for k in places]), arithmetic.rows([vectors[k] for k in places])

    def rounding(self, least: np.ndarray, largest: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        of_matrices, of_vectors = np.empty(len(self.steps)), np.empty(len(self.steps))
        for members, solver in self._groups():
            found = solver.rounding(least[members], largest[members], weight)
            of_matrices[members], of_vectors[members] = found
        return of_matrices, of_vectors

    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        return self._taking(self.steps[k]).contraction(problem, k, weight)

    def descends(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> bool:
        """If stepsize < 2/(L_k + weight) for all clients: every single step decreases the subproblem."""
        return self._taking(max(self.steps)).descends(problem, scale, weight)

    def is_averaged(self, problem: Problem, weight: Scalar) -> bool:
        """If there is no proximal term and stepsize < 2/L_k: compositions of averaged maps are averaged."""
        return self._taking(1).is_averaged(problem, weight)

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Accepts problems with as many clients as there are numbers of steps."""
        require_one_per_client(self.steps, problem.num_clients, "steps")

    def _taking(self, steps: int) -> GradientDescent:
        return GradientDescent(steps=steps, stepsize=self.stepsize)

    def _groups(self) -> Iterator[tuple[np.ndarray, GradientDescent]]:
        """The clients with equal numbers of steps, and what they do."""
        for steps in sorted(set(self.steps)):
            yield np.flatnonzero(np.array(self.steps) == steps), self._taking(steps)


def gradient_steps(local_steps: NumberOfSteps, stepsize: Scalar) -> LocalSolver:
    """The local solver of methods with `local_steps`: one number for all clients, one for every client, or random."""
    if isinstance(local_steps, int):
        return GradientDescent(steps=local_steps, stepsize=stepsize)
    if isinstance(local_steps, RandomNumberOfSteps):
        return RandomSteps(steps=local_steps, stepsize=stepsize)
    return UnequalSteps(steps=tuple(local_steps), stepsize=stepsize)


def require_equal_steps(local_steps: NumberOfSteps, solver: LocalSolver, missing: str) -> None:
    """Raises InvalidInput where a method, or the local solver, has a number of steps for every client.

    Use it in analyses for which all clients are alike. missing: what is not done then, such as "is not analysed".
    """
    drawn = isinstance(local_steps, RandomNumberOfSteps) or isinstance(solver, RandomSteps)
    how = "draws the numbers of local steps" if drawn else "has a number of local steps for every client"
    problem, cure = f"{how}, which {missing}", "give one number for all clients"
    if not isinstance(local_steps, int):
        raise InvalidInput("local_steps", local_steps, problem, cure)
    if not solver.equal_steps:
        raise InvalidInput("local_solver", solver, problem, cure)
