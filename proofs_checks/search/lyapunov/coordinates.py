"""Coordinates of a method's state: what its runs can reach, and what they do not forget.

A state is the server's point, the server's other vectors and the clients' memories. Its error is its difference from
the state in which the method rests at the minimiser. One round on free vectors shows, for means and for deviations over
the clients, how the error depends on the one before (A), on the clients' gradients (B), and where the functions are
evaluated (C). Since means and deviations never mix, everything below is done for each of them alone:

  * Invariants, such as "c is the mean of the c_k": all reachable errors lie in the smallest space that contains those
    of the method's own start and the range of B, and that A maps into itself.
  * What is forgotten: errors that change no evaluation now or later, and are 0 after some rounds (C Aⁿ u = 0 for all n,
    Aⁿ u = 0 for some n). Coordinates of the reachable space without these are the coordinates of the state.

Where communication is skipped at random a round has two outcomes, with an A and a B each. The reachable space is then
mapped into itself by both, and forgotten are errors that change no evaluation whatever the outcomes are, and that are 0
after some communications: such as those of a server's point that the clients do not use. Until then they wait.

Clients with unequal numbers of local steps are groups: each has a mean of its own, among the means, and deviations from
it. Those of one group never mix with the others'.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from flint import fmpq

from fedconvex.arithmetic.linear_systems import Rows, applied, echelon, kernel, product, solution
from fedconvex.compressors import Compressor
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.state_vectors import (
    EVERYONE,
    Groups,
    any_vectors,
    groups_of,
    state_of,
    vectors_of,
)
from fedconvex.proofs_checks.symbolic.random_vectors import Random, terms_of
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE as DRAWS_OF_EVERYONE
from fedconvex.proofs_checks.symbolic.randomness import Draws
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    mean,
    of_group,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.compression import Compression
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes, own_start


class Biased(InvalidInput):
    """The method has a fixed point other than the minimiser, on clients whose gradients there differ."""


@final
@dataclass(frozen=True, eq=False)
class Part:
    """The coordinates of the means, or of the deviations, of a state's vectors.

    Row i of `read` gives coordinate i of a state, from its vectors; row i of `written` is the state with coordinate
    i = 1 and the others 0, up to what is forgotten. `start`: the coordinates of the method's own start, per unit of the
    server's error, or of the clients' gradients at the minimiser; of means, `by_gradients` has those of the latter.
    `reached`: a basis of the states that runs reach.
    """

    part: str  # MEAN, DEVIATION, or one group's deviations
    vectors: tuple[str, ...]  # the names of the state's vectors that have such a part
    read: Rows
    written: Rows
    start: list[Any]
    by_gradients: Rows = field(default_factory=list)
    reached: Rows = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates in words: "server + 1/2·h"."""
        return tuple(_written(row, self.vectors) for row in self.read)


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of a method's state, of which Lyapunov functions are quadratic forms."""

    method: Method
    mean: Part
    deviation: Part  # of the first group
    others: tuple[Part, ...] = ()  # the deviations of other groups
    groups: Groups = EVERYONE
    period: int = 1  # rounds that are played
    compressors: tuple[Compressor, ...] = ()  # of what clients send in a round

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.mean, self.deviation, *self.others

    @property
    def names(self) -> dict[tuple[str, int], str]:
        """The names of the coordinates."""
        return {(part.part, i): name for part in self.parts for i, name in enumerate(part.names)}

    @property
    def unknown(self) -> dict[tuple[str, int], Family]:
        """The coordinates of any state: an unknown vector for each."""
        return {place: Family({(place[0], name): ONE}) for place, name in self.names.items()}

    def state(self, values: dict[tuple[str, int], Any]) -> State:
        """The state with these coordinates: a vector for each part and number."""
        total: dict[str, Any] = dict.fromkeys(self.mean.vectors, Family())
        for part in self.parts:
            for i, row in enumerate(part.written):
                for name, c in zip(part.vectors, row, strict=True):
                    if c:
                        total[name] = total[name] + values[part.part, i] * c
        return state_of(self.method, total, self.groups)

    def of(self, state: State) -> dict[tuple[str, int], Any]:
        """The coordinates of a state's vectors; random ones are both the mean and the deviations."""
        vectors, found = vectors_of(state, self.groups), {}
        for part in self.parts:
            for i, row in enumerate(part.read):
                u = sum((vectors[name] * c for name, c in zip(part.vectors, row, strict=True)), start=Family())
                found[part.part, i] = u if isinstance(u, Random) else u.only(part.part)
        return found


