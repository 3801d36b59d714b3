"""One round of some clients that need not be convex: descent of a potential, in expectation.

    E V⁺ <= V − price·‖∇f(w)‖² + price'·mean‖∇F_k(w) − ∇f(w)‖²,   V = weight·(f(w) − inf f) + lag·mean‖e_k‖²

e_k is what client k's memory lags behind: the memory, in units of the gradient that it stands for, minus ∇F_k(w). The
next point w⁺ depends on the draw, and its function values and gradients are unknown. Three things are used of them.

  * f(w⁺) <= f(w) + ⟨∇f(w), w⁺ − w⟩ + (L/2)‖w⁺ − w‖², of which the expectation is a form.
  * The gradients' changes δ_k = ∇F_k(w⁺) − ∇F_k(w) are at most H‖w⁺ − w‖ long, H the largest curvature in size. All
    draws have K members, so that mean over k of E[‖δ_k‖² | k drawn] <= H²·E‖w⁺ − w‖², and the same where k is idle.
  * A drawn client's new memory depends on nobody else, so that E‖e_k⁺‖² where k is drawn is ‖a_k‖² − 2⟨a_k, d_k⟩ +
    E[‖δ_k‖² | k drawn], with a_k known and d_k = E[δ_k | k drawn], ‖d_k‖² <= E[‖δ_k‖² | k drawn]. An idle client's
    memory stays.
"""

from collections.abc import Iterator
from typing import Any

from fedconvex.arithmetic.linear_systems import solution
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.coordinates import (
    Coordinates,
    coordinates,
    is_memoryless,
    memories_at_rest,
    memoryless,
)
from fedconvex.proofs_checks.search.lyapunov.descents import PosedDescent
from fedconvex.proofs_checks.search.lyapunov.posed_round import EACH, VALUE, WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.symbolic.random_vectors import (
    FIXED,
    expected,
    if_drawn,
    is_clients_own,
    replaced,
    terms_of,
)
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    combination,
    inner,
    mean,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, own_start

LAG: Pair = ((EACH, 0), (EACH, 0))
DRAWN_ONES, IDLE_ONES = "drawn", "idle"


def pose_drawn_descent(
    method: Method, solver: LocalSolver, functions: FunctionClass, draws: Draws, weight: Any
) -> PosedDescent:
    """The round of some clients from any state. The budget: V's weight, plus `weight` times what spread costs.

    Raises InvalidInput for methods whose clients remember no multiple of their gradients, or several, and where new
    memories depend on which other clients are drawn.
    """
    found = _coordinates(method, solver, draws)
    board = Board(2, functions, minimiser=False)
    state = found.state(found.unknown)
    here = board.at(state.server)
    after, _ = answered(method, solver, board, state, draws)
    if not all(map(is_clients_own, after.memory.values())):
        raise InvalidInput("method", method, "makes memories depend on who else takes part, which is not analysed for "
                           "clients that need not be convex", "give Full()")  # fmt: skip
    highest = to_fmpq(functions.highest)
    moved = after.server - state.server
    distance = square(moved)
    whole = mean(here.gradient)
    stays, spread = board.mean_value(here), square(here.gradient - whole)
    squares: dict[Any, tuple[Form, Form]] = {
        WEIGHT: (stays, combination((ONE, stays), (ONE, inner(whole, expected(moved))), (highest / 2, distance)))
    }
    names, budget = {(VALUE, 0): "f at the server's point − inf f"}, {WEIGHT: ONE}
    inequalities = [*board.inequalities()]
    share = to_fmpq(draws.chance_of_each)
    # How far the server moves, in the mean over the clients: when a client takes part, and when it does not.
    of_drawn = inner(replaced(Family(), moved, draws), moved) / share
    distances = {DRAWN_ONES: of_drawn, IDLE_ONES: (distance - of_drawn * share) / (1 - share)}
    for name, size in memories_at_rest(found).items():
        old, new = (if_drawn(vectors_of(one)[name]) / size - here.gradient for one in (state, after))
        steepest = max(abs(to_fmpq(functions.lowest)), highest)
        squares[LAG] = square(old), _lag_after(board, new, old, share)
        remembered = name if size == 1 else f"{name}/({size})"
        names[LAG[0]], budget[LAG] = f"{remembered} − ∇F_k at the server's point", to_fmpq(weight)
        for who, far in distances.items():
            change = value(_size(who))
            inequalities.append((f"gradients of {who} clients", steepest**2 * far - change))
            inequalities.append((f"mean gradients of {who} clients", change - square(board.vectors(who))))
    posed = PosedRound(found, board, names, squares, tuple(inequalities), sizes=(-square(whole), spread), measured=(),
                       least=ZERO, worth=1 / (2 * highest), budget=budget, paid=(ZERO, to_fmpq(weight)),
                       zeros=tuple(_still(found, board, state, after)))  # fmt: skip
    lag = LAG if LAG in squares else None
    return PosedDescent(posed, {"server": ONE}, lag, lag)


def _still(found: Coordinates, board: Board, state: State, after: State) -> Iterator[dict[Key, Any]]:
    """The round in which gradients of mean 0 differ between clients by constants and nothing moves, if there is one.

    Every proof that pays nothing for heterogeneity is an equality there.
    """
    known = [(e.point, ZERO) for e in board.evaluations] + [(e.gradient, ONE) for e in board.evaluations]
    known += [(u, ZERO) for residual in board.residuals for u in (residual.left, residual.first)]
    for name, size in memories_at_rest(found).items():
        known += [(if_drawn(vectors_of(one)[name]), size) for one in (state, after)]
    known += [(u, ZERO) for pattern, u in terms_of(after.server).items() if pattern != FIXED]
    known += [(board.vectors(who), ZERO) for who in (DRAWN_ONES, IDLE_ONES)]
    keys = sorted({key for u, _ in known for key in u.parts})
    deviations = [key for key in keys if key[0] == DEVIATION]
    rows = [[u.parts.get(key, ZERO) for key in deviations] for u, _ in known]
    values = solution(rows, [right for _, right in known], len(deviations))
    if values is not None:
        servers = [key for u in vectors_of(state).values() for key in u.parts]
        yield dict.fromkeys([*keys, *servers], ZERO) | dict(zip(deviations, values, strict=True))


def _lag_after(board: Board, new: Family, old: Family, share: Any) -> Form:
    """mean E‖e_k⁺‖²."""
    each = [
        combination((ONE, square(u)), (-2 * ONE, inner(u, board.vectors(who))), (ONE, value(_size(who))))
        for u, who in ((new, DRAWN_ONES), (old, IDLE_ONES))
    ]
    return combination((share, each[0]), (1 - share, each[1]))


def _size(who: str) -> str:
    return f"mean square of the changes of gradients of {who} clients"


def _coordinates(method: Method, solver: LocalSolver, draws: Draws) -> Coordinates:
    """Coordinates of all that runs reach, of clients that remember their gradients, or nothing."""
    if is_memoryless(method):
        return memoryless(method)
    first = own_start(method)
    found = coordinates(method, solver, SmoothStronglyConvex(1, 2), 2, draws=draws)  # which are those of any class
    sizes = memories_at_rest(found)
    if len(sizes) != 1 or not all(sizes.values()) or any(u.parts for u in first.memory.values()):
        problem = "has memories that are not one multiple of the clients' gradients, which is not analysed"
        raise InvalidInput(
            "method", method, f"{problem} where clients that need not be convex are sampled", "give Full()"
        )
    return found
