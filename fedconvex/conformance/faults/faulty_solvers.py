"""Local solvers with one fault each, built around a correct solver.

Their path lengths are those of the correct solver: the server of a faulty implementation does not know of the fault.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem


class FaultySolver(LocalSolver):
    """A faulty version of the solver `inner`."""

    inner: LocalSolver

    def require(self, problem: Problem, scale: Any, weight: Scalar) -> None:
        """Accepts every problem: faulty code checks nothing."""


@final
@dataclass(frozen=True)
class Chained(FaultySolver):
    """Every client starts where the client before it ended: they train one and the same model object."""

    inner: LocalSolver

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        found: list[Answers] = []
        for k in range(clients.num_clients):
            one = np.array([k])
            own, alone = subproblem.of(one), draw.kept(np.arange(clients.num_clients) == k)
            if found:
                own = replace(own, start=found[-1].points)
            found.append(self.inner.solve(clients.subset(one), own, alone))
        paths = [answer.path_lengths for answer in found if answer.path_lengths is not None]
        return Answers(np.concatenate([answer.points for answer in found]), np.concatenate(paths) if paths else None)


@final
@dataclass(frozen=True)
class CountedSteps(FaultySolver):
    """Its path lengths count the local steps, and not how often momentum repeats their gradients."""

    inner: LocalSolver

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        found, own = self.inner.solve(clients, subproblem, draw), self.inner
        while isinstance(own, FaultySolver):  # another fault of a pair
            own = own.inner
        if not isinstance(own, SGD):
            return found
        return Answers(found.points, replace(own, momentum=0).solve(clients, subproblem, draw).path_lengths)


@final
@dataclass(frozen=True)
class OneClientsData(FaultySolver):
    """All active clients minimise the function of the last one."""

    inner: LocalSolver

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        last = np.full(clients.num_clients, clients.num_clients - 1)
        return self.inner.solve(clients.subset(last), subproblem, draw)


@final
@dataclass(frozen=True)
class OtherSteps(FaultySolver):
    """Every client takes change(K) steps (or epochs) instead of K."""

    inner: GradientDescent | SGD
    change: Callable[[int], int]

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        ordered = np.full(clients.num_clients, self.inner.effort) if draw.efforts is None else draw.efforts
        taken = np.array([self.change(int(steps)) for steps in ordered])
        unit = "steps" if self.inner.steps is not None else "epochs"
        most: dict[str, Any] = {unit: max(1, int(taken.max()))}
        longer = replace(self.inner, **most)
        points = longer.solve(clients, subproblem, replace(draw, efforts=taken)).points
        return Answers(points, self.inner.solve(clients, subproblem, draw).path_lengths)


@final
@dataclass(frozen=True)
class FrozenGradient(FaultySolver):
    """The client's own gradient is computed once, at the start."""

    inner: GradientDescent

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        theta, frozen = subproblem.start, clients.gradients(subproblem.start)
        for taken in range(self.inner.steps):
            stepped = theta - self.inner.stepsize * subproblem.add_gradients(theta, frozen)
            theta = stepped if draw.efforts is None else clients.arithmetic.where(draw.efforts > taken, stepped, theta)
        return Answers(theta, self.inner.solve(clients, subproblem, draw).path_lengths)


@final
@dataclass(frozen=True)
class Decaying(FaultySolver):
    """The stepsize of round t is multiplied by factor(t); the server still divides by the original one."""

    inner: GradientDescent | SGD
    factor: Callable[[int], Fraction]

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        factor = clients.arithmetic.scalar(self.factor(draw.round))
        smaller = replace(self.inner, stepsize=self.inner.stepsize * factor)
        points = smaller.solve(clients, subproblem, draw).points
        return Answers(points, self.inner.solve(clients, subproblem, draw).path_lengths)


@final
@dataclass(frozen=True)
class LastingMomentum(FaultySolver):
    """Full-batch steps whose velocity lasts from round to round: one for each client, or one that all share."""

    inner: SGD
    shared: bool
    velocities: dict[int, Array] = field(default_factory=dict)  # by client; filled during one run

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        assert draw.members is not None
        found = []
        for k, member in enumerate(draw.members.tolist()):
            own, one = subproblem.of(np.array([k])), clients.subset(np.array([k]))
            owner, theta = 0 if self.shared else member, own.start
            # torch.optim.SGD's rule: the first velocity is the gradient itself
            velocity = self.velocities.get(owner, 0 * theta)
            for _ in range(self.inner.effort or 0 if draw.efforts is None else int(draw.efforts[k])):
                gradient = own.add_gradients(theta, one.gradients(theta)) + self.inner.weight_decay * theta
                velocity = self.inner.momentum * velocity + gradient
                theta = theta - self.inner.stepsize * velocity
            self.velocities[owner] = velocity
            found.append(theta)
        return Answers(np.concatenate(found), self.inner.solve(clients, subproblem, draw).path_lengths)
