"""One round of a method from any state: the errors before and after it, and the inequalities that relate them.

The clients' functions are shifted: F_k − ⟨∇F_k(x*), ·⟩ has gradient 0 at x* = 0 and the curvature of F_k. A method's
formulas are linear, so that its round on these functions maps errors to errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, final

from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, coordinates
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    Family,
    Form,
    combination,
    inner,
    mean,
    of_group,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.similarity import similarity
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

VALUE = "value"  # in the place of a part: function values in the place of squares
EACH = "each client"  # in the place of a part: vectors of clients, and not their means or deviations
Place = tuple[str, int]  # a part, and the number of a coordinate in it
Pair = tuple[Place, Place]  # an entry of a Lyapunov function's matrices


def pairs_of(places: Iterable[Place]) -> list[Pair]:
    """The entries of symmetric matrices, one for every part."""
    return [(a, b) for a, b in combinations_with_replacement(places, 2) if a[0] == b[0]]


@final
@dataclass(frozen=True, eq=False)
class PosedRound:
    """What a Lyapunov function measures, before and after a round, and the inequalities that hold.

    It measures the coordinates of the state and, where the next round is played, too, the gradients and the values at
    the points where a round evaluates the clients' functions: those of the first round before, of the second after.
    """

    coordinates: Coordinates
    board: Board
    before: Mapping[Place, Family]
    after: Mapping[Place, Family]
    names: Mapping[Place, str]
    inequalities: tuple[tuple[str, Form], ...]
    values: tuple[tuple[Form, Form], ...] = field(default=())  # before and after
    expected: Mapping[Pair, Form] | None = None  # the expectations after the round, where it is random
    # The inequalities between the points before, by which V may be positive; None: its matrices are.
    positive_by: tuple[tuple[str, Form], ...] | None = None

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The entries of a Lyapunov function's matrices, for the means and for the deviations; weights of values."""
        return (*pairs_of(self.before), *(((VALUE, j), (VALUE, j)) for j in range(len(self.values))))

    def form(self, entries: Mapping[Pair, Any], after: bool = False) -> Form:
        """The Lyapunov function with these entries, before or after the round."""
        vectors = self.after if after else self.before

        def of(a: Place, b: Place) -> Form:
            if a[0] == VALUE:
                return self.values[a[1]][after]
            return self.expected[a, b] if after and self.expected is not None else inner(vectors[a], vectors[b])

        return combination(*((c if a == b else 2 * c, of(a, b)) for (a, b), c in entries.items() if c))

    def positivity(self, entries: Mapping[Pair, Any]) -> Program:
        """The program whose proofs of 1 show V >= 0, by inequalities between the points before."""
        return Program(self.form(entries), Form(), self.positive_by or ())

    def program(self, entries: Mapping[Pair, Any]) -> Program:
        """The program whose proofs of t show V(next state) <= t·V(state)."""
        return Program(self.form(entries), -self.form(entries, after=True), self.inequalities)

    @cached_property
    def parts_before(self) -> Program:
        """All forms that show V to be positive, for their matrices: inequalities, then the pairs before."""
        squares = [("before", self.form({pair: ONE})) for pair in self.pairs]
        return Program(Form(), Form(), (*(self.positive_by or ()), *squares))

    @cached_property
    def parts(self) -> Program:
        """All forms that a proof is made of, for their matrices: inequalities, then the pairs before and after."""
        one = [{pair: ONE} for pair in self.pairs]
        squares = [("before", self.form(x)) for x in one] + [("after", self.form(x, after=True)) for x in one]
        return Program(Form(), Form(), (*self.inequalities, *squares))


