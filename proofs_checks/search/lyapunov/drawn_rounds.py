"""Rounds of K drawn clients out of m, for any m without enumeration: expectations of squares from two moments.

A drawn client's memory becomes new, an idle one's stays. So a vector's mean over all clients changes by K/m times the
average change of the drawn ones, which is the mean change plus a random vector (`quadratic_forms.drawn`), and the mean
square over the clients is that of the new memories with weight K/m, plus that of the old ones with weight 1 − K/m. Of
all that is random only these two moments matter to a quadratic V, and both are forms in means and deviations.

Coordinates are not shortened by what is forgotten: an idle client forgets nothing.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, resting
from fedconvex.proofs_checks.search.lyapunov.linear_spans import Rows, echelon
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, QuadraticBoard, spectral_radius
from fedconvex.proofs_checks.search.lyapunov.state_vectors import (
    EVERYONE,
    any_vectors,
    name_of_memory,
    state_of,
    vectors_of,
)
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    DRAWN,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    combination,
    drawn,
    expected,
    inner,
    mean,
    noise,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.sampling import Draws
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, own_start

REFINEMENTS = 12  # of the slowest curvature


def pose_drawn_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, draws: Draws, among: str = "all"
) -> PosedRound:
    """The round of K of m clients, with expected squares after it.

    Raises InvalidInput; see `coordinates_when_drawn`.
    """
    found = coordinates_when_drawn(method, solver, functions, draws)
    board = Board(2, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))
    names = {(part.part, i): name for part in found.parts for i, name in enumerate(part.names)}
    before = {place: Family({(place[0], name): ONE}) for place, name in names.items()}
    state = found.state(before)
    after, _ = answered(method, solver, board, state, draws)
    board.minimiser = True
    squares = expected_squares(found, state, after, draws)
    return PosedRound(found, board, before, {}, names, tuple(board.inequalities(among)), expected=squares)


def means_after(before: dict[str, Any], after: dict[str, Any], memories: set[str], draws: Draws) -> dict[str, Any]:
    """The next state's vectors, of memories their means over all clients: what is expected, and what is random."""
    share = to_fmpq(draws.share_of_everyone)
    return {
        name: mean(before[name]) + drawn(new - before[name]) * share if name in memories else new
        for name, new in after.items()
    }


def expected_squares(found: Coordinates, state: State, following: State, draws: Draws) -> dict[Pair, Form]:
    """E⟨a, b⟩ of any two coordinates after the round: of means, and the mean over the clients of deviations."""
    before, after = vectors_of(state), vectors_of(following)
    means = means_after(before, after, {*map(name_of_memory, state.memory)}, draws)
    share, scale = to_fmpq(draws.share_of_everyone), to_fmpq(draws.scale)

    def of(part: Part, vectors: dict[str, Any]) -> list[Family]:
        return [
            sum((vectors[name] * c for name, c in zip(part.vectors, row, strict=True)), start=Family())
            for row in part.read
        ]

    def product(u: Family, v: Family) -> Form:
        return combination((ONE, inner(expected(u), expected(v))), (scale, inner(noise(u), noise(v))))

    squares: dict[Pair, Form] = {}
    for part in found.parts:
        averaged = of(part, means)
        if part.part == DEVIATION:
            new, old = of(part, after), of(part, before)
        for i, j in combinations_with_replacement(range(len(part.read)), 2):
            total = product(averaged[i], averaged[j])
            if part.part == DEVIATION:  # the mean square minus the square of the mean
                total = combination(
                    (share, inner(new[i], new[j])), (1 - share, inner(old[i], old[j])), (-ONE, total)
                )  # fmt: skip
            squares[(part.part, i), (part.part, j)] = total
    return squares


def coordinates_when_drawn(method: Method, solver: LocalSolver, functions: FunctionClass, draws: Draws) -> Coordinates:
    """Coordinates of all that runs reach, whoever is drawn.

    Raises InvalidInput where the drawn clients' new memories depend on which other clients are sampled, and as
    `coordinates` does.
    """
    free = functions
    if functions.lowest == functions.highest:  # such functions' gradients are not free
        free = SmoothStronglyConvex(functions.highest, functions.highest + 1)
    board, first = Board(2, free, minimiser=False), own_start(method)
    names, memories = [*vectors_of(first)], [*map(name_of_memory, first.memory)]
    begun = any_vectors(method, EVERYONE)
    after = vectors_of(answered(method, solver, board, state_of(method, begun), draws)[0])
    if any(part == DRAWN for name in memories for part, _ in after[name].parts):
        dependence = f"makes the memory of {type(method).__name__} depend on which other clients are sampled"
        problem = f"{dependence}, which is not analysed"
        raise InvalidInput("participation", f"Uniform({draws.K})", problem, "use full participation")
    unknown = sorted({name for u in after.values() for _, name in u.parts} - {*names})
    evaluated = [u for e in board.evaluations for u in (e.point, e.gradient)]
    unknown = sorted({*unknown, *(name for u in evaluated for _, name in u.parts if name not in names)})
    rest = resting(board, [after], memories, unknown, method)
    means = means_after(begun, after, {*memories}, draws)
    basis = {
        MEAN: [[vectors_of(first)[name].parts.get((MEAN, "w"), ZERO) for name in names]],
        DEVIATION: [[-c for c in rest]],
    }
    for other in unknown:  # any vectors, of which the next state contains a multiple
        basis[MEAN] += [[means[name].parts.get((part, other), ZERO) for name in names] for part in (MEAN, DRAWN)]
        basis[DEVIATION] += [[after[name].parts.get((part, other), ZERO) for name in memories]
                             for part in (MEAN, DEVIATION)]  # fmt: skip
    sizes = {MEAN: len(names), DEVIATION: len(memories)}
    spans = {part: echelon(rows, sizes[part]) for part, rows in basis.items()}
    while True:  # images of means and of deviations, among the next means and the next deviations
        larger = {}
        for part, (known, _) in spans.items():
            images = list(_images(part, spans, names, memories, begun, after, means))
            larger[part] = echelon(known + images, sizes[part])
        if all(len(larger[part][0]) == len(spans[part][0]) for part in spans):
            break
        spans = larger
    parts = []
    for part, vectors in ((MEAN, names), (DEVIATION, memories)):
        written, pivots = spans[part]
        read = [[ONE if j == pivot else ZERO for j in range(len(vectors))] for pivot in pivots]
        parts.append(Part(part, tuple(vectors), read, written, [basis[part][0][pivot] for pivot in pivots]))
    return Coordinates(method, parts[0], parts[1])