def coordinates(
    method: Method, solver: LocalSolver, functions: FunctionClass, clients: int, composite: bool = False,
    period: int = 1, draws: Draws = DRAWS_OF_EVERYONE,
) -> Coordinates:  # fmt: skip
    """The coordinates of a method's state with this local solver, between rounds, or between `period` rounds.

    Of a `composite` objective f + ψ the gradients at the minimiser have a mean, too, −1 times the subgradient of ψ.
    With draws nothing is left out that is forgotten: an idle client forgets nothing.

    Raises InvalidInput for methods that do not rest at the minimiser of every federation of two clients or more.
    """
    free = functions
    if functions.lowest == functions.highest:  # such functions' gradients are not free
        free = SmoothStronglyConvex(functions.highest, functions.highest + 1)
    board, groups = Board(clients, free, minimiser=False, composite=composite), groups_of(functions, solver, clients)
    board.compression = Compression((0,) * len(groups.shares))
    starting, begun = vectors_of(own_start(method), groups), any_vectors(method, groups)
    state = state_of(method, begun, groups)
    afters = [vectors_of(after, groups) for _, after in outcomes(method, solver, board, state, period, draws)]
    evaluated = [e.point for e in board.evaluations] + [e.gradient for e in board.evaluations]
    evaluated += [u for r in board.residuals for u in (r.left, r.first)]
    evaluated += [point for point, _ in board.proximal]
    evaluated += [u for _, u, _ in board.compression.errors]
    evaluated = [of_group(u, k) for u in evaluated for k in groups.numbers]
    vectors = {part: [name for name in begun if (part, name) in begun[name].parts] for part in (MEAN, *groups.parts)}
    unknown = _unknown(vectors, [*evaluated, *_terms(afters)])
    starts: dict[str, Rows] = {}
    for part, mine in vectors.items():
        # the run starts at any point of the server
        starts[part] = [[starting[name].parts.get((MEAN, "w"), ZERO) for name in mine]] if part == MEAN else []
        for gradients in _gradients_at_minimiser(part, groups, composite):
            rest = resting(board, afters, mine, unknown[part], method, part, gradients)
            starts[part].append([-c for c in rest])
    spans, parts = _reached(afters, vectors, unknown, starts), []
    for part, mine in vectors.items():
        if not draws.everyone:
            parts.append(_whole(part, mine, spans[part], starts[part][0]))
            continue
        A = [[[after[name].parts.get((part, other), ZERO) for other in mine] for name in mine] for after in afters]
        C = [[u.parts.get((part, name), ZERO) for name in mine] for u in evaluated]
        parts.append(_shortened(part, mine, spans[part], A, C, starts[part]))
    compressors = tuple(compressor for compressor, *_ in board.compression.errors)
    return Coordinates(method, parts[0], parts[1], tuple(parts[2:]), groups, period, compressors)


def _gradients_at_minimiser(part: str, groups: Groups, composite: bool) -> Iterator[list[Any]]:
    """A basis of what the groups' gradients at the minimiser can be: of deviations anything, of means with mean 0.

    Of a composite objective the means are anything, too.
    """
    count = len(groups.shares)
    for k, (share, own) in enumerate(zip(groups.shares, groups.parts, strict=True)):
        unit = [ONE if j == k else ZERO for j in range(count)]
        if part == own or (part == MEAN and composite):
            yield unit
        elif part == MEAN and k < count - 1:
            yield [*unit[:-1], -share / groups.shares[-1]]


def all_coordinates(method: Method, solver: LocalSolver, functions: FunctionClass, clients: int) -> Coordinates:
    """Coordinates of all that runs reach, whether or not it is forgotten, of functions that need no minimiser.

    Here states are no errors: the clients' memories start at what the method says, and not at what they should be.
    """
    board, starting = Board(clients, functions, minimiser=False), vectors_of(own_start(method))
    begun = any_vectors(method, groups_of(functions, solver, clients))
    afters = [vectors_of(after) for _, after in outcomes(method, solver, board, state_of(method, begun))]
    vectors = {part: [name for name in begun if (part, name) in begun[name].parts] for part in (MEAN, DEVIATION)}
    starts = {MEAN: [[starting[name].parts.get((MEAN, "w"), ZERO) for name in vectors[MEAN]]],
              DEVIATION: [[ZERO] * len(vectors[DEVIATION])]}  # fmt: skip
    spans = _reached(afters, vectors, _unknown(vectors, _terms(afters)), starts)
    parts = [_whole(part, mine, spans[part], starts[part][0]) for part, mine in vectors.items()]
    return Coordinates(method, parts[0], parts[1])


