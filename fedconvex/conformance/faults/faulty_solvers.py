"""Local solvers with faults, built around a correct solver.

Their path lengths are those of the correct solver: the server of a faulty implementation does not know of the fault.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.conformance.batches import Batches, ChosenBatches, Work, drawn, path_lengths
from fedconvex.conformance.classification import SoftmaxClients
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem

BETAS, ADAM_ROOM = (0.9, 0.999), 1e-8  # torch.optim.Adam's defaults


class FaultySolver(LocalSolver):
    """A faulty version of a solver."""

    def require(self, problem: Problem, scale: Any, weight: Scalar) -> None:
        """Accepts every problem: faulty code checks nothing."""


@final
@dataclass(frozen=True)
class Chained(FaultySolver):
    """Every client starts where the client before it ended: they train one and the same model object."""

    inner: LocalSolver
    rounds: int | None = None  # None: in every round; else in the first ones
    centred: bool = False  # whether its proximal term pulls to where it starts, too

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        if self.rounds is not None and draw.round >= self.rounds:
            return self.inner.solve(clients, subproblem, draw)

        def after(own: Subproblem, before: Before) -> Subproblem:
            _, end = before[-1]
            own = replace(own, start=end.points)
            return replace(own, center=end.points) if self.centred and own.center is not None else own

        return one_by_one(self.inner.solve, clients, subproblem, draw, after)


@final
@dataclass(frozen=True)
class SharedMemory(FaultySolver):
    """The linear term of every client goes on from where the client before it left it: they have one memory.

    For linear terms that grow by weight·(θ − center) in each client's local work: multipliers, FedDyn's −g_k.
    """

    inner: LocalSolver

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        def after(own: Subproblem, before: Before) -> Subproblem:
            if own.linear is None:
                return own
            grown = [one.weight * (end.points - one.center) for one, end in before if one.center is not None]
            return replace(own, linear=own.linear + sum(grown, 0 * own.start))

        return one_by_one(self.inner.solve, clients, subproblem, draw, after)


Before = list[tuple[Subproblem, Answers]]  # the problems of the clients before one, and their answers


def one_by_one(
    solve: Callable[[Clients, Subproblem, Draw], Answers],
    clients: Clients,
    subproblem: Subproblem,
    draw: Draw,
    after: Callable[[Subproblem, Before], Subproblem] = lambda own, before: own,
) -> Answers:
    """The answers of clients of which each solves `after(its problem, those before it)`; the first one its own."""
    found: Before = []
    for k in range(clients.num_clients):
        one = np.array([k])
        own, alone = subproblem.of(one), draw.kept(np.arange(clients.num_clients) == k)
        own = after(own, found) if found else own
        found.append((own, solve(clients.subset(one), own, alone)))
    answers = [answer for _, answer in found]
    paths = [answer.path_lengths for answer in answers if answer.path_lengths is not None]
    return Answers(np.concatenate([answer.points for answer in answers]), np.concatenate(paths) if paths else None)


@final
@dataclass(frozen=True)
class OneClientsData(FaultySolver):
    """All active clients minimise the function of the last one."""

    inner: LocalSolver

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        last = np.full(clients.num_clients, clients.num_clients - 1)
        return self.inner.solve(clients.subset(last), subproblem, draw)


@final
@dataclass(frozen=True, kw_only=True)
class FaultySteps(FaultySolver):
    """Gradient steps with any of the faults that such steps can have, also several at once.

    Each field that is left out is right. The numbers are in any type; `solve` converts them to the run's arithmetic.
    """

    correct: GradientDescent | SGD
    momentum: Any = 0
    nesterov: bool = False
    weight_decay: Any = 0
    clip: Any = None  # gradients longer than this are scaled to it …
    normalised: bool = False  # … and so are shorter ones
    count: Callable[[int], int] = lambda amount: amount  # of steps or epochs taken, given the prescribed number
    batches: Callable[[Work], Batches] | None = None  # the mini-batches that a client visits; None: full batches
    factor: Callable[[int, int], Any] = lambda round, step: 1  # of the stepsize
    frozen: bool = False  # the client's own gradient is computed once, at the start
    unsquared: Fraction | None = None  # the proximal term is this factor times weight·‖θ − center‖
    covered: Literal["first", "last"] | None = None  # the tensor of the model in the proximal term; None: both
    adam: bool = False
    counted: bool = False  # path lengths count the local steps, and not how often momentum repeats their gradients
    lasting: Literal["own", "shared"] | None = None  # velocities last from round to round
    velocities: dict[int, Array] = field(default_factory=dict)  # by client; filled during one run

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        if self.lasting == "shared":  # each client continues with the velocity that the one before it left
            return one_by_one(self._descend, clients, subproblem, draw)
        return self._descend(clients, subproblem, draw)

    def _descend(self, clients: Clients, subproblem: Subproblem, draw: Draw) -> Answers:
        scalar, theta = clients.arithmetic.scalar, subproblem.start
        visited = None if self.batches is None else self._visited(clients, draw)
        taken = self._taken(clients, draw) if visited is None else np.array([len(batches) for batches in visited])
        velocity, second = self._first_velocity(theta, draw), 0 * theta
        momentum, weight_decay = scalar(self.momentum), scalar(self.weight_decay)
        decay = self.correct.decay**draw.round if isinstance(self.correct, SGD) else 1
        for step in range(int(taken.max(initial=0))):
            at = subproblem.start if self.frozen else theta
            own = clients.gradients(at) if visited is None else _batch_gradients(clients, at, visited, step)
            gradient = self._clipped(self._with_terms(clients, subproblem, theta, own)) + weight_decay * theta
            stepsize = self.correct.stepsize * decay * scalar(self.factor(draw.round, step))
            if self.adam:
                velocity = BETAS[0] * velocity + (1 - BETAS[0]) * gradient
                second = BETAS[1] * second + (1 - BETAS[1]) * gradient * gradient
                roots = np.sqrt(second / (1 - BETAS[1] ** (step + 1)))
                direction, moving = velocity / (1 - BETAS[0] ** (step + 1)) / (roots + ADAM_ROOM), velocity
            else:
                moving = momentum * velocity + gradient
                direction = gradient + momentum * moving if self.nesterov else moving
            working = taken > step  # stragglers stop after their own number of steps
            theta = clients.arithmetic.where(working, theta - stepsize * direction, theta)
            velocity = clients.arithmetic.where(working, moving, velocity)
        if self.lasting is not None:
            self.velocities.update(zip(self._owners(draw), velocity, strict=False))
        return Answers(theta, self._path_lengths(clients, draw))

    def _with_terms(self, clients: Clients, subproblem: Subproblem, theta: Array, own: Array) -> Array:
        """The subproblem's gradient, with the faults of its proximal term."""
        if subproblem.center is None or (self.unsquared is None and self.covered is None):
            return subproblem.add_gradients(theta, own)
        away = theta - subproblem.center
        if self.covered is not None:
            last = clients.given.num_classes if isinstance(clients, SoftmaxClients) else 1  # entries of the last tensor
            is_last = np.arange(theta.shape[1]) >= theta.shape[1] - last
            away = away * (is_last == (self.covered == "last")).astype(int).astype(theta.dtype)
        pull = subproblem.weight * away
        if self.unsquared is not None:
            # 0 at the centre, where the norm has no gradient: what automatic differentiation returns there
            sizes = np.linalg.norm(away, axis=1)[:, None]
            pull = np.where(
                sizes > 0, clients.arithmetic.scalar(self.unsquared) * pull / np.where(sizes > 0, sizes, 1), 0
            )
        return replace(subproblem, weight=0, center=None).add_gradients(theta, own) + pull

    def _clipped(self, gradient: Array) -> Array:
        if self.clip is None:
            return gradient
        sizes = np.linalg.norm(gradient, axis=1)[:, None]
        limit = float(self.clip)
        scaled = (sizes > 0) if self.normalised else (sizes > limit)
        return gradient * np.where(scaled, limit / np.where(sizes > 0, sizes, 1), 1.0)

    def _first_velocity(self, theta: Array, draw: Draw) -> Array:
        """torch.optim.SGD's rule: the first velocity of all is 0."""
        if self.lasting is None:
            return 0 * theta
        rows = zip(self._owners(draw), theta, strict=False)
        return np.stack([self.velocities.get(owner, 0 * row) for owner, row in rows])

    def _owners(self, draw: Draw) -> list[int]:
        assert draw.members is not None
        return [0] * len(draw.members) if self.lasting == "shared" else draw.members.tolist()

    def _ordered(self, clients: Clients, draw: Draw) -> np.ndarray:
        return np.full(clients.num_clients, self.correct.effort) if draw.efforts is None else draw.efforts

    def _taken(self, clients: Clients, draw: Draw) -> np.ndarray:
        """The steps or epochs that each client takes."""
        return np.array([self.count(int(amount)) for amount in self._ordered(clients, draw)], dtype=np.int64)

    def _visited(self, clients: Clients, draw: Draw) -> list[Batches]:
        """Each client's mini-batches of the round."""
        assert self.batches is not None
        assert draw.members is not None
        given = zip(draw.members.tolist(), clients.samples().count, self._taken(clients, draw), strict=True)
        return [self.batches(Work(k, draw.round, int(samples), int(amount))) for k, samples, amount in given]

    def _path_lengths(self, clients: Clients, draw: Draw) -> Array:
        """Those of the correct solver; its steps are not taken."""
        steps, numbers = self._ordered(clients, draw), clients.arithmetic
        if isinstance(self.correct, GradientDescent):
            return self.correct.stepsize * numbers.array(steps)[:, None]
        plain = replace(self.correct, momentum=0 * self.correct.momentum) if self.counted else self.correct
        return path_lengths(plain, clients, steps, draw.round)


