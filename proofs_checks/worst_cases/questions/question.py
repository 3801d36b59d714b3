"""A worst-case question as a semidefinite program: the method's rounds on unknown vectors, and forms in these.

`pose` takes a `specification`, plays its rounds (`symbolic_rounds`), and states the metric, what it is divided by, and
all inequalities that hold, as quadratic forms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    Family,
    Form,
    expected,
    mean,
    noise,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.questions.specification import AVERAGES, Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, drawn_round, first_state, histories

LEAST = "least"  # the name of the objective's infimum, where there may be no minimiser
LONG = 12  # of more rounds that compose, only the first is played
MANY = 16  # of more points, only neighbours are compared: the program would grow with the square
MOST = 64  # most histories of draws, and evaluations, that are enumerated; at most MOST²/4 pairs of these


@final
@dataclass(frozen=True, eq=False)
class Question:
    """The fields of a `Specification`, and the semidefinite program that they lead to.

    `board` has the evaluations of the clients' functions, `start` is the server's first point (or the clients' z_k).

    `exact`: the program's value is the worst case of an interpolable class; else it only bounds the worst case.
    `composable`: a bound for one round holds in every round; the program is then of the first `played` rounds only,
    and `one_round` is the question about one round, where `rounds` > 1.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int
    rounds: int
    metric: str
    dissimilarity: Fraction | None
    heterogeneity: Fraction
    participation: Any
    draws: Draws
    weights: tuple[Fraction, ...]
    spread: Fraction | None
    board: Board | EnumeratedBoard
    start: Any  # Vectors
    program: Program
    exact: bool = True
    composable: bool = False
    played: int = 1
    one_round: "Question | None" = None

    @property
    def enumerated(self) -> bool:
        """Whether all possible draws are enumerated, with a function for each client."""
        return isinstance(self.board, EnumeratedBoard)

    def divided_with(self, heterogeneity: Fraction) -> "Question":
        """The same question with another weight of the gradients at the minimiser in the divisor."""
        divisor = square(self.start) + square(self.board.minimiser_gradients) * heterogeneity
        program = Program(divisor, self.program.constant, self.program.inequalities)
        return replace(self, program=program, heterogeneity=heterogeneity)


def pose(specification: Specification) -> Question:
    """The question about these rounds, with the question about one round where bounds compose.

    Raises InvalidInput where there are too many draws, or subproblems have no minimisers.
    """
    question = _formulated(specification)
    if not question.composable or specification.rounds == 1:
        return question
    if question.played == 1:
        return replace(question, one_round=replace(question, rounds=1))
    return replace(question, one_round=_formulated(replace(specification, rounds=1)))


def _formulated(asked: Specification) -> Question:
    """Chooses how the rounds are played: everyone or two moments of a draw, all draws, or FedSplit's lifted state."""
    if asked.metric == "lifted_distance":
        return _lifted(asked)
    state = first_state(asked.method, shared("w"))
    is_distance, memoryless = asked.metric == "distance", not (state.shared or state.memory)
    composable = is_distance and asked.dissimilarity is None and memoryless
    # ‖w⁺ − x*‖² depends on two moments of the draw only, as long as no function is evaluated at a drawn point.
    by_moments = is_distance and (asked.rounds == 1 or composable) and asked.method.gradients_from != "sample"
    if not asked.draws.everyone and not by_moments:
        question = _over_all_draws(asked, state)
        if question is not None:
            return question
        if asked.rounds > 1 or asked.metric in AVERAGES or asked.metric == "gradient_norm":
            problem = f"leaves too many ways to draw in {asked.rounds} rounds for {asked.metric}"
            cure = "give fewer clients or fewer rounds, or let everyone take part"
            raise InvalidInput("participation", asked.participation, problem, cure)
    return _over_two_moments(asked, state, composable)


def _over_two_moments(asked: Specification, state: State, composable: bool) -> Question:
    """With the mean and the deviation of two clients, which stand for any number; with draws, one round."""
    board = Board(min(asked.num_clients, 2), asked.clients, asked.minimiser)
    _evaluate_first(asked, board, state.server)
    averaged, draws = asked.metric in AVERAGES, asked.draws
    only_one = composable and (asked.rounds > LONG or not draws.everyone)
    played = 1 if only_one else asked.rounds - averaged
    points = [state.server]
    for _ in range(played):
        state, answers = answered(asked.method, asked.solver, board, state, draws)
        points.append(mean(answers) if averaged else expected(state.server))
    # E‖w⁺‖² = ‖E w⁺‖² + variance. E f(w⁺) exceeds f(E w⁺) by at most L/2 · variance, by the descent lemma.
    variance = square(noise(state.server)) * draws.scale
    added = variance * (1 if asked.metric == "distance" else asked.clients.highest / 2)
    exact = draws.everyone or asked.metric == "distance"
    return _question(asked, board, _metric(asked, board, points) + added, exact, composable, played)


def _over_all_draws(asked: Specification, state: State) -> Question | None:
    """With every client and every possible draw; None where these are too many."""
    draws, rounds = asked.draws, asked.rounds - (asked.metric in AVERAGES)
    if not 0 < draws.clients <= MOST or draws.number**rounds > MOST:
        return None
    board = EnumeratedBoard.of(draws.clients, asked.clients, asked.minimiser)
    _evaluate_first(asked, board, state.server)
    play = partial(drawn_round, asked.method, asked.solver, board)
    reached = Form()
    for chance, averages, last in histories(play, list(draws.every()), rounds, state):
        points = [state.server, *averages] if asked.metric in AVERAGES else [state.server, last.server]
        reached = reached + _metric(asked, board, points) * chance
        if board.points > MOST or board.pairs > MOST**2 / 4:
            return None
    return _question(asked, board, reached)


def _lifted(asked: Specification) -> Question:
    """One round of FedSplit from any z_k, against the fixed point z_k* = −s∇F_k(x*)."""
    board = Board(min(asked.num_clients, 2), asked.clients)
    z = board.vectors("z")
    fixed = board.minimiser_gradients * -to_fraction(asked.method.stepsize)  # type: ignore[attr-defined]
    after: Any = answered(asked.method, asked.solver, board, State(mean(z), memory={"z": z}))[0].memory["z"]
    program = Program(square(z - fixed), square(after - fixed) * -1, tuple(board.inequalities()))
    return Question(**vars(asked), board=board, start=z, program=program, composable=True)


def _evaluate_first(asked: Specification, board: Any, w: Family) -> None:
    """Evaluates the functions at the first point before all others, where the question refers to it."""
    if asked.metric == "descent" or (asked.dissimilarity is not None and asked.metric not in AVERAGES):
        board.at(w)


def _metric(asked: Specification, board: Any, points: Sequence[Family]) -> Form:
    """The metric of w_0, γ^1, … where it is an average over rounds, else of the last point."""
    if asked.metric in ("mean_gap", "mean_gradient_norm"):
        seen = [board.at(point) for point in points]
        sizes = [board.mean_value(e) if asked.metric == "mean_gap" else square(mean(e.gradient)) for e in seen]
        return sum((size * share for size, share in zip(sizes, asked.weights, strict=True)), start=Form())
    last = points[-1]
    if asked.metric == "distance":
        return square(last)
    if asked.metric == "average_gap":
        last = sum((point * share for point, share in zip(points, asked.weights, strict=True)), start=Family())
    found = board.at(last)
    return square(mean(found.gradient)) if asked.metric == "gradient_norm" else board.mean_value(found)


def _question(
    asked: Specification, board: Any, reached: Form, exact: bool = True, composable: bool = False, played: int = 1
) -> Question:
    """The program: what the metric is divided by, minus the metric, and all inequalities."""
    B, G, w = asked.dissimilarity, asked.heterogeneity, shared("w")
    more: list[tuple[str, Form]] = []
    if asked.metric == "descent":
        first = board.at(w)
        divisor, reached = square(mean(first.gradient)), reached - board.mean_value(first)
    elif asked.metric == "mean_gradient_norm":
        first, least = board.at(w), Form() if board.minimiser else value(LEAST)
        divisor = board.mean_value(first) - least + square(first.gradient) * G
        if asked.spread is not None:
            stationary = board.record(board.vectors("x0"), Family())
            divisor = divisor + square(stationary.point - w) * asked.spread
        more = [] if board.minimiser else _bounded_below(board)
    else:
        divisor = square(w) + square(board.minimiser_gradients) * G
    if B is not None:
        gradient = board.at(w).gradient
        more.append(("dissimilarity", square(mean(gradient)) * B**2 - square(gradient)))
    # Fewer inequalities prove less, but nothing wrong: the program still bounds the worst case.
    among = "all" if isinstance(board, EnumeratedBoard) or len(board.evaluations) <= MANY else "neighbours"
    program = Program(divisor, reached * -1, (*board.inequalities(among), *more))
    # Without a minimiser, what is known of inf f need not determine it, except where only a descent is measured.
    exact = exact and among == "all" and (board.minimiser or asked.metric == "descent")
    return Question(
        **vars(asked), board=board, start=w, program=program, exact=exact, composable=composable, played=played
    )


def _bounded_below(board: Any) -> list[tuple[str, Form]]:
    """f(x) − inf f − ‖∇f(x)‖²/(2L) >= 0 at every point that all clients share: a gradient step stays above inf f."""
    step = 1 / (2 * board.functions.highest)
    return [
        (f"{LEAST} from {place}", board.mean_value(e) - value(LEAST) - square(mean(e.gradient)) * step)
        for place, e in board.common
    ]