def pose_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, clients: int, among: str = "all",
    history: int = 0, composite: bool = False, period: int = 1, of: Coordinates | None = None,
    by_inequalities: bool = False,
) -> PosedRound:  # fmt: skip
    """The round of everyone from any reachable state.

    With a `history` V measures the gradients and values of so many rounds, too: of those that follow from the state,
    and after the round of those that follow from the next one. At most one where communication is skipped at random.

    With a `period`, so many rounds in the place of one. `of`: coordinates of the state, where others are wanted.
    `by_inequalities`: V need not be a positive form of what it measures: inequalities between the points make it
    positive, such as f(w) − f* >= (μ/2)‖w − x*‖².

    Where communication is skipped at random, squares and values after the round are expected ones.

    Raises InvalidInput; see `coordinates`.
    """
    found = of or coordinates(method, solver, functions, clients, composite, period)
    board = Board(clients, functions, minimiser=False, composite=composite)
    groups = found.groups
    # the minimiser, where values are 0
    board.evaluations.append(Evaluation(Family(), Family(), "", of_groups=("",) * len(groups.numbers)))
    names, before = found.names, found.unknown
    chances, states = zip(*outcomes(method, solver, board, found.state(before), period), strict=True)
    following = [found.of(state) for state in states]
    values: list[tuple[Form, Form]] = []
    positive_by = None
    first, chains = _once(board.visited), []
    for after in following if history else ():
        seen, state = [first], found.state(after)
        for t in range(history):
            if by_inequalities and t == history - 1:
                board.minimiser = True
                positive_by = all_inequalities(board, among)
                board.minimiser = False
            board.visited.clear()
            later = outcomes(method, solver, board, state, period)
            seen.append(_once(board.visited))
            state = found.state(found.of(later[0][1]))
        chains.append(([e for these in seen[:-1] for e in these], [e for these in seen[1:] for e in these]))
    if chains:
        # Where points of one round coincide and those of another do not, none correspond.
        same = len({len(chains[0][0]), *(len(late) for _, late in chains)}) == 1
        points = list(zip(chains[0][0], *(late for _, late in chains), strict=True)) if same else []
        each = [(j, k) for j in range(len(points)) for k in groups.numbers if _is_new(points, j, k)]
        for part in found.parts:
            for j, k in each:
                one, *others = (of_group(e.gradient, k).only(part.part) for e in points[j])
                place = (part.part, sum(known == part.part for known, _ in before))
                if one.parts and all(u.parts for u in others):
                    before[place], names[place] = one, f"gradient at point {j + 1}{groups.words[k or 0]}"
                    for after, u in zip(following, others, strict=True):
                        after[place] = u
        for j, k in each:
            names[VALUE, len(values)] = f"value at point {j + 1}{groups.words[k or 0]}"
            here, *there = (board.mean_value(e, k) for e in points[j])
            values.append((here, _expected(chances, there)))
    expected = None
    if len(following) > 1:
        expected = {(a, b): _expected(chances, (inner(after[a], after[b]) for after in following))
                    for a, b in pairs_of(before)}  # fmt: skip
    board.minimiser = True  # the first evaluation is compared with all others
    inequalities = all_inequalities(board, among)
    return PosedRound(found, board, before, following[0], names, inequalities, tuple(values), expected, positive_by)


def expected_squares(parts: Sequence[Part], ways: Sequence[tuple[Any, Mapping[str, Any]]]) -> dict[Pair, Form]:
    """E⟨a, b⟩ of any two coordinates of a state's vectors, over its outcomes and over who takes part."""
    squares: dict[Pair, Form] = {}
    for part in parts:
        found: dict[Pair, list[tuple[Any, Form]]] = {}
        for chance, vectors in ways:
            rows = [
                sum((vectors[name] * c for name, c in zip(part.vectors, row, strict=True) if c), start=Family())
                for row in part.read
            ]
            means = [mean(u) for u in rows]
            for i, j in combinations_with_replacement(range(len(rows)), 2):
                terms = found.setdefault(((part.part, i), (part.part, j)), [])
                if part.part == MEAN:
                    terms.append((chance, inner(means[i], means[j])))
                else:  # the mean square minus the square of the mean
                    terms += [(chance, inner(rows[i], rows[j])), (-chance, inner(means[i], means[j]))]
        squares |= {pair: combination(*terms) for pair, terms in found.items()}
    return squares


def all_inequalities(board: Board, among: str = "all") -> tuple[tuple[str, Form], ...]:
    """Those of the clients' class, of their similarity, and of a composite objective's ψ."""
    return (*board.inequalities(among), *similarity(board), *board.monotone)


def _expected(chances: Sequence[Any], forms: Iterable[Form]) -> Form:
    return combination(*zip(chances, forms, strict=True))


def _once(visited: Sequence[Evaluation]) -> list[Evaluation]:
    """Every evaluation where it was visited first."""
    return list({id(e): e for e in visited}.values())


def _is_new(points: Sequence[tuple[Evaluation, ...]], j: int, group: int | None) -> bool:
    """Whether the group's clients are at the j-th point for the first time: those that are done stay where they are."""
    if group is None:
        return True
    return all(
        e.of_groups[group] not in (before.of_groups[group] for before in earlier)
        for e, *earlier in zip(points[j], *points[:j], strict=True)
    )
