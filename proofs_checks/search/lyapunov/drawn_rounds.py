"""Rounds of K drawn clients out of m, for any m without enumeration: expectations of squares from two moments.

A drawn client's memory becomes new, an idle one's stays. So a vector's mean over all clients changes by K/m times the
average change of the drawn ones, which is the mean change plus a random vector (`quadratic_forms.drawn`), and the mean
square over the clients is that of the new memories with weight K/m, plus that of the old ones with weight 1 − K/m. Of
all that is random only these two moments matter to a quadratic V, and both are forms in means and deviations.

Coordinates are not shortened by what is forgotten: an idle client forgets nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, resting
from fedconvex.proofs_checks.search.lyapunov.drawn_groups import memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.linear_spans import echelon
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, Pair, PosedRound
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


def pose_drawn_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, draws: Draws, among: str = "all",
    remembered: bool = False,
) -> PosedRound:  # fmt: skip
    """The round of K of m clients, with expected squares after it.

    `remembered`: whether V measures, too, the points at which the clients' gradients are those that they remember, and
    the values there and at the server's point. Strong convexity makes them functions of the state: ∇F_k takes every
    value at one point.

    Raises InvalidInput; see `coordinates_when_drawn`.
    """
    found = coordinates_when_drawn(method, solver, functions, draws)
    board = Board(2, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))
    names = {(part.part, i): name for part in found.parts for i, name in enumerate(part.names)}
    before = {place: Family({(place[0], name): ONE}) for place, name in names.items()}
    state = found.state(before)
    old, parts = vectors_of(state), found.parts
    recalled = list(_recalled(found, board, old)) if remembered else []
    after, _ = answered(method, solver, board, state, draws)
    new, values, memories = vectors_of(after), [], {*map(name_of_memory, state.memory)}
    for name, size, earlier in recalled:
        later = _where(board, new[name] / size)
        word = f"∇F_k⁻¹({name if size == 1 else f'{name}/({size})'})"
        old[word], new[word] = earlier.point, later.point
        memories.add(word)
        parts = tuple(_with(part, word) for part in parts)
        for part in parts:
            place = (part.part, len(part.read) - 1)
            names[place], before[place] = (
                word,
                Family({k: c for k, c in earlier.point.parts.items() if k[0] == part.part}),
            )
        share = to_fmpq(draws.share_of_everyone)
        stays = board.mean_value(earlier)
        values.append((stays, combination((share, board.mean_value(later)), (1 - share, stays))))
        names[VALUE, len(values) - 1] = f"F_k at {word}"
    if remembered:
        values.append(_expected_value(board, functions, state.server, after.server, draws))
        names[VALUE, len(values) - 1] = "F(server)"
    board.minimiser = True
    squares = expected_squares(parts, old, new, memories, draws)
    return PosedRound(
        found, board, before, {}, names, tuple(board.inequalities(among)), tuple(values), expected=squares
    )


def _expected_value(board: Board, functions: FunctionClass, before: Any, after: Any, draws: Draws) -> tuple[Form, Form]:
    """F at the server's point, and what its expectation after the round is at most: smoothness bounds it at w⁺.

    E F(w⁺) ≤ F(E w⁺) + (L/2)·E‖w⁺ − E w⁺‖².
    """
    here, there = board.at(before), board.at(expected(after))
    spread = inner(noise(after), noise(after)) * to_fmpq(draws.scale)
    return board.mean_value(here), combination((ONE, board.mean_value(there)), (to_fmpq(functions.highest) / 2, spread))


def _recalled(found: Coordinates, board: Board, state: dict[str, Any]) -> Iterator[tuple[str, Any, Evaluation]]:
    """The memories that are a multiple of ∇F_k(x*) where the method rests, the factor, and ∇F_k's points of them."""
    for name, size in memories_at_rest(found).items():
        if size:
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


def means_after(before: dict[str, Any], after: dict[str, Any], memories: set[str], draws: Draws) -> dict[str, Any]:
    """The next state's vectors, of memories their means over all clients: what is expected, and what is random."""
    share = to_fmpq(draws.share_of_everyone)
    return {
        name: mean(before[name]) + drawn(new - before[name]) * share if name in memories else new
        for name, new in after.items()
    }


def expected_squares(
    parts: Sequence[Part], before: dict[str, Any], after: dict[str, Any], memories: set[str], draws: Draws
) -> dict[Pair, Form]:
    """E⟨a, b⟩ of any two coordinates after the round: of means, and the mean over the clients of deviations."""
    means = means_after(before, after, memories, draws)
    share, scale = to_fmpq(draws.share_of_everyone), to_fmpq(draws.scale)

    def of(part: Part, vectors: dict[str, Any]) -> list[Family]:
        return [
            sum((vectors[name] * c for name, c in zip(part.vectors, row, strict=True)), start=Family())
            for row in part.read
        ]

    def product(u: Family, v: Family) -> Form:
        return combination((ONE, inner(expected(u), expected(v))), (scale, inner(noise(u), noise(v))))

    squares: dict[Pair, Form] = {}
    for part in parts:
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