def memoryless(method: Method) -> Coordinates:
    """The server's point, of a method that keeps nothing else; it need not rest at the minimiser."""
    return Coordinates(method, Part(MEAN, ("server",), [[ONE]], [[ONE]], [ONE]), Part(DEVIATION, (), [], [], []))


def is_memoryless(method: Method) -> bool:
    """Whether the server's point is all that is kept, and every round communicates."""
    first = own_start(method)
    return not (first.memory or first.shared) and method.skip == 0


def _whole(part: str, mine: list[str], span: tuple[Rows, list[int]], start: list[Any]) -> Part:
    """Coordinates of all that is reached."""
    basis, pivots = span
    read = [[ONE if j == pivot else ZERO for j in range(len(mine))] for pivot in pivots]
    return Part(part, tuple(mine), read, basis, [start[pivot] for pivot in pivots])


def _shortened(part: str, mine: list[str], span: tuple[Rows, list[int]], A: list[Rows], C: Rows, starts: Rows) -> Part:
    """Coordinates of what is not forgotten, from the map A of every outcome of a round, and the evaluations C."""
    n, (basis, pivots) = len(mine), span
    seen = _grown(C, A, n)
    inside = [list(column) for column in zip(*basis, strict=True)]
    power = [[ONE if i == j else ZERO for j in range(n)] for i in range(n)]
    if len(A) == 1:
        for _ in range(n):
            power = product(power, A[0], n)
    elif basis and _wait(product(kernel(product(seen, inside, len(basis)), len(basis)), basis, n), A):
        power = []
    rows, kept = echelon(product(seen + power, inside, len(basis)) if basis else [], len(basis))
    # A reachable state is the combination of `basis` with its own vectors at the pivots.
    read = [[ZERO] * n for _ in rows]
    for row, found in zip(rows, read, strict=True):
        for place, c in zip(pivots, row, strict=True):
            found[place] = c
    begun, *others = (applied(read, one) for one in starts)
    return Part(part, tuple(mine), read, [basis[place] for place in kept], begun, others, basis)


def _terms(afters: list[Any]) -> Iterator[Family]:
    return (v for after in afters for u in after.values() for v in terms_of(u).values())


def _unknown(vectors: dict[str, list[str]], made: Iterable[Family]) -> dict[str, list[str]]:
    """The basic vectors of every part that are none of the state's."""
    seen = {key for u in made for key in u.parts}
    return {part: sorted({name for of, name in seen if of == part} - {*mine}) for part, mine in vectors.items()}


def _reached(
    afters: list[Any], vectors: dict[str, list[str]], unknown: dict[str, list[str]], starts: dict[str, Rows]
) -> dict[str, tuple[Rows, list[int]]]:
    """The smallest spaces that contain the starts and what unknown vectors add, and that a round maps into themselves.

    Of random vectors every random factor adds what its terms have: means become deviations of clients who keep what
    they had, and deviations become means of those who take part.
    """
    tables = {
        part: [
            (pattern, [terms_of(u).get(pattern, Family()).parts for u in made])
            for after in afters
            for made in [[mean(after[name]) if part == MEAN else after[name] for name in mine]]
            for pattern in dict.fromkeys(p for u in made for p in terms_of(u))
        ]
        for part, mine in vectors.items()
    }

    def images(part: str, of: str, one: Mapping[str, Any]) -> Iterator[list[Any]]:
        for pattern, rows in tables[part]:
            if part == MEAN or pattern.own is not None or (pattern.bearer is None and of == part):  # else all share it
                yield [sum((c * u.get((of, name), ZERO) for name, c in one.items()), ZERO) for u in rows]

    sizes = {part: len(mine) for part, mine in vectors.items()}
    added = [(of, {name: ONE}) for of, names in unknown.items() for name in names]
    spans = {
        part: echelon([*start, *(row for one in added for row in images(part, *one))], sizes[part])
        for part, start in starts.items()
    }
    while True:
        known = [(of, dict(zip(vectors[of], row, strict=True))) for of, (rows, _) in spans.items() for row in rows]
        larger = {
            part: echelon([*rows, *(row for one in known for row in images(part, *one))], sizes[part])
            for part, (rows, _) in spans.items()
        }
        if all(len(larger[part][0]) == len(rows) for part, (rows, _) in spans.items()):
            return spans
        spans = larger


