"""All ways in which the rounds of a method can go that a board distinguishes: by draws and by communications."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Method, State
from fedconvex.once import Once
from fedconvex.participation import Draw
from fedconvex.proofs_checks.symbolic.random_vectors import replaced as replaced_if_drawn
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import mean
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import NoisyBoard
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed
from fedconvex.proofs_checks.worst_cases.questions.settled_states import SettledStates
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import (
    answered,
    drawn_round,
    of_round,
    replaced,
    rows,
)


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
    settled: SettledStates | None = None  # for several rounds of draws of which two moments are known
    noisy: NoisyBoard | None = None  # where the gradients of local steps have noise

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
        method, solver = of_round(self.method, self.solver, len(history.draws))
        if isinstance(self.board, EnumeratedBoard):
            board = self.board
            everyones = Once(lambda: answered(method, solver, board, before, communicates=True)[1])
            for (likely, draw), (chance, sends) in product(self.draws.every(), communications(method)):
                assert draw.members is not None
                after, average = drawn_round(method, solver, board, before, draw, sends)
                last = Once(partial(_latest, latest, draw.members.tolist(), everyones, board.clients))
                chance *= history.chance * likely
                yield self._with(history, chance, after, last, everyones, draw, average, method)
            return
        for chance, communicates in communications(method):
            after, answers = answered(method, solver, self.board, before, self.draws, communicates, self.noisy)
            models = Once(partial(_all_or_drawn, latest, answers, self.draws))
            average = mean(answers)
            if self.settled is not None:
                after, average = self.settled.settle(before, after, answers)
                models = Once(_unknown_models)
            chance, given = history.chance * chance, Once(partial(_itself, answers))
            yield self._with(history, chance, after, models, given, None, average, method)

    @property
    def branches(self) -> bool:
        """Whether there are several histories: of possible draws, or of rounds with and without communication."""
        return isinstance(self.board, EnumeratedBoard) or len(communications(self.method)) > 1

    def _with(
        self, history: History, chance: Any, after: State, last: Any, answers: Any, draw: Draw | None, average: Any,
        method: Method,
    ) -> History:  # fmt: skip
        before = history.states[-1]
        solutions = Once(lambda: answered(method, Exact(), self.board, before, communicates=True)[1])
        return History(
            chance, (*history.states, after), (*history.latest, last), (*history.answers, answers),
            (*history.draws, draw), (*history.averages, average), (*history.solutions, solutions),
        )  # fmt: skip


def communications(method: Method) -> list[tuple[Fraction, bool]]:
    """Whether a round communicates, with the probabilities; most methods' rounds all do."""
    if method.skip == 0:
        return [(Fraction(1), True)]
    skip = to_fraction(method.skip)
    return [(1 - skip, True), (skip, False)]


def _itself(answers: Any) -> Any:
    return answers


def _all_or_drawn(latest: Callable[[], Any], answers: Any, draws: Draws) -> Any:
    return answers if draws.everyone else replaced_if_drawn(latest(), answers, draws)


def _unknown_models() -> Any:
    raise NotPosed("term", "last_answers", "depend on all draws so far, which are too many to enumerate",
                   "give fewer clients or rounds, or terms of the server and the memories")  # fmt: skip


def _latest(latest: Callable[[], Any], members: Sequence[int], answers: Callable[[], Any], clients: int) -> Any:
    return replaced(latest(), members, rows(answers(), members), clients)
