"""`sublinear_rate`: what is proved of a method on convex clients, by a potential that decreases with f(w) − f*."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

from fedconvex.arithmetic.linear_systems import solution
from fedconvex.arithmetic.rationals import float_at_least, to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords, one_of
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.search.lyapunov.coordinates import Biased, Part, coordinates, is_memoryless, memoryless
from fedconvex.proofs_checks.search.lyapunov.descents import points_of_state, vectors_of_descent
from fedconvex.proofs_checks.search.lyapunov.functions import LyapunovFunction
from fedconvex.proofs_checks.search.lyapunov.lyapunov import specified
from fedconvex.proofs_checks.search.lyapunov.nonconvex_rates import NonconvexRate, nonconvex_rate
from fedconvex.proofs_checks.search.lyapunov.posed_round import (
    VALUE,
    Place,
    PosedRound,
    all_inequalities,
    pairs_of,
    pose_round,
)
from fedconvex.proofs_checks.search.lyapunov.priced_functions import cheapest
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import attained
from fedconvex.proofs_checks.search.lyapunov.slow_descents import speed
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Key,
    inner,
    mean,
)
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    FunctionClass,
    Quadratics,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered
from fedconvex.shown import on_screen
from fedconvex.validation import integer_at_least, is_choice

MOST_STEPS = 16  # local steps
POINTS = ("before", "after", "last")
SERVER, ANSWERS = "the server's point", "the mean of the points where the clients' gradients are"


@final
@dataclass(frozen=True, eq=False)
class SublinearRate:
    """The mean of f(w⁰) − f*, …, f(w^{T−1}) − f* is at most (distance·‖w⁰ − x*‖² + heterogeneity·ζ*²)/T + floor·ζ*².

    With `points` "after" it is that of f(w¹) − f*, …, f(w^T) − f*, with "last" f(w^T) − f* alone. In expectation where
    clients are drawn or rounds skipped; ζ*² = mean‖∇F_k(x*)‖². V, a quadratic form of the state, decreases in each
    round by at least f(w) − f*, and is never negative: V(start) pays for all rounds. For the last point V grows by
    t·U, U >= f(w) − f*, and does not increase.

    No constant below `lower` stands before ‖w⁰ − x*‖² for all T: on clients that share a function of slope 1, up to a
    short parabola at its minimiser, a round moves the server by some σ, and 1/(2σ) is the limit of T times the mean,
    1/(4σ) that of T times the last value where the minimiser is twice as far as the run goes.

    Attributes:
        method, solver, clients, num_clients: what was asked.
        at: where f is: at the server's point; or, where V is no function of it, at the mean of the points at which the
            clients' gradients are first evaluated (the answers of FedDyn, FedPD and FedSplit).
        distance, heterogeneity, lower: exact numbers; `floor` is 0 but for biased methods, which are without memory.
        function: V, and the proof.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int | str
    points: str
    at: str
    distance: Fraction
    heterogeneity: Fraction
    lower: Fraction
    function: LyapunovFunction

    @property
    def floor(self) -> Fraction:
        """The multiple of ζ*² that stays after any number of rounds; 0 for methods that rest at the minimiser."""
        earned, *paid = self.function.prices
        return sum(paid, Fraction(0)) / earned

    @property
    def certificate(self) -> DualCertificate:
        """The proof, of V and f(w) − f* in the units of `function`, with its multipliers by the inequalities' names."""
        return self.function.certificate

    def bound(self, rounds: int, distance: Any, heterogeneity: Any = 0) -> Fraction:
        """The mean of f − f* over that many rounds, or the last one, from ‖w⁰ − x*‖ and ζ*.

        Raises InvalidInput for a number of rounds below 1, and for lengths that are negative.
        """
        integer_at_least(rounds, 1, "rounds")
        lengths = [to_fraction(distance, "distance"), to_fraction(heterogeneity, "heterogeneity")]
        for name, x in zip(("distance", "heterogeneity"), lengths, strict=True):
            if x < 0:
                raise InvalidInput(name, x, "is no length", "give a number >= 0")
        spread = lengths[1] ** 2
        return (self.distance * lengths[0] ** 2 + self.heterogeneity * spread) / rounds + self.floor * spread

    def __repr__(self) -> str:
        a, b = float_at_least(self.distance), float_at_least(self.heterogeneity)
        stays = f" + {float_at_least(self.floor)}·ζ*²" if self.floor else ""
        what = "last" if self.points == "last" else "mean of"
        return f"<{what} f − f* with {self.method}: at most ({a}·‖w⁰ − x*‖² + {b}·ζ*²)/T{stays}>"

    def __str__(self) -> str:
        return on_screen(f"{self!r}\n  f is at {self.at}; V in proportion to {self.function}")


