"""A worst-case question as a semidefinite program: the method's rounds on unknown vectors, and forms in these.

`pose` takes a `specification`, plays its rounds (`symbolic_rounds`), and states the metric, what it is divided by, and
all inequalities that hold, as quadratic forms.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    Family,
    Form,
    Key,
    mean,
    square,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.histories import Histories
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import VARIANCE, NoisyBoard, shares_of
from fedconvex.proofs_checks.worst_cases.questions.settled_states import SettledStates
from fedconvex.proofs_checks.worst_cases.questions.similarity import similarity
from fedconvex.proofs_checks.worst_cases.questions.specification import AVERAGES, Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import any_state, own_start
from fedconvex.proofs_checks.worst_cases.questions.terms import (
    LEAST,
    DecidesWhere,
    TermsOnBoard,
)

LONG = 12  # of more rounds that compose, only the first is played
MANY = 16  # of more points, only neighbours are compared: the program would grow with the square
LARGEST = 200  # clients of a federation in which some are drawn
LARGE = 24  # most evaluations of a question about several rounds of draws by their moments
FEW = 8  # most draws with replacement of clients who remember
FEWER = 0.75  # of the inequalities are few enough to ask first what they prove
MOST = 64  # most histories of draws, and evaluations, that are enumerated; at most MOST²/4 pairs of these


@final
@dataclass(frozen=True, eq=False)
class Question:
    """A specification, and the semidefinite program that it leads to.

    `board` has the evaluations of the clients' functions, `start` is the server's first point (or the clients' z_k).

    `exact`: Gram matrices that satisfy the `whole` program are those of a federation, where the class is interpolable.
    `played`: the rounds in the program; only the first where a bound for one round holds in every round, and all
    rounds would be too many. `terms`: what terms of the claim language mean on the board. `eliminated`: the basic
    vector that the equation of a fixed point determines, with what it is; the program does not have it. `settled`: the
    states after draws that are too many to enumerate, in new vectors.
    """

    spec: Specification
    board: Any  # a Board, or an EnumeratedBoard
    start: Any  # Vectors
    program: Program
    exact: bool
    played: int
    terms: TermsOnBoard
    eliminated: tuple[tuple[Key, Family], ...] = ()
    settled: SettledStates | None = None
    all_pairs: bool = True  # else the program compares neighbours only: with many points it would be large

    @cached_property
    def whole(self) -> Program:
        """The program with the inequalities of all pairs of points."""
        if self.all_pairs:
            return self.program
        every = {**dict(self.program.inequalities), **dict(self.board.inequalities("all"))}
        return Program(self.program.divisor, self.program.constant, tuple(every.items()))

    @cached_property
    def of_neighbours(self) -> Program | None:
        """The program without the inequalities between distant points, which often add nothing; None where few are."""
        if not (self.exact and self.all_pairs and self.spec.clients.interpolable) or self.enumerated or self.eliminated:
            return None
        near, every = ({name for name, _ in self.board.inequalities(among)} for among in ("neighbours", "all"))
        fewer = self.program.only({name for name, _ in self.program.inequalities} - (every - near))
        same = fewer.blocks == self.program.blocks and fewer.values == self.program.values
        return fewer if same and len(near) <= FEWER * len(every) else None

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickles: the specification is posed again."""
        return pose, (self.spec,)

    @property
    def enumerated(self) -> bool:
        """Whether all possible draws are enumerated, with a function for each client."""
        return isinstance(self.board, EnumeratedBoard)

    @property
    def copies(self) -> list[int] | None:
        """For every client the representative of which it is a copy; None where no federation is analysed exactly.

        Of m clients from which some are drawn, half are copies of each of the two representatives; of an odd number,
        one more is of the first.
        """
        draws = self.spec.draws
        if self.settled is not None or self.spec.noise is not None:
            return list(range(draws.clients or self.spec.independent or 2))
        by_moments = draws.replaced and self.spec.averaged
        by_moments = by_moments and (self.spec.metric == "distance" or draws.clients % 2 == 0)
        if self.enumerated or draws.everyone or by_moments:
            return list(range(self.board.clients))
        if draws.replaced and draws.K > FEW:  # too many ways in which clients are drawn several times
            return None
        if draws.clients > LARGEST:  # values at random points depend on more than two moments
            return None
        return [2 * k // (draws.clients + draws.clients % 2) for k in range(draws.clients)]


def pose(spec: Specification) -> Question:
    """The question on a board of two clients' mean and deviation, or of every client where draws must be enumerated.

    Raises InvalidInput where there are too many draws, or subproblems have no minimisers.
    """
    is_distance, composable, one = spec.metric == "distance", spec.composable, spec.rounds == 1
    # ‖w⁺ − x*‖² depends on two moments of the draw only, as long as no function is evaluated at a drawn point.
    by_moments = (is_distance and (one or composable)) or (one and spec.ratio is not None)
    draws = spec.draws
    small = Board(min(spec.num_clients, 2), spec.clients, spec.minimiser)
    if spec.noise is not None and not draws.everyone and not (by_moments and one):
        return _by_moments(spec, small)  # the descent lemma's bound is attained by no federation
    if not draws.everyone and (not by_moments or spec.method.gradients_from == "sample"):
        question = _enumerated(spec)
        if question is not None:
            return question
        if spec.rounds > 1 or spec.metric in AVERAGES or spec.metric == "gradient_norm" or spec.ratio is not None:
            return _by_moments(spec, small)
    only_one = composable and (spec.is_lifted or spec.rounds > LONG or not draws.everyone)
    try:
        return _on_board(spec, small, 1 if only_one else spec.rounds)
    except DecidesWhere:
        question = _enumerated(spec)
        return _by_moments(spec, Board(small.clients, spec.clients, spec.minimiser)) if question is None else question


def _too_many(spec: Specification) -> InvalidInput:
    problem = f"leaves too many ways to draw in {spec.rounds} rounds for {spec.metric}"
    cure = "give fewer clients, rounds or local steps, use full participation, or take lyapunov(…) for a rate per round"
    return InvalidInput("participation", spec.participation, problem, cure)


class _TooLarge(Exception):
    """More evaluations than a program should have."""


def _enumerated(spec: Specification) -> Question | None:
    """The question with every possible draw; None where there are too many."""
    draws = spec.draws
    if spec.noise is not None or not (0 < draws.clients <= MOST and draws.number**spec.needed_rounds <= MOST):
        return None
    try:
        return _on_board(spec, EnumeratedBoard.of(draws.clients, spec.clients, spec.minimiser), spec.rounds)
    except _TooLarge:
        return None


def _by_moments(spec: Specification, board: Board) -> Question:
    """The question about all rounds by two moments of every draw. Raises InvalidInput where that takes more of them."""
    if spec.method.gradients_from == "sample":  # where functions are evaluated, another draw decides
        raise _too_many(spec)
    try:
        return _on_board(spec, board, spec.rounds, SettledStates(board, spec.draws))
    except _TooLarge:
        raise _too_many(spec) from None


def _on_board(spec: Specification, board: Any, rounds: int, settled: SettledStates | None = None) -> Question:
    """The question about the first rounds on this board. Raises DecidesWhere, and _TooLarge."""
    enumerated = isinstance(board, EnumeratedBoard)
    state = any_state(spec.method, board) if spec.is_lifted else own_start(spec.method)
    start: Any = state.memory["z"] if spec.is_lifted else state.server
    if spec.metric == "descent" or (spec.dissimilarity is not None and spec.metric not in AVERAGES):
        board.at(start)  # before all others: numbers of points are part of the certificates

    def check() -> None:
        if enumerated and (board.points > MOST or board.pairs > MOST**2 / 4):
            raise _TooLarge
        if settled is not None and len(board.evaluations) > LARGE:
            raise _TooLarge

    # what a client's model was before it first took part: where its own function's gradient vanishes
    stationary = Once(lambda: board.record(board.vectors("x0"), Family()).point)
    # E f(w⁺) exceeds f(E w⁺) by at most L/2 · variance, by the descent lemma; a ratio may subtract it.
    bounded = spec.ratio is None and not enumerated and settled is None and not spec.draws.everyone
    noisy = None if spec.noise is None else NoisyBoard(board)
    terms = TermsOnBoard(
        Histories(board, spec.method, spec.solver, spec.draws, state, stationary, settled, noisy), rounds,
        min(rounds, spec.needed_rounds), spec.parameters, spec.clients.highest if bounded else None, check,
    )  # fmt: skip
    numerator, denominator = spec.sides
    if numerator is not None and (terms.played or not spec.draws.everyone):
        next(terms.histories)  # rounds are played before functions are evaluated elsewhere
    reached = _averaged(spec, terms) if numerator is None else terms.form(numerator)
    divisor = terms.form(denominator)
    if noisy is not None:
        divisor = divisor + value(VARIANCE) * spec.noise
    more = _more(spec, board, start)
    # Fewer inequalities prove less, but nothing wrong: the program still bounds the worst case.
    all_pairs = spec.is_lifted or enumerated or len(board.evaluations) <= MANY
    program = Program(divisor, reached * -1, (*board.inequalities("all" if all_pairs else "neighbours"), *more))
    if noisy is not None:
        sizes = noisy.sizes(shares_of(spec.independent))
        program = Program(divisor, program.constant, (*program.inequalities, *sizes)).with_equations(noisy.equations)
    if settled is not None:
        check()
        used = {key for form in program.forms for pair in form.products for key in pair}
        program = program.with_equations(settled.equations(used))
    at_rest = _at_rest(terms) if spec.rests else ()
    for key, u in at_rest:
        program = program.put(key, u)
    no_loss = not bounded or spec.metric == "distance"
    # Without a minimiser, what is known of inf f need not determine it.
    exact = no_loss and settled is None and noisy is None and (board.minimiser or not spec.infimum)
    exact = exact and (all_pairs or not at_rest)
    return Question(
        spec, board, start, program, exact, rounds - (spec.metric in AVERAGES), terms, at_rest, settled, all_pairs
    )


def _at_rest(terms: TermsOnBoard) -> tuple[tuple[Key, Family], ...]:
    """The basic vector that w⁺ = w determines, as the others; none where every point is a fixed point."""
    before, after = (state.server for state in terms.first.states)
    moved = after - before
    if not moved.parts:
        return ()
    key, c = max(moved.parts.items(), key=lambda part: (abs(part[1]), part[0]))
    return ((key, Family({k: -x / c for k, x in moved.parts.items() if k != key})),)


def _averaged(spec: Specification, terms: TermsOnBoard) -> Form:
    """The metric of the points γ^0, γ^1, …: the start, and the averages of the answers."""
    board, reached = terms.board, Form()
    for history in terms.histories:
        points = [history.states[0].server, *history.averages]
        if spec.metric == "average_gap":
            last = sum((point * share for point, share in zip(points, spec.weights, strict=True)), start=Family())
            found = board.mean_value(board.at(last))
        else:
            seen = [board.at(point) for point in points]
            gap = spec.metric == "mean_gap"
            sizes = [board.mean_value(e) if gap else square(mean(e.gradient)) for e in seen]
            found = sum((size * share for size, share in zip(sizes, spec.weights, strict=True)), start=Form())
        reached = reached + found * history.chance
        terms.check()
    return reached


def _more(spec: Specification, board: Any, start: Any) -> list[tuple[str, Form]]:
    """The inequalities that hold besides the board's."""
    more = []
    if spec.infimum and not board.minimiser:
        # f(x) − inf f − ‖∇f(x)‖²/(2L) >= 0 where all clients share x: a gradient step stays above inf f.
        step = 1 / (2 * board.functions.highest)
        more = [
            (f"{LEAST} from {place}", board.mean_value(e) - value(LEAST) - square(mean(e.gradient)) * step)
            for place, e in board.common
        ]
    more += similarity(board)
    if spec.dissimilarity is not None:
        gradient = board.at(start).gradient
        more.append(("dissimilarity", square(mean(gradient)) * spec.dissimilarity**2 - square(gradient)))
    return more