def _grown(C: Rows, A: list[Rows], n: int) -> Rows:
    """A basis of the rows C, and of what they read after any outcomes: C A₁, C A₂A₁, …"""
    seen, _ = echelon(C, n)
    while True:
        larger, _ = echelon(seen + [row for one in A for row in product(seen, one, n)], n)
        if len(larger) == len(seen):
            return seen
        seen = larger


def _wait(unseen: Rows, A: list[Rows]) -> bool:
    """Whether some outcome makes these errors 0, such as a communication, and the others leave or end them."""
    transposed = [[list(c) for c in zip(*one, strict=True)] for one in A]
    for u in unseen:
        after = [product([u], one, len(u))[0] for one in transposed]
        if all(map(any, after)) or any(any(v) and v != u for v in after):
            return False
    return True


def resting(
    board: Board, afters: list[Any], mine: list[str], unknown: list[str], method: Method, part: str = DEVIATION,
    gradients: Sequence[Any] = (ONE,),
) -> list[Any]:  # fmt: skip
    """The deviations of the state in which the method rests at the minimiser, in units of the clients' gradients there.

    Of composite objectives, and of groups, its means, too; `gradients` are those of every group.

    All functions are then evaluated at the minimiser, the origin, where the gradients have mean 0, and no outcome of
    the round changes the state. Raises InvalidInput where there is no such state.
    """
    names = [*mine, *unknown]
    groups: list[int | None] = [*range(len(gradients))] if len(gradients) > 1 else [None]

    def row(u: Any) -> list[Any]:
        return [u.parts.get((part, name), ZERO) for name in names]

    equations = [(row(of_group(e.point, k)), ZERO) for e in board.evaluations for k in groups]
    equations += [
        (row(of_group(e.gradient, k)), size)
        for e in board.evaluations
        for k, size in zip(groups, gradients, strict=True)
    ]
    nothing = [u for r in board.residuals for u in (r.left, r.first)]
    if board.compression is not None:  # what is compressed is 0, whoever errs, and so is the error
        nothing += [u for _, *both in board.compression.errors for u in both]
    equations += [(row(of_group(u, k)), ZERO) for u in nothing for k in groups]
    for after in afters:  # whoever takes part, nothing moves
        moved = [u - Family({(part, name): ONE} if name in mine else {}) for name, u in after.items()]
        equations += [(row(v), ZERO) for u in moved for pattern, v in terms_of(u).items()]
    found = solution([left for left, _ in equations], [right for _, right in equations], len(names))
    if found is None and names and board.clients > 1:  # a single client has no deviations
        problem, shown = "has a biased fixed point", "fedconvex.fixed_point computes the bias"
        if method.skip != 0:
            problem = "has local rounds and rounds with communication that keep no common state"
            shown = "fedconvex.simulate shows how far its runs move"
        raise Biased(
            "method", method, f"{problem} unless the clients' gradients vanish at the minimiser",
            f"give one that removes the bias (Scaffold, FedDyn, FedSplit, DANE), or one client; {shown}",
        )  # fmt: skip
    return [ZERO] * len(mine) if found is None else found[: len(mine)]


def memories_at_rest(found: Coordinates) -> dict[str, Any]:
    """What memories are where the method rests at the minimiser, in units of ∇F_k(x*)."""
    part = found.deviation
    return {
        name: -sum((c * row[place] for c, row in zip(part.start, part.written, strict=True)), ZERO)
        for place, name in enumerate(part.vectors)
    }


def _written(row: list[Any], names: tuple[str, ...]) -> str:
    text = ""
    for c, name in zip(row, names, strict=True):
        if c and not isinstance(c, fmpq):  # a function of parameters, which may have either sign
            text += " + " * bool(text) + (name if c == 1 else f"({c})·{name}")
        elif c:
            size = name if abs(c) == 1 else f"{abs(c)}·{name}"
            text += (" − " if c < 0 else " + ") * bool(text) + "−" * (not text and c < 0) + size
    return text
