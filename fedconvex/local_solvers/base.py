"""What a local solver is: a way to answer the clients' subproblems, and how its answer changes with the question."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem

EVERYONE = Draw()


@dataclass(frozen=True, eq=False)
class Answers:
    """What K clients send back: their points θ, (K, d).

    `path_lengths` (K, 1) are the sums of the local stepsizes that they took, those that momentum adds included: how far
    they move along a gradient that stays the same. None for solvers without such steps.
    """

    points: Array
    path_lengths: Array | None = None

    def of(self, members: Any) -> "Answers":
        """Those of some of the clients."""
        return Answers(self.points[members], None if self.path_lengths is None else self.path_lengths[members])


class LocalSolver(ABC):
    """Subclasses are frozen dataclasses, one per file."""

    # Answers report path lengths: steps of known size along the gradient of the subproblem.
    has_path_lengths: ClassVar[bool] = False

    @property
    def effort(self) -> int | None:
        """The local work in epochs or steps, of which stragglers do only a part; None where it cannot be divided."""
        return None

    @abstractmethod
    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        """The answers of the clients that take part; `draw` says which ones they are, and how much work each does."""

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:  # noqa: B027 - most solvers work in all of them
        """Raises InvalidInput where the solver does not work in that arithmetic."""

    @abstractmethod
    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Raises InvalidInput where the subproblems F_k + (weight/2)‖·‖² cannot be solved this way."""


class SmoothSolver(LocalSolver):
    """A solver whose answers are a known smooth function of the question, so that fixed points can be computed."""

    @abstractmethod
    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        """The derivative of `solve` at the subproblem: maps changes of start, centre and linear term to that of θ."""

    @abstractmethod
    def response(self, arithmetic: Arithmetic, H: Batch, c: Array, weight: Scalar) -> tuple[Batch, Array]:
        """R_k H_k and R_k c_k, where θ_k = w − R_k (H_k w − c_k): the answers of quadratic clients ½xᵀH_k x − c_kᵀx
        to a subproblem that starts at and is centred on w.
        """

    @abstractmethod
    def rounding(self, least: np.ndarray, largest: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The sizes that rounding errors of `response` in floats are relative to: of R_k H_k, and of R_k c_k per ‖c_k‖.

        Args:
            least: the least eigenvalue of every H_k, (m,).
            largest: the largest size of an eigenvalue of every H_k, (m,).
        """

    @abstractmethod
    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        """A ball that bounds from above the Lipschitz constant of w ↦ θ_k, where start and centre are both w."""

    @abstractmethod
    def descends(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> bool:
        """Whether it is proved that the subproblem's value is lower at the answer than at the start, except where the
        start is a stationary point of the subproblem, which is then its own answer (solutions being unique).
        """

    @abstractmethod
    def is_averaged(self, problem: Problem, weight: Scalar) -> bool:
        """Whether, for convex clients, every w ↦ θ_k is proved to be an averaged map (start and centre being w).

        On quadratics its R_k (see `response`) is then positive definite.
        """
