"""One round of a method from any state: the errors before and after it, and the inequalities that relate them.

The clients' functions are shifted: F_k − ⟨∇F_k(x*), ·⟩ has gradient 0 at x* = 0 and the curvature of F_k. A method's
formulas are linear, so that its round on these functions maps errors to errors.

A round may be random: in who takes part, in whether it communicates, in the noise of its gradients. Of all that is
random a quadratic V sees only expected products: forms in the means and deviations of the state and of the gradients.
Something fixed may disturb the error, and is paid for: noise, or gradients that differ at the minimiser,

    E V(next state) <= rate·V(state) + Σ_j price_j · (size of disturbance j)

A price may also be what a round earns: with the size −(f(w) − f*) and rate 1, V decreases by price·(f(w) − f*).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement, islice
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, coordinates, memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.symbolic.random_vectors import expected, if_drawn, is_clients_own, is_random, replaced
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE, Draws
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    combination,
    inner,
    mean,
    of_group,
    square,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.compression import Compression
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import NoisyBoard
from fedconvex.proofs_checks.worst_cases.questions.similarity import similarity
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

VALUE = "value"  # in the place of a part: function values in the place of squares
EACH = "each client"  # in the place of a part: vectors of clients, and not their means or deviations
Place = tuple[str, int]  # a part, and the number of a coordinate in it
Pair = tuple[Place, Place]  # an entry of a Lyapunov function's matrices
WEIGHT: Pair = ((VALUE, 0), (VALUE, 0))  # of the first function value in V


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
    names: Mapping[Place, str]
    squares: Mapping[Pair, tuple[Form, Form]]  # what an entry of V counts, before the round, and expected after it
    inequalities: tuple[tuple[str, Form], ...]
    before: Mapping[Place, Family] = field(default_factory=dict)  # the vectors; after the round those of one outcome
    after: Mapping[Place, Any] = field(default_factory=dict)
    # The inequalities between the points before, by which V may be positive; None: its matrices are.
    positive_by: tuple[tuple[str, Form], ...] | None = None
    equations: tuple[tuple[str, Form], ...] = ()  # what vanishes in expectation
    sizes: tuple[Form, ...] = ()  # of what disturbs the round, which V pays for
    measured: tuple[Any, ...] | None = None  # V >= least·‖measured‖², of a combination of the coordinates of means
    least: Any = ONE
    worth: Any = None  # where V has a function value: per unit of its weight that is at least worth·‖measured‖²
    budget: Mapping[Pair, Any] = field(default_factory=dict)  # Σ budget · V's entries <= 1, where there is one
    paid: tuple[Any, ...] = ()  # and what prices take of it
    zeros: tuple[dict[Key, Any], ...] = ()  # vectors on which every proof's form vanishes

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The entries of a Lyapunov function's matrices, for the means and for the deviations; weights of values."""
        return tuple(self.squares)

    @property
    def values(self) -> tuple[tuple[Form, Form], ...]:
        """The function values that V measures, before and after."""
        return tuple(both for (a, _), both in self.squares.items() if a[0] == VALUE)

    @property
    def parts(self) -> dict[str, int]:
        """The blocks of V and their sizes."""
        parts = [part for part, _ in self.names]
        return {part: parts.count(part) for part in dict.fromkeys(parts)}

    @property
    def relations(self) -> tuple[tuple[str, Form], ...]:
        """All inequalities: equations, which a proof may use with any sign, are two."""
        reversed_ones = ((f"{name}, reversed", -form) for name, form in self.equations)
        return (*self.inequalities, *self.equations, *reversed_ones)

    def form(self, entries: Mapping[Pair, Any], after: bool = False) -> Form:
        """The Lyapunov function with these entries, before or after the round."""
        return combination(*((c if a == b else 2 * c, self.squares[a, b][after]) for (a, b), c in entries.items() if c))

    def positivity(self, entries: Mapping[Pair, Any]) -> Program:
        """The program whose proofs of 1 show V >= least·‖measured‖², by inequalities between the points before."""
        found = list(enumerate(self.measured or ()))
        error = {((MEAN, i), (MEAN, j)): -self.least * a * b
                 for (i, a), (j, b) in combinations_with_replacement(found, 2)}  # fmt: skip
        return Program(combination((ONE, self.form(entries)), (ONE, self.form(error))), Form(), self.positive_by or ())

    def program(self, entries: Mapping[Pair, Any], prices: Sequence[Any] = ()) -> Program:
        """The program whose proofs of t show E V(next state) <= t·V(state) + prices · sizes."""
        paid = combination(*zip(prices, self.sizes, strict=True))
        return Program(self.form(entries), paid - self.form(entries, after=True), self.relations)

    @cached_property
    def forms_before(self) -> Program:
        """All forms that show V to be positive, for their matrices: inequalities, then the pairs before."""
        squares = [("before", self.form({pair: ONE})) for pair in self.pairs]
        return Program(Form(), Form(), (*(self.positive_by or ()), *squares))

    @cached_property
    def forms(self) -> Program:
        """All forms that a proof is made of, for their matrices: inequalities, then the pairs before and after."""
        one = [{pair: ONE} for pair in self.pairs]
        squares = [("before", self.form(x)) for x in one] + [("after", self.form(x, after=True)) for x in one]
        return Program(Form(), Form(), (*self.inequalities, *squares))


