"""A worst-case question as a semidefinite program: the method's rounds on unknown vectors, and forms in these.

`pose` takes a `specification`, plays its rounds (`symbolic_rounds`), and states the metric, what it is divided by, and
all inequalities that hold, as quadratic forms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    Family,
    Form,
    mean,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.specification import AVERAGES, Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

LEAST = "least"  # the name of the objective's infimum, where there may be no minimiser
LONG = 12  # of more rounds that compose, only the first is played
MANY = 16  # of more points, only neighbours are compared: the program would grow with the square
MOST = 64  # most histories of draws, and evaluations, that are enumerated; at most MOST²/4 pairs of these


@final
@dataclass(frozen=True, eq=False)
class Question:
    """A specification, and the semidefinite program that it leads to.

    `board` has the evaluations of the clients' functions, `start` is the server's first point (or the clients' z_k).

    `exact`: the program's value is the worst case of an interpolable class; else it only bounds the worst case.
    `played`: the rounds in the program; only the first where a bound for one round holds in every round, and all
    rounds would be too many.
    """

    spec: Specification
    board: Any  # a Board, or an EnumeratedBoard
    start: Any  # Vectors
    program: Program
    exact: bool
    played: int

    @property
    def enumerated(self) -> bool:
        """Whether all possible draws are enumerated, with a function for each client."""
        return isinstance(self.board, EnumeratedBoard)


def pose(spec: Specification) -> Question:
    """The question on a board of two clients' mean and deviation, or of every client where draws must be enumerated.

    Raises InvalidInput where there are too many draws, or subproblems have no minimisers.
    """
    is_distance, composable = spec.metric == "distance", spec.composable
    # ‖w⁺ − x*‖² depends on two moments of the draw only, as long as no function is evaluated at a drawn point.
    by_moments = is_distance and (spec.rounds == 1 or composable) and spec.method.gradients_from != "sample"
    draws, averaged = spec.draws, spec.metric in AVERAGES
    if not draws.everyone and not by_moments:
        question = None
        if 0 < draws.clients <= MOST and draws.number ** (spec.rounds - averaged) <= MOST:
            board = EnumeratedBoard.of(draws.clients, spec.clients, spec.minimiser)
            question = _on_board(spec, board, spec.rounds - averaged)
        if question is not None:
            return question
        if spec.rounds > 1 or averaged or spec.metric == "gradient_norm":
            problem = f"leaves too many ways to draw in {spec.rounds} rounds for {spec.metric}"
            cure = "give fewer clients or fewer rounds, or let everyone take part"
            raise InvalidInput("participation", spec.participation, problem, cure)
    only_one = composable and (spec.is_lifted or spec.rounds > LONG or not draws.everyone)
    small = Board(min(spec.num_clients, 2), spec.clients, spec.minimiser)
    made = _on_board(spec, small, 1 if only_one else spec.rounds - averaged)
    assert made is not None
    return made


def _on_board(spec: Specification, board: Any, played: int) -> Question | None:
    """The question about the first `played` rounds on this board; None where it has too many evaluations."""
    start: Any = board.vectors("z") if spec.is_lifted else shared("w")
    if spec.metric == "descent" or (spec.dissimilarity is not None and spec.metric not in AVERAGES):
        board.at(start)  # before all others: numbers of points are part of the certificates
    # E‖w⁺‖² = ‖E w⁺‖² + variance; E f(w⁺) exceeds f(E w⁺) by at most L/2 · variance, by the descent lemma.
    factor = 1 if spec.metric == "distance" else spec.clients.highest / 2
    reached, enumerated = Form(), isinstance(board, EnumeratedBoard)
    for chance, points, variance in outcomes(spec, board, start, played):
        reached = reached + (_metric(spec, board, points) + variance * factor) * chance
        if enumerated and (board.points > MOST or board.pairs > MOST**2 / 4):
            return None
    divisor, more = _divisor(spec, board, start)
    # Fewer inequalities prove less, but nothing wrong: the program still bounds the worst case.
    all_pairs = spec.is_lifted or enumerated or len(board.evaluations) <= MANY
    program = Program(divisor, reached * -1, (*board.inequalities("all" if all_pairs else "neighbours"), *more))
    no_loss = enumerated or spec.draws.everyone or spec.metric in ("distance", "lifted_distance")
    # Without a minimiser, what is known of inf f need not determine it, except where only a descent is measured.
    exact = all_pairs and no_loss and (board.minimiser or spec.metric == "descent")
    return Question(spec, board, start, program, exact, played)


def _metric(spec: Specification, board: Any, points: Sequence[Any]) -> Any:
    """The metric of the last point; of γ^0, γ^1, … where it is an average over rounds."""
    first, last = points[0], points[-1]
    if spec.metric in ("mean_gap", "mean_gradient_norm"):
        seen = [board.at(point) for point in points]
        sizes = [board.mean_value(e) if spec.metric == "mean_gap" else square(mean(e.gradient)) for e in seen]
        return sum((size * share for size, share in zip(sizes, spec.weights, strict=True)), start=Form())
    if spec.metric == "distance":
        return square(last)
    if spec.is_lifted:
        return square(last - _fixed_point(spec, board))
    if spec.metric == "average_gap":
        last = sum((point * share for point, share in zip(points, spec.weights, strict=True)), start=Family())
    found = board.at(last)
    if spec.metric == "descent":
        return board.mean_value(found) - board.mean_value(board.at(first))
    return square(mean(found.gradient)) if spec.metric == "gradient_norm" else board.mean_value(found)


def _divisor(spec: Specification, board: Any, start: Any) -> tuple[Form, list[tuple[str, Form]]]:
    """What the metric is divided by, and the inequalities that hold besides the board's."""
    G, more = spec.heterogeneity, []
    if spec.is_lifted:
        divisor = square(start - _fixed_point(spec, board))
    elif spec.metric == "descent":
        divisor = square(mean(board.at(start).gradient))
    elif spec.metric == "mean_gradient_norm":
        first, least = board.at(start), Form() if board.minimiser else value(LEAST)
        divisor = board.mean_value(first) - least + square(first.gradient) * G
        if spec.spread is not None:
            stationary = board.record(board.vectors("x0"), Family())
            divisor = divisor + square(stationary.point - start) * spec.spread
        if not board.minimiser:
            # f(x) − inf f − ‖∇f(x)‖²/(2L) >= 0 where all clients share x: a gradient step stays above inf f.
            step = 1 / (2 * board.functions.highest)
            more = [
                (f"{LEAST} from {place}", board.mean_value(e) - value(LEAST) - square(mean(e.gradient)) * step)
                for place, e in board.common
            ]
    else:
        divisor = square(start) + square(board.minimiser_gradients) * G
    if spec.dissimilarity is not None:
        gradient = board.at(start).gradient
        more.append(("dissimilarity", square(mean(gradient)) * spec.dissimilarity**2 - square(gradient)))
    return divisor, more


def _fixed_point(spec: Specification, board: Any) -> Any:
    """FedSplit's z_k* = −s∇F_k(x*)."""
    return board.minimiser_gradients * -spec.method.stepsize  # type: ignore[attr-defined]
