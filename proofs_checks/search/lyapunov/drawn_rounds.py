"""Rounds of which some clients take part: expectations of squares, for any number of clients without enumeration.

A client who does not take part keeps its memory. So the next state is random (`symbolic.random_vectors`), and of all
that is random only expected products matter to a quadratic V: forms in the means and deviations of the state and of the
gradients.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, coordinates, memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, PosedRound, all_inequalities, expected_squares
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.symbolic.random_vectors import expected, if_drawn, is_clients_own, replaced
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    ONE,
    ZERO,
    Family,
    Form,
    combination,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered


def pose_drawn_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, draws: Draws, among: str = "all",
    remembered: bool = False,
) -> PosedRound:  # fmt: skip
    """The round of those clients who take part, with expected squares after it.

    `remembered`: whether V measures, too, the points at which the clients' gradients are those that they remember, and
    the values there and at the server's point. Strong convexity makes them functions of the state: ∇F_k takes every
    value at one point.

    Raises InvalidInput; see `coordinates`.
    """
    found = coordinates(method, solver, functions, 2, draws=draws)
    board = Board(2, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))
    names, before = found.names, found.unknown
    state = found.state(before)
    old, parts = vectors_of(state), found.parts
    recalled = []
    if remembered:
        tried = vectors_of(answered(method, solver, Board(2, functions, minimiser=False), state, draws)[0])
        recalled = list(_recalled(found, board, old, {name for name, u in tried.items() if is_clients_own(u)}))
    after, _ = answered(method, solver, board, state, draws)
    new, values = vectors_of(after), []
    for name, size, earlier in recalled:
        later = _where(board, if_drawn(new[name]) / size)
        word = f"∇F_k⁻¹({name if size == 1 else f'{name}/({size})'})"
        old[word], new[word] = earlier.point, replaced(earlier.point, later.point, draws)
        parts = tuple(_with(part, word) for part in parts)
        for part in parts:
            place = (part.part, len(part.read) - 1)
            names[place], before[place] = word, earlier.point.only(part.part)
        share = to_fmpq(draws.chance_of_each)
        stays = board.mean_value(earlier)
        values.append((stays, combination((share, board.mean_value(later)), (1 - share, stays))))
        names[VALUE, len(values) - 1] = f"F_k at {word}"
    if remembered:
        values.append(_expected_value(board, functions, state.server, after.server))
        names[VALUE, len(values) - 1] = "F(server)"
    board.minimiser = True
    squares = expected_squares(parts, [(ONE, new)])
    return PosedRound(found, board, before, {}, names, all_inequalities(board, among), tuple(values), expected=squares)


def _expected_value(board: Board, functions: FunctionClass, before: Any, after: Any) -> tuple[Form, Form]:
    """F at the server's point, and what its expectation after the round is at most: smoothness bounds it at w⁺.

    E F(w⁺) ≤ F(E w⁺) + (L/2)·E‖w⁺ − E w⁺‖².
    """
    here, there = board.at(before), board.at(expected(after))
    spread = square(after) - square(expected(after))
    return board.mean_value(here), combination((ONE, board.mean_value(there)), (to_fmpq(functions.highest) / 2, spread))


def _recalled(
    found: Coordinates, board: Board, state: dict[str, Any], own: set[str]
) -> Iterator[tuple[str, Any, Evaluation]]:
    """The memories that are a multiple of ∇F_k(x*) where the method rests, the factor, and ∇F_k's points of them.

    Only of the clients' own memories, which do not depend on who else takes part.
    """
    for name, size in memories_at_rest(found).items():
        if size and name in own:
            yield name, size, board.record(board.vectors(f"x of {name}"), state[name] / size)


def _where(board: Board, gradient: Family) -> Evaluation:
    """The evaluation with these gradients: a recorded one, or one at unknown points."""
    for known in board.evaluations:
        if known.gradient.parts == gradient.parts:
            return known
    return board.record(board.vectors(f"x{len(board.evaluations)}"), gradient)


def _with(part: Part, name: str) -> Part:
    """The part with one more vector, and it as a coordinate."""
    read = [*([*row, ZERO] for row in part.read), [*[ZERO] * len(part.vectors), ONE]]
    return replace(part, vectors=(*part.vectors, name), read=read)