def pose_round(
    method: Method, solver: LocalSolver, functions: FunctionClass, clients: int, among: str = "all",
    history: int = 0, composite: bool = False, period: int = 1, of: Coordinates | None = None,
    by_inequalities: bool = False, draws: Draws = EVERYONE, remembered: bool = False,
    noise: Sequence[tuple[str, ...]] = (), pulled: bool = False, valued: bool = False, compressing: int | None = None,
) -> PosedRound:  # fmt: skip
    """The round from any reachable state.

    With a `history` V measures the gradients and values of so many rounds, too: of those that follow from the state,
    and after the round of those that follow from the next one. At most one where communication is skipped at random.

    With a `period`, so many rounds in the place of one. `of`: coordinates of the state, where others are wanted.
    `by_inequalities`: V need not be a positive form of what it measures: inequalities between the points make it
    positive, such as f(w) − f* >= (μ/2)‖w − x*‖².

    With draws some clients take part. `remembered`: V then measures, too, the points at which the clients' gradients
    are those that they remember, and the values there. Strong convexity makes them functions of the state: ∇F_k takes
    every value at one point. Where it is `valued`, V measures the objective at the server's point.

    V pays for what disturbs a round, and is at least the squared error: for `noise` of every gradient, of which the
    mean squares of these parts are known; or where it is `pulled`, as clients' gradients at the minimiser differ.

    `compressing`: how many clients there are, 0 for any number, where they may compress what they send.

    Raises InvalidInput; see `coordinates`.
    """
    found = of or coordinates(method, solver, functions, clients, composite, period, draws)
    board = Board(clients, functions, minimiser=pulled, composite=composite)
    if compressing is not None:
        groups = len(found.groups.shares)  # how many clients each has is not known
        board.compression = Compression((compressing,) if groups == 1 else (0,) * groups)
    if not pulled:  # the minimiser of the shifted functions, where gradients and values are 0
        board.evaluations.append(Evaluation(Family(), Family(), "", of_groups=("",) * len(found.groups.numbers)))
    noisy, first = NoisyBoard(board), len(board.evaluations)
    names, before = found.names, found.unknown
    state = found.state(before)
    recalled = _recalled(found, board, solver, state, draws) if remembered else []
    # With noise V sees the points that would come without it, which are functions of the state.
    ahead = [*_coming(found, solver, board, state, history)] if noise else []
    positive_by = _beside_minimiser(board, among) if noise and by_inequalities else None
    board.visited.clear()
    chances, states = zip(*outcomes(method, solver, noisy if noise else board, state, period, draws), strict=True)
    promised = [] if board.compression is None else [*board.compression.inequalities]
    measured = _Measured(names, before, [found.of(one) for one in states], chances, board.compression)
    values: list[tuple[Form, Form]] = []
    if remembered:
        values = _remembered(recalled, board, measured, states, draws)
    if valued:
        measured.name_value(len(values), "F(server) − F(minimiser)")
        servers = [_server(found, after, u) for after, u in zip(states, measured.after, strict=True)]
        here = board.mean_value(board.at(state.server))
        values.append((here, measured.expected(_most_expected(board, u) for u in servers)))
    if history:
        seen = _once(board.visited)
        chains = [_coming(found, solver, board, found.state(after), history) for after in measured.after]
        if not noise:  # these points, and those of the rounds after them
            ahead = [seen, *islice(chains[0], history - 1)]
            positive_by = _beside_minimiser(board, among) if by_inequalities else None
        later = [[*([] if noise else ahead[1:]), *chain] for chain in chains]
        values = _continued(found, board, measured, ahead, later)
    squares = {(a, b): (inner(before[a], before[b]), measured.product(a, b)) for a, b in pairs_of(before)}
    squares |= {((VALUE, j), (VALUE, j)): both for j, both in enumerate(values)}
    board.minimiser = True  # the first evaluation is compared with all others
    relations = (*all_inequalities(board, among), *promised)
    posed = PosedRound(found, board, names, squares, relations, before, measured.after[0], positive_by)
    if not (noise or pulled):
        return posed
    # A server's point that waits for a communication is no function of the coordinates: then the clients' mean is
    # measured, where their first gradients are.
    point = {(MEAN, "server"): ONE} if "server" in found.mean.names else board.evaluations[first].point.parts
    error = tuple(point.get((MEAN, name), ZERO) for name in found.mean.names)
    sizes = [square(u.only(*parts)) for u in noisy.noises for parts in noise]
    if pulled:
        sizes.append(square(board.evaluations[0].gradient))
    return replace(posed, equations=tuple(noisy.equations), sizes=tuple(sizes), measured=error)