@checked_keywords
def sublinear_rate(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str = "any",
    local_solver: LocalSolver | None = None,
    participation: Any = None,
    weight: Any = 1,
    points: str = "before",
) -> SublinearRate | NonconvexRate:
    """A rate 1/T, with the constants that a potential proves, for all clients of a class, convex or not.

    Use it where `lyapunov` says that there is no linear rate. On convex clients V(next state) <= V(state) − (f(w) − f*)
    is proved in rationals, V a quadratic form of the state, and where that is not enough, as with momentum, plus a
    multiple of f(w) − f*; of all such V the one with the least distance +
    weight·L²·heterogeneity is searched for, the two numbers by which V at the method's own start is bounded. On clients
    that need not be convex, V(next state) <= V(state) − ‖∇f(w)‖² + floor·ζ², V a function value plus a quadratic form
    of memories and gradients; gap + weight·L·(heterogeneity + floor) is least. That no better V exists is not proved.

    Args:
        method: as in `lyapunov`; at most 16 local steps.
        clients: `SmoothConvex(L)`, or a class with mu > 0, which is convex, too; `WeaklyConvex(L_minus, L)` where all
            rounds communicate.
        num_clients, local_solver, participation: as in `lyapunov`. Where K of m clients that need not be convex are
            sampled, they may remember nothing, or one multiple of their gradients (`Scaffold`, `FedDyn`); V, in
            expectation, is then a function value plus how far memories are from the gradients at the server's point.
        weight: > 0, how much heterogeneity counts beside the start.
        points: "before": f where the rounds begin, the start included, f(w⁰) − f* <= L‖w⁰ − x*‖²/2; "after": where they
            end, for methods in which everyone takes part and V measures the server's point; "last": the last value
            alone, by a potential that grows, where everyone takes part. Convex clients have all three.

    Returns:
        A `SublinearRate` with `.distance`, `.heterogeneity`, `.lower`, `.at` and `.bound(rounds, …)`; for clients that
        need not be convex a `NonconvexRate` with `.gap`, `.heterogeneity`, `.floor`, `.lower`, `.federation(…)` too.

    Raises:
        InvalidInput: as `lyapunov`; a weight that is not positive; points "after" of other methods; methods for which
            no such V was found, as with stepsizes that are too long.
    """
    convex = not (isinstance(clients, WeaklyConvex) and clients.lowest < 0)
    spec = specified(method, clients, num_clients, local_solver, participation, convex)
    num_clients = spec.independent or "any"
    if not is_choice(points, POINTS):
        raise InvalidInput("points", points, "is no place in a round", one_of(points, POINTS))
    counts = to_fraction(weight, "weight")
    if not counts > 0:
        raise InvalidInput("weight", weight, "is not positive", "give a number > 0")
    if isinstance(clients, Quadratics) and clients.lowest == clients.highest:
        raise InvalidInput("clients", clients, "have one curvature", "give SmoothConvex(L)")
    if getattr(spec.solver, "steps", 1) > MOST_STEPS:
        raise InvalidInput("local_steps", spec.solver.steps, "makes the program too large",  # type: ignore[attr-defined]
                           f"give at most {MOST_STEPS}")  # fmt: skip
    if not convex:
        if points != "before":
            raise InvalidInput("points", points, "is for convex clients", 'give "before"')
        return nonconvex_rate(spec, num_clients, counts)
    if points == "last":
        at, priced = _with_growth(spec, counts * clients.highest**2)
        return _rate(spec, num_clients, points, at, priced)
    rounds = _posed(spec, points)
    named = (MEAN, "server") in _names(rounds[0])
    if points == "after" and (spec.is_random or not named):
        problem = "is not analysed where V is no function of the server's point, or the next one is random"
        raise InvalidInput("points", points, problem, 'give "before"')
    tried = []
    for posed in rounds[: 1 + named]:  # with momentum V needs f(w) − f*
        priced = _with_gap(posed, counts * clients.highest**2, points == "after")
        if not clients.ends[0]:  # clients of curvature 0 never move: no proof has a margin there
            still = attained(posed.coordinates, spec.solver, OnALine(Fraction(0), Fraction(0), Fraction(1)))
            priced = replace(priced, zeros=tuple(attained_vectors(posed, still)))
        tried.append(priced)
    return _rate(spec, num_clients, points, SERVER if named else ANSWERS, *tried)


