"""δ-similar clients on a board: F_k = f + h_k, whose Hessians lie between mu and L, and between −δ and δ.

Both parts have the interpolation inequalities of their classes, in the mean over the clients, between any two of the
board's points. Where a point is not shared, ∇f(x_k) is a new unknown vector of every client and the mean of f(x_k) a
new number; at shared points ∇f is the mean of the gradients, so that h_k has mean 0 there. All of this is necessary,
for any number of clients; that it suffices is not claimed.
"""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form, Vectors, mean, value
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SimilarClients, interpolation


@final
@dataclass(frozen=True)
class SplitFunctions:
    """f and h_k at one of the board's points, with the names of what is unknown of f, if anything is."""

    point: Any  # Vectors
    of_objective: Any
    value_of_objective: Form
    of_difference: Any
    value_of_difference: Form
    gradient: str = ""
    value: str = ""


def parts_at(board: Board, number: int, evaluation: Evaluation) -> SplitFunctions:
    """The clients' functions there as f and the rest."""
    known, total = mean(evaluation.gradient), board.mean_value(evaluation)
    if evaluation.point.key == mean(evaluation.point).key:
        return SplitFunctions(evaluation.point, known, total, evaluation.gradient - known, Form())
    gradient, name = f"f{number}", f"f(x{number})"
    unknown: Vectors = board.vectors(gradient)
    rest = evaluation.gradient - unknown
    return SplitFunctions(evaluation.point, unknown, value(name), rest, total - value(name), gradient, name)


def similarity(board: Board) -> list[tuple[str, Form]]:
    """Named forms that are nonnegative where clients are δ-similar, besides those of the clients' curvatures."""
    if not isinstance(clients := board.functions, SimilarClients):
        return []
    parts = [parts_at(board, n, e) for n, e in enumerate(board.evaluations)]
    delta, found = to_fmpq(clients.delta), []
    low, high = to_fmpq(clients.lowest), to_fmpq(clients.highest)
    for i, a in enumerate(parts):
        for j, b in enumerate(parts):
            if i == j:
                continue
            step = b.point - a.point
            rise = b.value_of_objective - a.value_of_objective
            of_f = interpolation(step, a.of_objective, b.of_objective - a.of_objective, rise, low, high)
            rise = b.value_of_difference - a.value_of_difference
            of_h = interpolation(step, a.of_difference, b.of_difference - a.of_difference, rise, -delta, delta)
            found += [(f"{j} from {i} of the objective", of_f), (f"{j} from {i} of the differences", of_h)]
    return found