def _images(
    part: str, spans: Any, names: list[str], memories: list[str], begun: Any, after: Any, means: Any
) -> Iterator[list[Any]]:
    """What the spans' vectors contribute to the next means, or to the next deviations."""
    of_means = {name: (MEAN, name) for name in names}
    for row in spans[MEAN][0]:
        if part == MEAN:
            yield _combined(row, [means[name] for name in names], of_means, names)
        else:  # a drawn client's memory changes, an idle one's does not: they differ by the change of the means
            yield _combined(row, [after[name] - begun[name] for name in memories], of_means, names)
    for row in spans[DEVIATION][0]:
        if part == MEAN:
            yield _combined(row, [means[name] for name in names], {name: (DRAWN, name) for name in memories}, memories)
        else:
            yield _combined(
                row, [after[name] for name in memories], {name: (DEVIATION, name) for name in memories}, memories
            )


def _combined(row: list[Any], outputs: list[Any], keys: dict[str, Any], names: list[str]) -> list[Any]:
    return [sum((c * u.parts.get(keys[name], ZERO) for c, name in zip(row, names, strict=True)), ZERO) for u in outputs]


def slowest_when_drawn(
    found: Coordinates, solver: LocalSolver, functions: FunctionClass, draws: Draws, inexact: bool
) -> list[Attained]:
    """Clients of one curvature on which expected squares of errors decrease the least, exactly.

    The expected squares of coordinates are then linear in those before; the spectral radius of this map, restricted to
    what the method's own start reaches, bounds every V that is quadratic in the state.
    """
    signs = (-1, 0, 1) if inexact else (0,)

    def on(curvature: Fraction, sign: int) -> Attained:
        federation = OnALine(curvature, curvature, Fraction(1))
        matrix = moment_map(found, solver, QuadraticBoard(federation, sign), draws)
        return Attained(federation, sign, matrix, *spectral_radius(matrix), None)

    def squared(one: Attained) -> Fraction:
        return one.squared

    low, high = functions.lowest, functions.highest
    step = (high - low) / BETWEEN
    best = max((on(low + step * i, sign) for i in range(BETWEEN + 1) for sign in signs), key=squared)
    for _ in range(REFINEMENTS if step else 0):
        assert isinstance(best.federation, OnALine)
        step, at = step / 2, best.federation.first
        beside = [on(a, best.sign) for a in (at - step, at + step) if low < a < high]
        best = max(best, *beside, key=squared)
    return [best]


def moment_map(found: Coordinates, solver: LocalSolver, board: QuadraticBoard, draws: Draws) -> Rows:
    """The expected products of coordinates after the round, as combinations of those before."""
    places = [(part.part, i) for part in found.parts for i in range(len(part.read))]
    state = found.state({(part, i): Family({(part, f"{part} {i}"): ONE}) for part, i in places})
    following, _ = answered(found.method, solver, board, state, draws)  # type: ignore[arg-type]
    squares = expected_squares(found, state, following, draws)
    pairs = [(a, b) for a, b in combinations_with_replacement(places, 2) if a[0] == b[0]]
    keys = [((a[0], f"{a[0]} {a[1]}"), (b[0], f"{b[0]} {b[1]}")) for a, b in pairs]
    matrix = [[squares[pair].products.get(key, ZERO) for key in keys] for pair in pairs]
    return _reached(matrix, [_start(found, pair) for pair in pairs])


def _start(found: Coordinates, pair: Pair) -> list[Any]:
    """The product of two coordinates at the start: of the server's error, and of the clients' gradients."""
    (part, i), (_, j) = pair
    start = (found.mean if part == MEAN else found.deviation).start
    return [start[i] * start[j] if part == kind else ZERO for kind in (MEAN, DEVIATION)]


def _reached(matrix: Rows, starts: Rows) -> Rows:
    """The map on the smallest space that contains the starts and their images."""
    n = len(matrix)
    basis, pivots = echelon([list(column) for column in zip(*starts, strict=True)], n)
    while True:
        images = [[sum((x * y for x, y in zip(row, u, strict=True)), ZERO) for row in matrix] for u in basis]
        larger, places = echelon(basis + images, n)
        if len(larger) == len(basis):
            return [[image[place] for image in images] for place in pivots]
        basis, pivots = larger, places
