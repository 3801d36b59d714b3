"""δ-similar clients on a board: F_k = f + h_k, whose Hessians lie between mu and L, and between −δ and δ.

Both parts have the interpolation inequalities of their classes, in the mean over the clients, between any two of the
board's points. Where a point is not shared, ∇f(x_k) is a new unknown vector of every client and the mean of f(x_k) a
new number; at shared points ∇f is the mean of the gradients, so that h_k has mean 0 there. All of this is necessary,
for any number of clients; that it suffices is not claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.definiteness import is_positive_semidefinite
from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form, Vectors, mean, value
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation, interpolation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SimilarClients


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


def similarity(board: Board, clients: SimilarClients) -> list[tuple[str, Form]]:
    """Named forms that are nonnegative for δ-similar clients, besides those of the clients' own class."""
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


def are_similar(clients: SimilarClients, hessians: Sequence[Any]) -> bool:
    """Whether quadratics with these Hessians, of equal weights, are δ-similar: decided exactly."""
    arrays = [np.asarray(H, dtype=object) for H in hessians]
    centre = sum(arrays[1:], start=arrays[0]) / Fraction(len(arrays))
    room = np.eye(len(centre), dtype=int) * to_fraction(clients.delta)
    return all(is_positive_semidefinite(room + sign * (H - centre)) for H in arrays for sign in (1, -1))