def _posed(spec: Specification, points: str) -> list[PosedRound]:
    """The round, without and with the objective's value in V; where the method is biased, what moves it has a price."""

    def posed(**measured: Any) -> PosedRound:
        count = min(spec.num_clients, 2)
        return pose_round(spec.method, spec.solver, spec.clients, count, draws=spec.draws, **measured)

    try:
        return [posed(), posed(valued=True)]
    except Biased:
        if points != "before" or not is_memoryless(spec.method):
            raise
    return [posed(of=memoryless(spec.method), pulled=True)]


def _rate(spec: Specification, num_clients: int | str, points: str, at: str, *tried: PosedRound) -> SublinearRate:
    """The rate that the first potential proves that is found. Raises InvalidInput where none is."""
    potentials = (cheapest(one, Fraction(1), (Fraction(-1), Fraction(0))[: len(one.sizes)]) for one in tried)
    found = next((one for one in potentials if one is not None and one.prices[0] > 0), None)
    if found is None:
        problem = "has no quadratic potential that was found to decrease with f(w) − f*"
        raise InvalidInput("method", spec.method, problem,
                           "give smaller steps, or more regularisation")  # fmt: skip
    distance, heterogeneity = (_at_start(found, part) / found.prices[0] for part in found.posed.coordinates.parts)
    answers = Exact() if isinstance(spec.solver, ToInexactness) else spec.solver  # exact ones are inexact, too
    moved = None if spec.clients.ends[0] else speed(spec.method, answers)  # strong convexity knows no long slopes
    lower = Fraction(0) if moved is None else 1 / ((4 if points == "last" else 2) * moved)
    if points == "before" and at == SERVER:  # f(w⁰) − f* <= (L/2)‖w⁰ − x*‖² is attained
        lower = max(lower, spec.clients.highest / 2)
    return SublinearRate(
        spec.method, spec.solver, spec.clients, num_clients, points, at, distance, heterogeneity, lower, found
    )


def _with_growth(spec: Specification, counts: Fraction) -> tuple[str, PosedRound]:
    """The rounds of a growing potential. Raises InvalidInput where they are random, or no point is where f is."""
    if spec.is_random:
        raise InvalidInput("points", "last", "is not analysed where rounds are random", 'give "before"')
    found = pose_growing(spec.method, spec.solver, spec.clients, min(spec.num_clients, 2), counts)
    if found is None:
        raise InvalidInput("points", "last", "is not analysed where the method's memory determines no point",
                           'give "before"')  # fmt: skip
    return SERVER if found[0] else ANSWERS, found[1]


