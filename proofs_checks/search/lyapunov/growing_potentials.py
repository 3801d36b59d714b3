"""The last point on convex clients, by a potential that grows: V_t = V + t·U, with U >= f(p) − f*.

    U⁺ <= U   and   V⁺ + U⁺ <= V   give   V_{t+1} <= V_t   for all t >= 0,   so that   f(p_T) − f* <= V(start)/T.

U is price·(f(p) − f*) plus a form of what a translation leaves alone, V a form of all coordinates. Both inequalities
are proved at once: two rounds with different unknowns are one program, whose form is positive where both are.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.linear_systems import solution
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.coordinates import coordinates
from fedconvex.proofs_checks.search.lyapunov.descents import points_of_state, vectors_of_descent
from fedconvex.proofs_checks.search.lyapunov.posed_round import Place, PosedRound, all_inequalities, pairs_of
from fedconvex.proofs_checks.search.lyapunov.priced_rounds import PricedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import attained
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    inner,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered

ZERO_CURVATURE, WHOLE = Fraction(0), Fraction(1)
GROWING = "growing "  # parts of U
AGAIN = "′"  # of the second round's unknowns


def pose_growing(
    method: Method, solver: LocalSolver, functions: FunctionClass, count: int, weight: Any
) -> tuple[bool, PricedRound] | None:
    """Both rounds, and whether p is the server's point; None where p is no function of the state.

    The budget is V at the start, of ‖w⁰ − x*‖² and of weight·ζ*².
    """
    found = coordinates(method, solver, functions, count)
    row, point = _point(found.mean.read, found.mean.vectors, points_of_state(method, solver, functions, count))
    if row is None:
        return None
    board = Board(count, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))  # the minimiser, where values are 0
    names, before = found.names, found.unknown
    state = found.state(before)
    here = _combined(row, before)
    first = board.at(here)
    after, _ = answered(method, solver, board, state)
    following = found.of(after)
    there = _combined(row, following)
    second = board.at(there)
    board.minimiser = True
    inequalities = all_inequalities(board)
    grown, small, large = vectors_of_descent(found, point, (before, following), (here, there), (first, second))
    squares = {
        (a, b): (_again(inner(before[a], before[b])), _again(inner(following[a], following[b])))
        for a, b in pairs_of(before)
    }  # fmt: skip
    for a, b in pairs_of(small):
        ends = inner(large[a], large[b])
        pair = ((GROWING + a[0], a[1]), (GROWING + b[0], b[1]))
        squares[pair] = (inner(small[a], small[b]), ends + _again(ends))
    names |= {(GROWING + part, i): f"{name}, times t" for (part, i), name in grown.items()}
    ends = board.mean_value(second)
    gained = board.mean_value(first) - ends - _again(ends)
    both = (*inequalities, *((name + AGAIN, _again(form)) for name, form in inequalities))
    budget = {
        (a, b): factor * part.start[a[1]] * part.start[b[1]]
        for part, factor in zip(found.parts, (ONE, to_fmpq(weight)), strict=True)
        for a, b in squares if a[0] == part.part
    }  # fmt: skip
    zeros: list[dict[Key, Any]] = []
    if not functions.lowest:  # clients of curvature 0 never move: no proof has a margin there
        posed = PosedRound(found, board, before, following, names, inequalities)
        for zero in attained_vectors(posed, attained(found, solver, OnALine(ZERO_CURVATURE, ZERO_CURVATURE, WHOLE))):
            other = {_key(key): ZERO for key in zero}
            zeros += [zero | other, {_key(key): x for key, x in zero.items()} | dict.fromkeys(zero, ZERO)]
    measured = (ZERO,) * len(found.mean.read)
    return [*point] == ["server"], PricedRound(
        found, names, measured, squares, (gained,), both, budget=budget, zeros=tuple(zeros)
    )


def _point(read: Any, vectors: tuple[str, ...], candidates: Any) -> tuple[list[Any] | None, dict[str, Any]]:
    """The first point that the coordinates determine, as their combination and as that of the state's means."""
    for point in candidates:
        columns = [[row[j] for row in read] for j in range(len(vectors))]
        row = solution(columns, [point.get(name, ZERO) for name in vectors], len(read))
        if row is not None:
            return row, point
    return None, {}


def _combined(row: list[Any], values: Mapping[Place, Family]) -> Family:
    return sum((values[MEAN, i] * c for i, c in enumerate(row) if c), start=Family())


def _key(key: Key) -> Key:
    return key[0] + AGAIN, key[1]


def _again(form: Form) -> Form:
    """The form with unknowns of their own."""
    products = {(_key(a), _key(b)): c for (a, b), c in form.products.items()}
    return Form(products, {name + AGAIN: c for name, c in form.values.items()})