def _batch_gradients(clients: Clients, theta: Array, visited: Sequence[Batches], step: int) -> Array:
    """The gradients of the clients' functions on their batches of this step; of any sample where there is none."""
    samples, array = clients.samples(), clients.arithmetic.array
    batches = [list(own[step]) if step < len(own) else [0] for own in visited]
    widths = np.array([len(batch) for batch in batches])
    padded = np.array([batch + batch[-1:] * (max(widths) - len(batch)) for batch in batches], dtype=np.int64)
    rows = np.asarray(samples.first)[:, None] + padded
    shares = array((np.arange(max(widths)) < widths[:, None]).astype(int)) / array(widths)[:, None]
    return samples.gradients(np.arange(clients.num_clients), theta, rows, shares)


def with_faults(solver: LocalSolver) -> LocalSolver:
    """The solver as one that faults can be planted in: gradient steps as `FaultySteps`."""
    if isinstance(solver, GradientDescent):
        return FaultySteps(correct=solver)
    if isinstance(solver, ChosenBatches):
        return replace(_steps_of(solver.inner), batches=solver.choose)
    return _steps_of(solver) if isinstance(solver, SGD) else solver


def _steps_of(solver: SGD) -> FaultySteps:
    return FaultySteps(
        correct=solver,
        momentum=solver.momentum,
        weight_decay=solver.weight_decay,
        clip=solver.clip,
        batches=None if solver.batch_size is None else partial(drawn, solver),
    )


def with_steps(change: Callable[[FaultySteps], FaultySteps]) -> Callable[[LocalSolver], LocalSolver]:
    """Change the gradient steps of a solver, within whatever is built around them."""

    def changed(solver: LocalSolver) -> LocalSolver:
        if isinstance(solver, Chained | SharedMemory | OneClientsData):
            return replace(solver, inner=changed(solver.inner))
        return change(solver) if isinstance(solver, FaultySteps) else solver

    return changed


def on_steps(**changes: Any) -> Callable[[LocalSolver], LocalSolver]:
    """The same, given the fields of the steps that differ."""
    return with_steps(lambda steps: replace(steps, **changes))
