"""Every way to draw clients, one by one: what a method then does is a tree, and every client has a function of its own.

Two moments of a draw do not say what a function is at a point that is drawn, or what the drawn clients remember in the
next round. So all of it is written out: a state of the server for every history of draws, one answer of every client
in each of them, and the inequalities between all points at which the same client was looked at. Expectations are sums
over the tree. That is exact, for one number of clients; the program grows with the number of ways to draw.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.participation import Draw
from fedconvex.problems.base import Subproblem
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation, Residual, no_objective, solved
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import (
    ONE,
    Family,
    Form,
    Mixture,
    Vectors,
    family,
    mean,
    of_kind,
)


@final
@dataclass(frozen=True)
class Looked:
    """Where every client's function was looked at."""

    point: Vectors
    gradient: Vectors
    each: tuple[Evaluation, ...]


@final
@dataclass(frozen=True, eq=False)
class Written:
    """What is known of clients that are written out: a board for each, as for a federation of one client.

    `answers` are those that were asked for before: a client answers the same question only once.
    """

    boards: tuple[Board, ...]
    minimiser: bool
    answers: dict[Any, Family] = field(default_factory=dict)

    @classmethod
    def of(cls, clients: int, functions: FunctionClass, minimiser: bool) -> "Written":
        """Functions of a class, and with a minimiser their gradients there, of mean 0."""
        found = cls(tuple(Board(1, functions, False, label=f" of client {k + 1}") for k in range(clients)), minimiser)
        if minimiser:
            for board, pull in zip(found.boards, found.pulls.kinds, strict=True):
                board.evaluations.append(Evaluation(Family(), pull, ""))
        return found

    def some(self, clients: Sequence[int]) -> "Written":
        """Some of the clients."""
        return replace(self, boards=tuple(self.boards[k] for k in clients))

    @property
    def functions(self) -> FunctionClass:
        """The class of all clients' functions."""
        return self.boards[0].functions

    @property
    def clients(self) -> int:
        """How many there are."""
        return len(self.boards)

    @property
    def members(self) -> list[tuple[int | None, int]]:
        """As of `Board`: every client is a kind of its own."""
        return [(k, 1) for k in range(self.clients)]

    @property
    def points(self) -> int:
        """At how many points functions were looked at."""
        return sum(len(board.evaluations) for board in self.boards)

    @property
    def pairs(self) -> int:
        """How many inequalities there are between two points of one client."""
        return sum(len(board.evaluations) * (len(board.evaluations) - 1) for board in self.boards)

    @cached_property
    def pulls(self) -> Mixture:
        """The clients' gradients at the minimiser."""
        free = [family(f"g*{board.label}", 1) for board in self.boards[:-1]]
        return self._stack([*free, -sum(free, start=Family())])

    @property
    def evaluations(self) -> list[Looked]:
        """The clients' n-th points together; symmetry makes these equally many."""
        together = zip(*(board.evaluations for board in self.boards), strict=True)
        return [
            Looked(self._stack([e.point for e in row]), self._stack([e.gradient for e in row]), row) for row in together
        ]

    @property
    def common(self) -> list[tuple[int, Looked]]:
        """The points that all clients have been looked at, with numbers."""
        first, *others = ({e.point.key: e.point for e in board.evaluations} for board in self.boards)
        return [(n, self.at(u)) for n, (key, u) in enumerate(first.items()) if all(key in known for known in others)]

    @property
    def residuals(self) -> list[Residual]:
        """What the clients' n-th answers leave."""
        together = zip(*(board.residuals for board in self.boards), strict=True)
        return [
            Residual(self._stack([r.left for r in row]), self._stack([r.first for r in row]), row[0].gamma)
            for row in together
        ]

    def vectors(self, name: str) -> Mixture:
        """A vector for every client that is not known."""
        return self._stack([board.vectors(name) for board in self.boards])

    def at(self, point: Vectors) -> Looked:
        """What the clients' functions are at a point."""
        found = [board.at(of_kind(point, k)) for k, board in enumerate(self.boards)]
        return Looked(point, self._stack([e.gradient for e in found]), tuple(found))

    def gradient(self, point: Vectors) -> Mixture:
        """The clients' gradients at a point."""
        return self._stack([board.gradient(of_kind(point, k)) for k, board in enumerate(self.boards)])

    def found(self, point: Vectors, gradient: Vectors) -> Looked:
        """Points at which the gradients are known."""
        rows = [board.found(of_kind(point, k), of_kind(gradient, k)) for k, board in enumerate(self.boards)]
        return Looked(point, gradient, tuple(rows))

    def height(self, looked: Looked, client: int | None = None) -> Form:
        """The mean of the values there, or one client's."""
        if client is not None:
            return self.boards[client].height(looked.each[client])
        heights = (board.height(e) for board, e in zip(self.boards, looked.each, strict=True))
        return sum(heights, start=Form()) / self.clients

    def minimised(self, subproblem: Subproblem) -> Mixture:
        """The subproblems' minimisers."""
        return self._answered(subproblem, lambda board, one: board.minimised(one))

    def inexactly(self, subproblem: Subproblem, gamma: Any) -> Mixture:
        """Answers that are gamma-inexact: any, but the same whoever else is drawn."""
        return self._answered(subproblem, lambda board, one: board.inexactly(one, gamma))

    def inequalities(self, among: str = "all") -> list[tuple[str, Form]]:
        """What holds between two points of one client."""
        return [found for board in self.boards for found in board.inequalities(among)]

    def _answered(self, subproblem: Subproblem, answer: Callable[[Board, Subproblem], Family]) -> Mixture:
        return self._stack([self._answer(k, board, subproblem, answer) for k, board in enumerate(self.boards)])

    def _answer(
        self, k: int, board: Board, subproblem: Subproblem, answer: Callable[[Board, Subproblem], Family]
    ) -> Family:
        parts = (subproblem.start, subproblem.center, subproblem.linear)
        start, center, linear = (None if part is None else of_kind(part, k) for part in parts)
        asked = (board.label, subproblem.weight, *(None if u is None else u.key for u in (start, center, linear)))
        if asked not in self.answers:
            self.answers[asked] = answer(board, Subproblem(start, subproblem.weight, center, linear))
        return self.answers[asked]

    def _stack(self, rows: Sequence[Any]) -> Mixture:
        share = to_fmpq(Fraction(1, len(rows)))
        return Mixture((share,) * len(rows), tuple(rows))


