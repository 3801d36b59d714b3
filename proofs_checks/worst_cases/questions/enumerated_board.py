"""A board on which every client has a function of its own, for analyses that enumerate all draws of the clients.

Two moments of a draw do not determine a function's value at a point that depends on the draw, nor what the drawn
clients remember in the next round. So every history of draws is followed (`histories.Histories`), with an
evaluation for each client in each of them, and inequalities between all points of the same client. That is exact for
the given number of clients; the program grows with the number of possible draws.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    Family,
    Form,
    Mixture,
    Vectors,
    family,
    of_group,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation, Residual
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass


@final
@dataclass(frozen=True)
class EnumeratedEvaluation:
    """The functions of all clients at one point of each."""

    point: Vectors
    gradient: Vectors
    each: tuple[Evaluation, ...]  # client by client


@final
@dataclass(frozen=True, eq=False)
class EnumeratedBoard:
    """A `Board` for each client, as for a federation of one.

    `answers` holds the solutions of subproblems that occurred before: a client answers the same subproblem with the
    same point in every history of draws, and whoever else is drawn.
    """

    boards: tuple[Board, ...]
    minimiser: bool
    answers: dict[Any, Family] = field(default_factory=dict)

    @classmethod
    def of(cls, clients: int, functions: FunctionClass, minimiser: bool) -> "EnumeratedBoard":
        """Clients of a class; with a minimiser, their gradients there have mean 0."""
        found = cls(tuple(Board(1, functions, False, label=f" of client {k + 1}") for k in range(clients)), minimiser)
        if minimiser:
            for board, gradient in zip(found.boards, found.minimiser_gradients.groups, strict=True):
                board.evaluations.append(Evaluation(Family(), gradient, ""))
        return found

    def some(self, clients: Sequence[int]) -> "EnumeratedBoard":
        """The same boards, of some of the clients."""
        return replace(self, boards=tuple(self.boards[k] for k in clients))

    @property
    def functions(self) -> FunctionClass:
        """The class of all clients' functions."""
        return self.boards[0].functions

    @property
    def clients(self) -> int:
        """The number of clients."""
        return len(self.boards)

    @property
    def representatives(self) -> list[tuple[int | None, int]]:
        """As of `Board`: every client is a group of its own."""
        return [(k, 1) for k in range(self.clients)]

    @property
    def points(self) -> int:
        """The number of all clients' evaluations."""
        return sum(len(board.evaluations) for board in self.boards)

    @property
    def pairs(self) -> int:
        """The number of inequalities between two points of one client."""
        return sum(len(board.evaluations) * (len(board.evaluations) - 1) for board in self.boards)

    @cached_property
    def minimiser_gradients(self) -> Mixture:
        """The clients' gradients ∇F_k(x*) at the minimiser, with mean 0."""
        free = [family(f"g*{board.label}", 1) for board in self.boards[:-1]]
        return self._stack([*free, -sum(free, start=Family())])

    @property
    def evaluations(self) -> list[EnumeratedEvaluation]:
        """The clients' n-th evaluations together; by symmetry all clients have equally many."""
        # The n-th points of two clients may belong to different histories; their number is the same.
        together = zip(*(board.evaluations for board in self.boards), strict=True)
        return [
            EnumeratedEvaluation(self._stack([e.point for e in row]), self._stack([e.gradient for e in row]), row)
            for row in together
        ]

    @property
    def common(self) -> list[tuple[int, EnumeratedEvaluation]]:
        """The evaluations at points that all clients share, with numbers."""
        # `at` only collects recorded evaluations here: every client has one at these points.
        first, *others = ({e.point.key: e.point for e in board.evaluations} for board in self.boards)
        return [(n, self.at(u)) for n, (key, u) in enumerate(first.items()) if all(key in known for known in others)]

    @property
    def residuals(self) -> list[Residual]:
        """The clients' n-th residuals together."""
        together = zip(*(board.residuals for board in self.boards), strict=True)
        return [
            Residual(self._stack([r.left for r in row]), self._stack([r.first for r in row]), row[0].gamma)
            for row in together
        ]

    def vectors(self, name: str) -> Mixture:
        """A new unknown vector for every client."""
        return self._stack([board.vectors(name) for board in self.boards])

    def at(self, point: Vectors) -> EnumeratedEvaluation:
        """The evaluation at a point, recorded or new."""
        found = [board.at(of_group(point, k)) for k, board in enumerate(self.boards)]
        return EnumeratedEvaluation(point, self._stack([e.gradient for e in found]), tuple(found))

    def gradient(self, point: Vectors) -> Mixture:
        """The clients' gradients at a point."""
        return self._stack([board.gradient(of_group(point, k)) for k, board in enumerate(self.boards)])

    def record(self, point: Vectors, gradient: Vectors) -> EnumeratedEvaluation:
        """Adds an evaluation with these gradients."""
        rows = [board.record(of_group(point, k), of_group(gradient, k)) for k, board in enumerate(self.boards)]
        return EnumeratedEvaluation(point, gradient, tuple(rows))

    def mean_value(self, evaluation: EnumeratedEvaluation, client: int | None = None) -> Form:
        """The mean of the values there, or one client's."""
        if client is not None:
            return self.boards[client].mean_value(evaluation.each[client])
        values = (board.mean_value(e) for board, e in zip(self.boards, evaluation.each, strict=True))
        return sum(values, start=Form()) / self.clients

    def minimise(self, subproblem: Subproblem) -> Mixture:
        """The clients' minimisers of the subproblems."""
        return self._answers(subproblem, lambda board, one: board.minimise(one))

    def minimise_inexactly(self, subproblem: Subproblem, gamma: Any) -> Mixture:
        """Any γ-inexact answers, but the same ones whoever else is drawn."""
        return self._answers(subproblem, lambda board, one: board.minimise_inexactly(one, gamma))

    def inequalities(self, among: str = "all") -> list[tuple[str, Form]]:
        """Named forms that are nonnegative for all functions of the class: those of every client's board."""
        return [found for board in self.boards for found in board.inequalities(among)]

    def _answers(self, subproblem: Subproblem, solve: Callable[[Board, Subproblem], Family]) -> Mixture:
        return self._stack([self._answer(k, board, subproblem, solve) for k, board in enumerate(self.boards)])

    def _answer(
        self, k: int, board: Board, subproblem: Subproblem, solve: Callable[[Board, Subproblem], Family]
    ) -> Family:
        parts = (subproblem.start, subproblem.center, subproblem.linear)
        start, center, linear = (None if part is None else of_group(part, k) for part in parts)
        # Vectors are compared by their coordinates, so that equal subproblems of different histories are recognised.
        key = (board.label, subproblem.weight, *(None if u is None else u.key for u in (start, center, linear)))
        if key not in self.answers:
            self.answers[key] = solve(board, Subproblem(start, subproblem.weight, center, linear))
        return self.answers[key]

    def _stack(self, rows: Sequence[Any]) -> Mixture:
        share = to_fmpq(Fraction(1, len(rows)))
        return Mixture((share,) * len(rows), tuple(rows))