def all_inequalities(board: Board, among: str = "all") -> tuple[tuple[str, Form], ...]:
    """Those of the clients' class, of their similarity, and of a composite objective's ψ, in expectation."""
    found = (*board.inequalities(among), *similarity(board), *board.monotone)
    if board.compression is None:
        return found
    return tuple((name, board.compression.expected(form)) for name, form in found)


@final
@dataclass(frozen=True, eq=False)
class _Measured:
    """The vectors that V measures, with their names: before the round, and after it in every outcome."""

    names: dict[Place, str]
    before: dict[Place, Family]
    after: list[dict[Place, Any]]
    chances: Sequence[Any]
    compression: Compression | None = None

    def add(self, name: str, part: str, before: Family, after: Iterable[Any]) -> None:
        """One more vector."""
        place = (part, sum(known == part for known, _ in self.before))
        self.names[place], self.before[place] = name, before
        for vectors, u in zip(self.after, after, strict=True):
            vectors[place] = u

    def name_value(self, number: int, name: str) -> None:
        self.names[VALUE, number] = name

    def expected(self, forms: Iterable[Form]) -> Form:
        """The expectation over the outcomes, and over the errors of what was compressed."""
        found = combination(*zip(self.chances, forms, strict=True))
        return found if self.compression is None else self.compression.expected(found)

    def product(self, a: Place, b: Place) -> Form:
        """The expected product after the round; of random vectors, in this part."""

        def of_part(u: Any, v: Any) -> Form:
            means = inner(mean(u), mean(v))
            return means if a[0] == MEAN else inner(u, v) - means

        return self.expected(of_part(vectors[a], vectors[b]) for vectors in self.after)


def _coming(
    found: Coordinates, solver: LocalSolver, board: Board, state: State, rounds: int
) -> Iterator[list[Evaluation]]:
    """Where each of so many rounds from this state evaluates the functions, without noise."""
    for _ in range(rounds):
        board.visited.clear()
        (_, after), *_ = outcomes(found.method, solver, board, state, found.period)
        yield _once(board.visited)
        state = found.state(found.of(after))


def _once(visited: Sequence[Evaluation]) -> list[Evaluation]:
    """Every evaluation where it was visited first."""
    return list({id(e): e for e in visited}.values())


def _beside_minimiser(board: Board, among: str) -> tuple[tuple[str, Form], ...]:
    """All inequalities so far, those of the minimiser too."""
    board.minimiser = True
    found = all_inequalities(board, among)
    board.minimiser = False
    return found