Played = tuple[Any, Any]  # the next state, and the average of the answers


def histories(
    play: Callable[[Any, Draw], Played], ways: Sequence[tuple[Fraction, Draw]], rounds: int, state: Any
) -> Iterator[tuple[Fraction, list[Any], Any]]:
    """Every history of draws: its probability, the averages of the answers in its rounds, and its last state."""
    if not rounds:
        yield Fraction(1), [], state
        return
    for chance, draw in ways:
        following, average = play(state, draw)
        for later, averages, last in histories(play, ways, rounds - 1, following):
            yield chance * later, [average, *averages], last


def drawn_round(method: Method, solver: LocalSolver, board: Written, state: State, draw: Draw) -> Played:
    """One round of the clients that are drawn, by the method's own algebra: as `Rounds.play`, on unknown vectors."""
    assert draw.members is not None
    assert draw.shares is not None
    members, points = draw.members.tolist(), state.server
    some = board.some(members)
    times = [to_fmpq(Fraction(int(n), int(draw.shares.sum()))) for n in draw.shares]

    def weighted(stack: Any, weights: Sequence[Any]) -> Any:
        if not isinstance(stack, Vectors):  # numbers are the same for all
            return stack * sum(weights)
        return sum((of_kind(stack, place) * c for place, c in enumerate(weights)), start=Family())

    def average(stack: Any) -> Any:
        return weighted(stack, times)

    def gradient() -> Any:
        return average(some.gradient(points))

    cohort = Cohort(
        points=points, population=board.clients, everyone=len(members) == board.clients, communicates=True,
        average=average, gradients=lambda: some.gradient(points), sampled_gradient=gradient,
        full_gradient=lambda: mean(board.gradient(points)), objective=no_objective,
        total=lambda stack: weighted(stack, [ONE] * len(members)),
    )  # fmt: skip
    seen = replace(state, memory={name: rows(u, members) for name, u in state.memory.items()})
    answers = solved(some, solver, method.subproblem(seen, cohort))
    following = method.update(seen, cohort, answers)
    memory = {name: replaced(u, members, following.memory[name], board.clients) for name, u in state.memory.items()}
    return replace(following, memory=memory), average(answers.points)


def rows(stack: Vectors, members: Sequence[int]) -> Vectors:
    """Those of some clients."""
    if not isinstance(stack, Mixture):
        return stack
    return Mixture(tuple(stack.shares[k] for k in members), tuple(stack.kinds[k] for k in members))


def replaced(stack: Vectors, members: Sequence[int], new: Vectors, clients: int) -> Mixture:
    """Those of all clients, after those of some have become new."""
    whole = [of_kind(stack, k) for k in range(clients)]
    for place, k in enumerate(members):
        whole[k] = of_kind(new, place)
    return Mixture((to_fmpq(Fraction(1, clients)),) * clients, tuple(whole))
