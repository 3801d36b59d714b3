"""What a method is: which subproblem it asks of the clients, what they remember, what the server does with the answers.

A method is algebra only: `+ − * /` and averages over the client axis of (K, d) arrays. The same lines therefore run on
floats, rationals, balls and torch tensors; and where they are linear in the state, they also map a small change of it
to the change of the next one (`rounds.Rounds.tangent`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.problems.base import Problem
from fedconvex.problems.subproblem import Subproblem


@dataclass(frozen=True, eq=False)
class State:
    """What a method carries from round to round.

    `server` is the server's point (d,), `shared` what else the server keeps, `memory` what the clients keep: arrays
    with one row per client.
    """

    server: Array
    shared: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, Array] = field(default_factory=dict)

    def flat(self) -> Array:
        """Everything in one NumPy vector."""
        return np.concatenate([part.ravel() for part in self._parts()])

    def with_values(self, flat: Array) -> "State":
        """The state of the same shape whose `flat()` is given."""
        parts, begin = [], 0
        for part in self._parts():
            parts.append(flat[begin : begin + part.size].reshape(part.shape))
            begin += part.size
        values = iter(parts)
        return State(
            next(values), {name: next(values) for name in self.shared}, {name: next(values) for name in self.memory}
        )

    def of(self, members: Array | None) -> "State":
        """The state as seen by some clients: the memory's rows are theirs."""
        if members is None:
            return self
        return State(self.server, self.shared, {name: rows[members] for name, rows in self.memory.items()})

    def replaced(self, members: Array | None, new: "State", in_place: bool) -> "State":
        """The whole state after a round in which only some clients took part; `in_place` overwrites their rows here."""
        if members is None:
            return new
        memory = {}
        for name, rows in self.memory.items():
            memory[name] = rows if in_place else rows + 0
            memory[name][members] = new.memory[name]
        return State(new.server, new.shared, memory)

    def put_back(self, members: Array | None, seen: "State") -> None:
        """Undoes `replaced` in place: the rows of the members are again those of `seen`, which `of` gave before."""
        if members is not None:
            for name, rows in seen.memory.items():
                self.memory[name][members] = rows

    def _parts(self) -> list[Array]:
        return [self.server, *self.shared.values(), *self.memory.values()]


@dataclass(frozen=True, eq=False)
class Cohort:
    """One round as a method sees it: K clients take part, of m in all.

    The calls without arguments cost an evaluation of the clients' functions at the server's point.
    """

    points: Array  # (K, d): the server's point in every row
    population: int  # m
    everyone: bool  # whether K = m
    communicates: bool  # False: the round is local, and the server hears of nothing (methods with `skip` > 0)
    average: Callable[[Array], Array]  # (K, d) -> (d,): the server's average over those who take part
    gradients: Callable[[], Array]  # (K, d): their ∇F_k
    sampled_gradient: Callable[[], Array]  # (d,): the average ∇F_k of a sample of clients, drawn for this purpose
    full_gradient: Callable[[], Array]  # (d,): the weighted average ∇F_k of all clients
    objective: Callable[[], Scalar]  # f, over all clients
    total: Callable[[Array], Array] = lambda stack: stack.sum(0)

    def population_mean(self, stack: Array) -> Array:
        """(1/m) Σ_k stack_k over those who take part, m counting all clients."""
        return self.total(stack) / self.population

    def updated_mean(self, mean: Array, old: Array, new: Array) -> Array:
        """The plain mean over all m clients, `mean` so far, after the rows of those who take part went from old to new.

        Takes time only for those who take part.
        """
        return self.population_mean(new) if self.everyone else mean + self.population_mean(new - old)


class Method(ABC):
    """Subclasses are frozen dataclasses of the method's parameters, one per file."""

    # False: the clients' functions are F_k = f_k, and answers are averaged with the problem's weights.
    # True: the paper minimises a plain sum or mean; F_k = num_clients · weights[k] · f_k, and averages are plain.
    plain: ClassVar[bool] = False
    # The clients' task starts at and is centred on the server's point and depends on nothing else; with everyone and
    # equal work, the server's next point is the average of the answers.
    memoryless: ClassVar[bool] = False
    # With exact local solutions and everyone taking part, the fixed points are the objective's stationary points.
    stationary: ClassVar[bool] = False
    # Even where clients are strongly convex, the fixed point is another for another start.
    depends_on_start: ClassVar[bool] = False
    # With exact local solutions and everyone, the server's point goes to the minimiser from everywhere (proof in the
    # method's file): on convex quadratics with one minimiser; on smooth strongly convex clients.
    converges_on_convex_quadratics: ClassVar[bool] = False
    converges_on_strongly_convex: ClassVar[bool] = False
    # Whom the server asks for gradients before it asks a round's clients for answers: "nobody", "sample" (drawn for
    # this purpose) or "everyone". They get w and send ∇F_k(w).
    gradients_from: ClassVar[str] = "nobody"
    # Vectors of d numbers that the server sends to, and gets from, each client that is asked for an answer.
    vectors_down: ClassVar[int] = 1
    vectors_up: ClassVar[int] = 1
    # The part of `State.memory` that estimates ∇F_k at the minimiser, where there is one.
    control_variate: ClassVar[str | None] = None

    @property
    @abstractmethod
    def local_solver(self) -> LocalSolver:
        """The local solver that the method's paper gives it."""

    @abstractmethod
    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        """The first state from the server's first point (d,); `repeat` makes m equal rows of a (d,) array."""

    @abstractmethod
    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        """What the clients of a round are asked; the rows of `state.memory` are theirs."""

    @abstractmethod
    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        """The next state; the rows of its memory are those of the round's clients."""

    @property
    def proximal_weight(self) -> Scalar:
        """The weight of the proximal term that the method asks for; 0 where it asks for none."""
        return 0

    @property
    def linear(self) -> bool:
        """Whether the algebra is linear in the state and the same in every round, so that rounds have a derivative."""
        return bool(self.skip == 0)

    @property
    def skip(self) -> Scalar:
        """The probability that a round is local: clients work on their own, nothing is sent."""
        return 0

    @property
    def needs_everyone(self) -> bool:
        """Whether the method is only defined for rounds with all clients."""
        return False

    @property
    def stationary_inexactly(self) -> bool:
        """Whether, with everyone, equal local work and any local solver that descends (`SmoothSolver.descends`), the
        fixed points that a start can lead to are exactly the stationary points of the objective, for convex clients.
        """
        return False

    @property
    def needs_path_lengths(self) -> bool:
        """Whether the server must know the sum of the local stepsizes of every client."""
        return False

    def scale(self, problem: Problem) -> tuple[Fraction, ...] | None:
        """The factor of every f_k in its client's function F_k; None where all are 1."""
        if not self.plain or problem.is_equally_weighted:
            return None
        return tuple(problem.num_clients * weight for weight in problem.exact_weights)

    def average_weights(self, problem: Problem) -> tuple[Fraction, ...]:
        """The weights of the server's average over all clients."""
        if self.plain:
            return (Fraction(1, problem.num_clients),) * problem.num_clients
        return problem.exact_weights
