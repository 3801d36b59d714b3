"""What a method is: which subproblem it asks of the clients, what they remember, what the server does with the answers.

A method is algebra only: `+ − * /` and one average over the client axis of (m, d) arrays, linear in its state. The same
lines therefore run on floats, rationals, balls and torch tensors, and, applied to a small change of the state, give
the change of the next one (`rounds.Rounds.tangent`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.problems.base import Problem, Subproblem
from fedconvex.rationals import Array, Scalar


@dataclass(frozen=True, eq=False)
class State:
    """What a method carries from round to round: the server's point (d,) and one row of memory per client, or None."""

    server: Array
    memory: Array | None = None

    def flat(self) -> Array:
        """Server's point and memories in one NumPy vector."""
        return self.server if self.memory is None else np.concatenate([self.server, self.memory.ravel()])

    def with_values(self, flat: Array) -> "State":
        """The state of the same shape whose `flat()` is given."""
        dim = len(self.server)
        return State(flat[:dim], None if self.memory is None else flat[dim:].reshape(self.memory.shape))


class Method(ABC):
    """Subclasses are frozen dataclasses of the method's parameters, one per file."""

    # "mean": the clients' functions are f_k and answers are averaged with the problem's weights.
    # "sum": the paper minimises a plain sum; client k contributes num_clients · weights[k] · f_k, the average is plain.
    objective: ClassVar[str] = "mean"
    # The clients' task starts at and is centred on the server's point and depends on nothing else.
    memoryless: ClassVar[bool]
    # With exact local solutions, the fixed points are exactly the stationary points of the objective.
    stationary: ClassVar[bool]
    # On convex quadratics with one minimiser, exact local solutions lead to it from everywhere (proof in its file).
    converges_on_convex_quadratics: ClassVar[bool] = False

    @property
    @abstractmethod
    def local_solver(self) -> LocalSolver:
        """The local solver that the method's paper gives it."""

    @abstractmethod
    def start(self, points: Array) -> State:
        """The first state; `points` is the server's first point as every row of an (m, d) array."""

    @abstractmethod
    def subproblem(self, state: State, points: Array) -> Subproblem:
        """What the clients are asked; `points` is the server's point as every row of an (m, d) array."""

    @abstractmethod
    def update(self, state: State, points: Array, answers: Array, average: Callable[[Array], Array]) -> State:
        """The next state from the clients' answers (m, d); `average` maps (m, d) to (d,)."""

    @property
    def proximal_weight(self) -> Scalar:
        """The weight of the proximal term that the method asks for; 0 where it asks for none."""
        origin = np.zeros((1, 1))
        return self.subproblem(self.start(origin), origin).weight

    def scale(self, problem: Problem) -> tuple[Fraction, ...] | None:
        """The factor of every f_k in its client's function F_k; None where all are 1."""
        if self.objective == "mean":
            return None
        factors = tuple(problem.num_clients * weight for weight in problem.exact_weights)
        return None if all(factor == 1 for factor in factors) else factors

    def average_weights(self, problem: Problem) -> tuple[Fraction, ...]:
        """The weights of the server's average."""
        if self.objective == "mean":
            return problem.exact_weights
        return (Fraction(1, problem.num_clients),) * problem.num_clients
