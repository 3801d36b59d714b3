"""One round on clients that need not be convex: what decreases is a function value plus a form in the memory.

    V⁺ <= V − price·‖∇f(p)‖² + price'·mean‖∇F_k(p) − ∇f(p)‖²,   V = weight·(f(p) − inf f) + (a quadratic form) >= 0

p is the server's point, or the mean of the clients' answers where that is what the method minimises f at. The form
measures vectors that a translation of everything leaves alone: memories, differences of points, and the clients'
gradients at p. V need not be positive in the gradient: f(p) − inf f is worth ‖∇f(p)‖²/(2L) already.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from fedconvex.arithmetic.linear_systems import solution
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, all_coordinates
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, WEIGHT, Pair, Place, PosedRound, pairs_of
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    combination,
    inner,
    mean,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes, played_rounds


@final
@dataclass(frozen=True, eq=False)
class PosedDescent:
    """A round with its point p, and the entry of V's form that counts ‖∇f(p)‖², and the one that counts deviations."""

    posed: PosedRound
    point: dict[str, Any]  # p as a combination of the state's means
    of_gradient: Pair | None  # None where V measures no gradient
    of_spread: Pair | None  # None for one client


def points_of_state(
    method: Method, solver: LocalSolver, functions: FunctionClass, count: int
) -> Iterator[dict[str, Any]]:
    """Combinations of a state's means that are points: the server's, and the mean of the clients' latest answers."""
    yield {"server": ONE}
    found, board, base = _begun(method, solver, functions, count)
    state = found.state(base)
    sends = [True, False] if method.skip != 0 else [True]
    _, afters, (answers, *_) = zip(*played_rounds(method, solver, board, state, EVERYONE, sends), strict=True)
    starts, answers = _starts(found), mean(answers)
    names, rows, right = [*starts], [[*starts.values()]], [ONE]
    for vectors in map(vectors_of, afters):  # the same combination, whether the round communicates or not
        means = [mean(vectors[name]).parts for name in names]
        for key in sorted({key for u in (*means, answers.parts) for key in u}):
            rows.append([u.get(key, ZERO) for u in means])
            right.append(answers.parts.get(key, ZERO))
    row = solution(rows, right, len(names))
    if row is not None and (point := {name: c for name, c in zip(names, row, strict=True) if c}) != {"server": ONE}:
        yield point


def pose_descent(
    method: Method, solver: LocalSolver, functions: FunctionClass, count: int, point: dict[str, Any], weight: Any
) -> PosedDescent:
    """The round of everyone, with p before and after. The budget: V's weight, plus `weight` times what spread costs."""
    found, board, base = _begun(method, solver, functions, count)
    state = found.state(base)
    here, at_first = _point(state, point), _point_at_start(found, point)
    first = board.at(here)
    chances, sides, seconds = [], [], []
    for chance, after in outcomes(method, solver, board, state):
        there = _point(after, point)
        seconds.append(board.at(there))
        both = (base, found.of(after)), (here, there), (first, seconds[-1])
        names, before, following = vectors_of_descent(found, point, *both)
        chances.append(chance)
        sides.append(following)

    def expected(forms: Iterable[Form]) -> Form:
        return combination(*zip(chances, forms, strict=True))

    last = {part: max(place for place in names if place[0] == part) for part in dict.fromkeys(p for p, _ in names)}
    gradient = (last[MEAN], last[MEAN])
    spread = (last[DEVIATION], last[DEVIATION]) if count > 1 else None
    squares: dict[Any, tuple[Form, Form]] = {
        (a, b): (inner(before[a], before[b]), expected(inner(following[a], following[b]) for following in sides))
        for a, b in pairs_of(before)
    }  # fmt: skip
    names[VALUE, 0] = "f at the point − inf f"
    squares[WEIGHT] = (board.mean_value(first), expected(map(board.mean_value, seconds)))
    measured = tuple(ONE if place == last[MEAN] else ZERO for place in names if place[0] == MEAN)
    sizes = [-square(before[last[MEAN]])]
    if spread is not None:
        sizes.append(square(before[last[DEVIATION]]))
    budget = {WEIGHT: ONE} | ({} if spread is None else {spread: to_fmpq(weight)})
    assert at_first == ONE
    worth = 1 / (2 * to_fmpq(functions.highest))
    paid = (ZERO, to_fmpq(weight))[: len(sizes)]
    posed = PosedRound(found, board, names, squares, tuple(board.inequalities()), sizes=tuple(sizes), measured=measured,
                       least=ZERO, worth=worth, budget=budget, paid=paid)  # fmt: skip
    return PosedDescent(posed, point, gradient, spread)


def vectors_of_descent(
    found: Coordinates,
    point: Mapping[str, Any],
    values: Sequence[Mapping[Place, Family]],
    points: Sequence[Family],
    at: Sequence[Evaluation],
) -> tuple[dict[Place, str], dict[Place, Family], dict[Place, Family]]:
    """What the form measures: its names, and the vectors before and after the round.

    Args:
        values: the coordinates' values before and after; `points` and `at`: p and the functions there.
    """
    names: dict[Place, str] = {}
    both: tuple[dict[Place, Family], dict[Place, Family]] = ({}, {})
    for part, gradient in zip(found.parts, ("∇f at the point", "∇F_k at the point"), strict=True):
        moves = [to_fmpq(x) for x in part.start] if part.part == MEAN else [ZERO] * len(part.read)
        # p is a combination of the coordinates: one difference from it follows from the others.
        moved = [
            i
            for i, row in enumerate(part.read)
            if moves[i] and any(c and point.get(n) for c, n in zip(row, part.vectors, strict=True))
        ]
        for i, name in enumerate(part.names):
            if part.part == MEAN and i in moved[:1]:
                continue
            place = (part.part, sum(known == part.part for known, _ in names))
            names[place] = f"{name} − point" if moves[i] else name
            for vectors, value, p in zip(both, values, points, strict=True):
                vectors[place] = value[part.part, i] - p * moves[i]
        if at[0].gradient.only(part.part).parts:
            place = (part.part, sum(known == part.part for known, _ in names))
            names[place] = gradient
            for vectors, e in zip(both, at, strict=True):
                vectors[place] = e.gradient.only(part.part)
    return names, *both


def _begun(method: Method, solver: LocalSolver, functions: FunctionClass, count: int) -> Any:
    """Coordinates, an empty board, and any state's coordinates on it."""
    found = all_coordinates(method, solver, functions, count)
    return found, Board(count, functions, minimiser=False), found.unknown


def _point(state: State, point: dict[str, Any]) -> Family:
    vectors = vectors_of(state)
    return sum((mean(vectors[name]) * c for name, c in point.items()), start=Family())


def _starts(found: Coordinates) -> dict[str, Any]:
    """How much of the server's first point is in each vector of a state at the start: 1 for points, 0 for gradients."""
    part, starts = found.mean, {}
    for place, name in enumerate(part.vectors):
        starts[name] = sum((c * row[place] for c, row in zip(part.start, part.written, strict=True)), ZERO)
    return starts


def _point_at_start(found: Coordinates, point: dict[str, Any]) -> Any:
    starts = _starts(found)
    return sum((starts[name] * c for name, c in point.items()), ZERO)