def _continued(
    found: Coordinates, board: Board, measured: _Measured, ahead: list[list[Evaluation]],
    chains: list[list[list[Evaluation]]],
) -> list[tuple[Form, Form]]:  # fmt: skip
    """Measures the gradients at the points that come, too, and gives their values: before, and in every outcome."""
    groups = found.groups
    first, *later = ([e for these in rounds for e in these] for rounds in (ahead, *chains))
    # Where points of one round coincide and those of another do not, none correspond.
    points = list(zip(first, *later, strict=True)) if all(len(one) == len(first) for one in later) else []
    each = [(j, k) for j in range(len(points)) for k in groups.numbers if _is_new(points, j, k)]
    for part in found.parts:
        for j, k in each:
            one, *others = (of_group(e.gradient, k).only(part.part) for e in points[j])
            if one.parts and all(u.parts for u in others):
                measured.add(f"gradient at point {j + 1}{groups.words[k or 0]}", part.part, one, others)
    values: list[tuple[Form, Form]] = []
    for j, k in each:
        measured.name_value(len(values), f"value at point {j + 1}{groups.words[k or 0]}")
        here, *there = (board.mean_value(e, k) for e in points[j])
        values.append((here, measured.expected(there)))
    return values


def _is_new(points: Sequence[tuple[Evaluation, ...]], j: int, group: int | None) -> bool:
    """Whether the group's clients are at the j-th point for the first time: those that are done stay where they are."""
    if group is None:
        return True
    return all(
        e.of_groups[group] not in (before.of_groups[group] for before in earlier)
        for e, *earlier in zip(points[j], *points[:j], strict=True)
    )


# ---- what sampled clients remember


def _recalled(
    found: Coordinates, board: Board, solver: LocalSolver, state: State, draws: Draws
) -> list[tuple[str, Any, Evaluation]]:
    """The memories that are a multiple of ∇F_k(x*) where the method rests, the factor, and ∇F_k's points of them.

    Only of the clients' own memories, which do not depend on who else takes part.
    """
    tried = Board(board.clients, board.functions, minimiser=False)
    tried.compression = None if board.compression is None else Compression(board.compression.clients)
    afters = [vectors_of(after) for _, after in outcomes(found.method, solver, tried, state, found.period, draws)]
    return [
        (name, size, board.record(board.vectors(f"x of {name}"), vectors_of(state)[name] / size))
        for name, size in memories_at_rest(found).items()
        if size and all(is_clients_own(after[name]) for after in afters)
    ]


def _remembered(
    recalled: Iterable[tuple[str, Any, Evaluation]], board: Board, measured: _Measured,
    states: Sequence[State], draws: Draws,
) -> list[tuple[Form, Form]]:  # fmt: skip
    """Measures the points of these memories, too, and gives the values there."""
    values: list[tuple[Form, Form]] = []
    share = to_fmpq(draws.chance_of_each)
    for name, size, earlier in recalled:
        later = [_where(board, if_drawn(vectors_of(after)[name]) / size) for after in states]
        word = f"∇F_k⁻¹({name if size == 1 else f'{name}/({size})'})"
        moved = [replaced(earlier.point, e.point, draws) for e in later]
        for part in (MEAN, DEVIATION):
            measured.add(word, part, earlier.point.only(part), moved)
        measured.name_value(len(values), f"F_k at {word}")
        stays, moves = board.mean_value(earlier), measured.expected(map(board.mean_value, later))
        values.append((stays, combination((share, moves), (1 - share, stays))))
    return values


def _server(found: Coordinates, state: State, coordinates: Mapping[Place, Any]) -> Any:
    """The server's point after the round, as the state's coordinates have it."""
    return state.server if is_random(state.server) else found.state(dict(coordinates)).server


def _most_expected(board: Board, server: Any) -> Form:
    """F at a point; or what E F(w⁺) is at most: smoothness bounds it by F(E w⁺) + (L/2)·E‖w⁺ − E w⁺‖²."""
    if not is_random(server):
        return board.mean_value(board.at(server))
    middle = expected(server)
    spread = square(server) - square(middle)
    return combination((ONE, board.mean_value(board.at(middle))), (to_fmpq(board.functions.highest) / 2, spread))


def _where(board: Board, gradient: Family) -> Evaluation:
    """The evaluation with these gradients: a recorded one, or one at unknown points."""
    for known in board.evaluations:
        if known.gradient.parts == gradient.parts:
            return known
    return board.record(board.vectors(f"x{len(board.evaluations)}"), gradient)
