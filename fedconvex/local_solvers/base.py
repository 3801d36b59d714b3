"""The base classes of local solvers, which solve the clients' subproblems exactly or approximately."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.parameters import ReadableParameters
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem

EVERYONE = Draw()


@dataclass(frozen=True, eq=False)
class Answers:
    """The results of K clients' local work: their points θ_k, (K, d).

    `path_lengths` (K, 1) are the sums of each client's local stepsizes, counting also how momentum repeats earlier
    gradients: how far a constant gradient would move the client, in units of that gradient. FedNova and SCAFFOLD divide
    by it. None for solvers that do not take steps of known size.
    """

    points: Array
    path_lengths: Array | None = None

    def of(self, members: Any) -> "Answers":
        """The answers of some of the clients."""
        return Answers(self.points[members], None if self.path_lengths is None else self.path_lengths[members])


class LocalSolver(ReadableParameters, ABC):
    """How clients solve their subproblems. Subclasses are frozen dataclasses of their parameters, one file per solver.

    Every method takes any solver (`simulate(method, problem, local_solver=…)`) whose `require` accepts the problem.
    """

    # Whether answers have path lengths: the solver takes steps of known size along gradients of the subproblem.
    has_path_lengths: ClassVar[bool] = False
    # Whether all clients have the same amount of work; False where each has a number of steps of its own.
    equal_steps: ClassVar[bool] = True

    @property
    def effort(self) -> int | None:
        """The full local work in epochs or steps, of which stragglers do only a part; None if it cannot be divided."""
        return None

    @abstractmethod
    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        """Solves the participants' subproblems; `draw` has their indices and the amount of work that each does."""

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        """Raises InvalidInput if the solver does not work in that arithmetic."""

    @abstractmethod
    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Raises InvalidInput if the solver cannot solve the subproblems scale_k · f_k + (weight/2)‖·‖²."""


class SmoothSolver(LocalSolver):
    """A solver whose answer is a known smooth function of the subproblem, so that fixed points can be computed.

    SGD is random and tolerance-based solvers stop at steps that depend on the data: these are not smooth.
    """

    @abstractmethod
    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        """The derivative of `solve` at the subproblem: maps a change of start, center and linear term to that of θ."""

    @abstractmethod
    def response(self, arithmetic: Arithmetic, H: Batch, c: Array, weight: Scalar) -> tuple[Batch, Array]:
        """R_k H_k and R_k c_k of quadratic clients F_k(x) = ½xᵀH_k x − c_kᵀx, whose answer is affine in w.

        R_k is defined by θ_k = w − R_k (H_k w − c_k), the answer to the subproblem with start and center w.
        """

    @abstractmethod
    def rounding(self, least: np.ndarray, largest: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """Scales of the rounding errors of `response` in floats, in units of eps: of R_k H_k, and of R_k c_k per ‖c_k‖.

        Args:
            least: the smallest eigenvalue of every H_k, (m,).
            largest: the largest absolute value of an eigenvalue of every H_k, (m,).
        """

    @abstractmethod
    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        """A rigorous upper bound, as a ball, of the Lipschitz constant of w ↦ θ_k, where start and center are w."""

    @abstractmethod
    def descends(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> bool:
        """Whether it is proved that every answer lies in a direction in which the subproblem decreases from the start.

        The exception is a start that is stationary for the subproblem: the solver then returns the start. Of convex
        clients a smaller value at the answer suffices.
        """

    @abstractmethod
    def is_averaged(self, problem: Problem, weight: Scalar) -> bool:
        """Whether, for convex clients, every w ↦ θ_k (start and center w) is proved to be an averaged operator.

        Averaged operators converge under iteration (Krasnoselskii and Mann). On quadratics R_k, see `response`, is then
        positive definite.
        """