def _at_start(found: LyapunovFunction, part: Part) -> Fraction:
    """V at the method's own start, per unit of the server's squared error, or of ζ*²: f(w⁰) − f* <= L/2 such units."""
    steepest = found.posed.board.functions.highest / 2
    return sum(
        (
            (1 if a == b else 2) * c * to_fraction(part.start[a[1]] * part.start[b[1]])
            if a[0] == part.part
            else c * steepest * (a[0] == VALUE and part.part == MEAN)
            for (a, b), c in found.entries.items()
        ),
        Fraction(0),
    )


def _names(posed: PosedRound) -> dict[tuple[str, str], Place]:
    return {(place[0], name): place for place, name in posed.names.items()}


def _with_gap(posed: PosedRound, counts: Fraction, after_it: bool) -> PosedRound:
    """The round with f(w) − f* as what it earns, and V at the start as its budget."""
    board, place = posed.board, _names(posed).get((MEAN, "server"))
    point = mean(board.evaluations[1].point)
    if place is not None:
        point = posed.after[place] if after_it else Family({(MEAN, "server"): ONE})
    gap = board.mean_value(board.at(point))
    budget = {(a, b): to_fmpq(posed.board.functions.highest) / 2 for a, b in posed.pairs if a[0] == VALUE}
    for part, factor in zip(posed.coordinates.parts, (ONE, to_fmpq(counts)), strict=True):
        for a, b in posed.pairs:
            if a[0] == part.part:
                budget[a, b] = factor * part.start[a[1]] * part.start[b[1]]
    measured = (ZERO,) * posed.parts[MEAN]
    return replace(posed, inequalities=all_inequalities(board), sizes=(-gap, *posed.sizes), measured=measured,
                   budget=budget, paid=(ZERO, to_fmpq(counts)) if posed.sizes else ())  # fmt: skip


# The last point on convex clients, by a potential that grows: V_t = V + t·U, with U >= f(p) − f*.
#
#     U⁺ <= U   and   V⁺ + U⁺ <= V   give   V_{t+1} <= V_t   for all t >= 0,   so that   f(p_T) − f* <= V(start)/T.
#
# U is price·(f(p) − f*) plus a form of what a translation leaves alone, V a form of all coordinates. Both inequalities
# are proved at once: two rounds with different unknowns are one program, whose form is positive where both are.

ZERO_CURVATURE, WHOLE = Fraction(0), Fraction(1)
GROWING = "growing "  # parts of U
AGAIN = "′"  # of the second round's unknowns


def pose_growing(
    method: Method, solver: LocalSolver, functions: FunctionClass, count: int, weight: Any
) -> tuple[bool, PosedRound] | None:
    """Both rounds, and whether p is the server's point; None where p is no function of the state.

    The budget is V at the start, of ‖w⁰ − x*‖² and of weight·ζ*².
    """
    found = coordinates(method, solver, functions, count)
    row, point = _point(found.mean.read, found.mean.vectors, points_of_state(method, solver, functions, count))
    if row is None:
        return None
    board = Board(count, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))  # the minimiser, where values are 0
    names, before = dict(found.names), found.unknown
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
    if not functions.ends[0]:  # clients of curvature 0 never move: no proof has a margin there
        posed = PosedRound(found, board, names, {}, inequalities, before)
        for zero in attained_vectors(posed, attained(found, solver, OnALine(ZERO_CURVATURE, ZERO_CURVATURE, WHOLE))):
            other = {_key(key): ZERO for key in zero}
            zeros += [zero | other, {_key(key): x for key, x in zero.items()} | dict.fromkeys(zero, ZERO)]
    measured = (ZERO,) * len(found.mean.read)
    return [*point] == ["server"], PosedRound(found, board, names, squares, both, sizes=(gained,), measured=measured,
                                              budget=budget, zeros=tuple(zeros))  # fmt: skip


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
