"""A method's rounds on unknown vectors, history by history, from its own start or from any state."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Method, State
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.once import Once
from fedconvex.participation import Draw
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import mean, shared
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.drawn_vectors import WhenDrawn
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import (
    answered,
    drawn_round,
    first_state,
    replaced,
    rows,
)


class NotPosed(InvalidInput):
    """A term that a performance-estimation program cannot contain; the message names it and says what can."""


@final
@dataclass(frozen=True, eq=False)
class History:
    """One sequence of draws: its probability, the states and the clients' latest answers between rounds."""

    chance: Any
    states: tuple[State, ...]
    latest: tuple[Callable[[], Any], ...]
    answers: tuple[Callable[[], Any], ...] = ()  # of all clients, in every round
    draws: tuple[Draw | None, ...] = ()  # None: everyone, or draws of which two moments are known
    averages: tuple[Any, ...] = ()  # of the answers of those who took part
    solutions: tuple[Callable[[], Any], ...] = ()  # of all clients' subproblems


@final
@dataclass(frozen=True, eq=False)
class Histories:
    """A method's rounds from a state on a board, of which `first_models` are the clients' answers before them."""

    board: Any  # a Board, or an EnumeratedBoard
    method: Method
    solver: LocalSolver
    draws: Draws
    start: State
    first_models: Callable[[], Any]

    def of(self, rounds: int) -> Iterator[History]:
        """All histories of that many rounds, depth first: a round is played when a history reaches it."""
        pending = [iter([History(Fraction(1), (self.start,), (self.first_models,))])]
        while pending:
            history = next(pending[-1], None)
            if history is None:
                pending.pop()
            elif len(history.draws) == rounds:
                yield history
            else:
                pending.append(self._longer(history))

    def _longer(self, history: History) -> Iterator[History]:
        before, latest = history.states[-1], history.latest[-1]
        if isinstance(self.board, EnumeratedBoard):
            board = self.board
            everyones = Once(lambda: answered(self.method, self.solver, board, before)[1])
            for chance, draw in self.draws.every():
                assert draw.members is not None
                after, average = drawn_round(self.method, self.solver, board, before, draw)
                members = draw.members.tolist()
                last = Once(partial(_latest, latest, members, everyones, board.clients))
                yield self._with(history, history.chance * chance, after, last, everyones, draw, average)
            return
        after, answers = answered(self.method, self.solver, self.board, before, self.draws)
        everyone = self.draws.everyone
        models = Once(lambda: answers if everyone else WhenDrawn.between(latest(), answers))
        yield self._with(history, history.chance, after, models, lambda: answers, None, mean(answers))

    def _with(
        self, history: History, chance: Any, after: State, last: Any, answers: Any, draw: Draw | None, average: Any
    ) -> History:
        before = history.states[-1]
        solutions = Once(lambda: answered(self.method, Exact(), self.board, before)[1])
        return History(
            chance, (*history.states, after), (*history.latest, last), (*history.answers, answers),
            (*history.draws, draw), (*history.averages, average), (*history.solutions, solutions),
        )  # fmt: skip


def _latest(latest: Callable[[], Any], members: Sequence[int], answers: Callable[[], Any], clients: int) -> Any:
    return replaced(latest(), members, rows(answers(), members), clients)


def own_start(method: Method) -> State:
    """The method's own first state, from any point of the server."""
    return first_state(method, shared("w"))


def any_state(method: Method, board: Board | EnumeratedBoard) -> State:
    """Any state with what all states of the method's runs have in common; a run need not reach all of them."""
    first = own_start(method)
    if not (first.memory or first.shared):
        return first
    if isinstance(method, DynamicRegularization):  # h is the mean of the memories
        memories = board.vectors("memories")
        return State(shared("server"), shared={"h": mean(memories)}, memory={"gradient": memories})
    if isinstance(method, FedSplit) and set(first.memory) == {"z"}:  # the server's point is the mean of the z_k
        z = board.vectors("z")
        return State(mean(z), memory={"z": z})
    raise NotPosed("method", type(method).__name__, "has states of which no invariants are known here",
                   "give a claim about a whole run, from the method's own start")  # fmt: skip
