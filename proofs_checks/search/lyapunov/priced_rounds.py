"""Rounds in which something fixed disturbs the error: noise of gradients, or gradients that differ at the minimiser.

    E V(next state) <= rate·V(state) + Σ_j price_j · (size of disturbance j)

A price may also be what a round earns: with the size −(f(w) − f*) and rate 1, V decreases by price·(f(w) − f*).

Of noise two things are known (`noisy_gradients`): its size, and equations, which a proof may use with multipliers of
any sign: as two inequalities each.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, Part, coordinates
from fedconvex.proofs_checks.search.lyapunov.functions import written
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, Pair, Place, all_inequalities
from fedconvex.proofs_checks.search.lyapunov.semidefinite import NO_MARGIN, independent, orthogonal
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate, is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.certificates.search import balanced, nearest
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
    square,
)
from fedconvex.proofs_checks.worst_cases.programs.solver import conic, triangles, units
from fedconvex.proofs_checks.worst_cases.questions.board import Board, Evaluation
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.noisy_gradients import NoisyBoard
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes

SLACK = 1e-6  # relative cost that a proof may have more, so that it has an interior
DENOMINATORS = (1000, 10**6, 10**9, 2**60)  # of the entries of V, simplest first
BITS = 60  # of multipliers
FAR = 10.0  # a ratio of units that is worth changing them
WEIGHT: Pair = ((VALUE, 0), (VALUE, 0))  # of a function value in V
NOISE = (0.0, 1e-6, 1e-5, 1e-4)  # relative sizes below which multipliers may be meant to be 0


@final
@dataclass(frozen=True, eq=False)
class PricedRound:
    """The round: V before and after, the sizes of what disturbs it, inequalities, and what vanishes in expectation."""

    coordinates: Coordinates
    names: dict[Place, str]
    measured: tuple[Any, ...]  # the error of the server's point, in the coordinates of means
    squares: dict[Pair, tuple[Form, Form]]  # before and after
    sizes: tuple[Form, ...]
    inequalities: tuple[tuple[str, Form], ...]
    equations: tuple[tuple[str, Form], ...] = ()
    budget: dict[Pair, Any] = field(default_factory=dict)  # Σ budget · V's entries <= 1, where there is one
    paid: tuple[Any, ...] = ()  # and what prices take of it
    zeros: tuple[dict[Key, Any], ...] = ()  # vectors on which every proof's form vanishes
    worth: Any = None  # where V has a function value: per unit of its weight that is at least worth·‖measured‖²

    @property
    def parts(self) -> dict[str, int]:
        """The blocks of V and their sizes."""
        return {part: sum(place[0] == part for place in self.names) for part in dict.fromkeys(p for p, _ in self.names)}

    @property
    def relations(self) -> tuple[tuple[str, Form], ...]:
        """All inequalities: equations are two."""
        reversed_ones = ((f"{name}, reversed", -form) for name, form in self.equations)
        return (*self.inequalities, *self.equations, *reversed_ones)

    def program(self, entries: dict[Pair, Any], prices: tuple[Any, ...]) -> Program:
        """The program whose proofs of t show E V(next state) <= t·V(state) + prices · sizes."""
        both = [
            combination(*((c if a == b else 2 * c, self.squares[a, b][after]) for (a, b), c in entries.items() if c))
            for after in (0, 1)
        ]
        paid = combination(*zip(prices, self.sizes, strict=True))
        return Program(both[0], paid - both[1], self.relations)


def pose_noise(
    method: Method, solver: LocalSolver, functions: FunctionClass, clients: int, independent: bool
) -> PricedRound:
    """The round with noise, whose sizes are, for each evaluation, those of the means and of the deviations.

    Where it is not `independent`, only the mean over the clients of its squares is known.
    """
    found = coordinates(method, solver, functions, clients)
    board = Board(clients, functions, minimiser=False)
    board.evaluations.append(Evaluation(Family(), Family(), ""))
    noisy = NoisyBoard(board)
    known = [(MEAN,), (DEVIATION,)][:clients] if independent else [(MEAN, DEVIATION)]

    def sizes() -> Iterator[Form]:
        for u in noisy.noises:
            yield from (square(Family({key: c for key, c in u.parts.items() if key[0] in parts})) for parts in known)

    return _posed(method, solver, found, board, noisy, sizes)


def pose_pulls(method: Method, solver: LocalSolver, functions: FunctionClass, clients: int) -> PricedRound:
    """The round of clients whose gradients at the minimiser differ: the size is their mean square."""
    first = Part(MEAN, ("server",), [[ONE]], [[ONE]], [ONE])
    found = Coordinates(method, first, Part(DEVIATION, (), [], [], []))
    board = Board(clients, functions)
    return _posed(method, solver, found, board, board, lambda: [square(board.evaluations[0].gradient)])


def _posed(
    method: Method,
    solver: LocalSolver,
    found: Coordinates,
    board: Board,
    played: Any,
    sizes: Callable[[], Iterable[Form]],
) -> PricedRound:
    names = {(part.part, i): name for part in found.parts for i, name in enumerate(part.names)}
    before = {place: Family({(place[0], name): ONE}) for place, name in names.items()}
    first = len(board.evaluations)
    chances, states = zip(*outcomes(method, solver, played, found.state(before)), strict=True)
    following = [found.of(state) for state in states]
    places = list(before)
    squares = {
        (a, b): (inner(before[a], before[b]),
                 combination(*((c, inner(u[a], u[b])) for c, u in zip(chances, following, strict=True))))
        for i, a in enumerate(places) for b in places[i:] if a[0] == b[0]
    }  # fmt: skip
    board.minimiser = True
    # A server's point that waits for a communication is no function of the coordinates: then the clients' mean is
    # measured, where their first gradients are.
    point = {(MEAN, "server"): ONE} if "server" in found.mean.names else board.evaluations[first].point.parts
    measured = tuple(point.get((MEAN, name), ZERO) for name in found.mean.names)
    equations = tuple(played.equations) if isinstance(played, NoisyBoard) else ()
    inequalities = all_inequalities(board)
    return PricedRound(found, names, measured, squares, tuple(sizes()), inequalities, equations)


@final
@dataclass(frozen=True, eq=False)
class PricedFunction:
    """V and the proof of E V(next state) <= rate·V(state) + prices · sizes, where V >= ‖the server's error‖².

    Where V has a function value, which is worth a multiple of ‖measured‖², V >= 0 is what holds.

    Raises ValueError: V is smaller, or the multipliers are no proof.
    """

    posed: PricedRound
    entries: dict[Pair, Fraction]
    prices: tuple[Fraction, ...]
    rate: Fraction
    multipliers: tuple[Fraction, ...]
    certificate: DualCertificate = field(init=False)

    def __post_init__(self) -> None:
        server, worth = [to_fraction(c) for c in self.posed.measured], self.posed.worth
        if {*self.entries} != {*self.posed.squares} or min(self.prices) < 0:
            raise ValueError("this is no Lyapunov function")
        less = Fraction(1) if worth is None else -to_fraction(worth) * self.entries[WEIGHT]
        for part in self.posed.parts:
            rest = [
                [to_fmpq(c - (less * server[i] * server[j] if part == MEAN else 0)) for j, c in enumerate(row)]
                for i, row in enumerate(self.matrix(part))
            ]  # fmt: skip
            if not is_positive_semidefinite(rest):
                raise ValueError("this is no Lyapunov function")
        program = self.posed.program({p: to_fmpq(c) for p, c in self.entries.items()}, tuple(map(to_fmpq, self.prices)))
        object.__setattr__(self, "certificate", DualCertificate(program, self.rate, self.multipliers))

    def matrix(self, part: str) -> list[list[Fraction]]:
        """One of V's symmetric matrices."""
        n = self.posed.parts[part]
        return [[self.entries[(part, min(i, j)), (part, max(i, j))] for j in range(n)] for i in range(n)]

    def __str__(self) -> str:
        return written(self.entries, self.posed.names)


@final
@dataclass(frozen=True, eq=False)
class _Proposal:
    entries: dict[Pair, float]
    prices: np.ndarray
    multipliers: np.ndarray
    cost: float
    margin: float


def cheapest(posed: PricedRound, rate: Fraction, weights: tuple[Fraction, ...]) -> PricedFunction | None:
    """A certified function of this rate with nearly the least Σ weights · prices; None where none is found."""
    best = _solved(posed, float(rate), weights)
    if best is None:
        return None
    for slack in (SLACK, 10 * SLACK, 100 * SLACK, 1000 * SLACK, 10_000 * SLACK):
        found = _solved(posed, float(rate), weights, best.cost + abs(best.cost) * slack)
        # With zeros the margin may be 0, of which the solver gives noise: the exact proof decides.
        if found is None or found.margin <= (-NO_MARGIN if posed.zeros else 0.0):
            continue
        # Rounding should not ask for more than the solver found: a little more is paid, or less earned. But where sizes
        # are function values this moves others, and the proof's own margin has to do.
        signs = np.array([-1.0 if weight < 0 else 1.0 for weight in weights])
        for change in (slack, 0.0):
            for exact in _rounded(posed, rate, replace(found, prices=found.prices * (1 + change * signs))):
                return exact
    return None


def least_cost(posed: PricedRound, rate: float, weights: tuple[Fraction, ...]) -> float:
    """About the least Σ weights · prices at this rate, in floating point; infinite where there is none."""
    found = _solved(posed, rate, weights)
    return float("inf") if found is None else found.cost


def _rounded(posed: PricedRound, rate: Fraction, found: _Proposal) -> Iterator[PricedFunction]:
    count, more = len(posed.inequalities), len(posed.equations)
    signed = found.multipliers[count:]
    split = [*found.multipliers[:count], *np.maximum(signed, 0), *np.maximum(-signed, 0)]
    assert len(split) == count + 2 * more
    for largest, least in product(DENOMINATORS, NOISE if posed.zeros else NOISE[:1]):
        kept = [c if c > least * max(split) else 0.0 for c in split]
        multipliers = [to_fmpq(Fraction(round(c * 2**BITS), 2**BITS)) for c in kept]
        entries = {pair: nearest(c, largest) for pair, c in found.entries.items()}
        prices = tuple(nearest(c, 2**60) for c in found.prices)
        program = posed.program(entries, prices)
        zeros = [program.coordinates(zero) for zero in posed.zeros]
        tried = [(entries, balanced(program, to_fmpq(rate), multipliers, zeros))]
        if zeros:  # V may have to vary, too
            tried.append(_balanced_together(posed, rate, entries, prices, multipliers))
        for V, exact in tried:
            if exact is None or any(c < 0 for c in exact):
                continue
            fractions = {pair: to_fraction(c) for pair, c in V.items()}
            try:
                numbers = tuple(map(to_fraction, exact))
                yield PricedFunction(posed, fractions, tuple(map(to_fraction, prices)), rate, numbers)
            except ValueError:
                continue


def _balanced_together(
    posed: PricedRound, rate: Fraction, entries: dict[Pair, Any], prices: tuple[Any, ...], multipliers: list[Any]
) -> tuple[dict[Pair, Any], list[Any] | None]:
    """V and multipliers next to these with which the form vanishes where it has to; None where that is impossible."""
    changes = [
        (str((a, b)), combination((-to_fmpq(rate), before), (ONE, after)) * (1 if a == b else 2))
        for (a, b), (before, after) in posed.squares.items()
    ]
    paid = combination(*zip(prices, posed.sizes, strict=True))
    program, count = Program(Form(), paid, (*posed.relations, *changes)), len(multipliers)
    numbers = [*multipliers, *(entries[pair] for pair in posed.squares)]
    found = balanced(program, ZERO, numbers, [program.coordinates(zero) for zero in posed.zeros])
    if found is None:
        return entries, None
    return dict(zip(posed.squares, found[count:], strict=True)), found[:count]


def balanced_units(
    blocks: Sequence[np.ndarray], of_values: np.ndarray, vectors: Sequence[np.ndarray], value_units: np.ndarray
) -> list[np.ndarray]:
    """Units of vectors in which the squares of inequalities are like their function values, if they are far from it."""
    squares = np.max(
        [np.abs(m * np.multiply.outer(v, v)).max(axis=(1, 2)) for m, v in zip(blocks, vectors, strict=True)], 0
    )
    values = np.abs(of_values * value_units).max(1, initial=0)
    both = (squares > 0) & (values > 0)
    ratio = float(np.median(values[both] / squares[both])) if both.any() else 1.0
    return [v * (np.sqrt(ratio) if not 1 / FAR < ratio < FAR else 1.0) for v in vectors]


def _solved(
    posed: PricedRound, rate: float, weights: tuple[Fraction, ...], most: float | None = None
) -> _Proposal | None:
    """The cheapest function; or with `most`, which the cost may be, the one with the largest margin."""
    import clarabel

    pairs, one = list(posed.squares), [f for _, f in (*posed.inequalities, *posed.equations)]
    before, after = ([both[k] for both in posed.squares.values()] for k in (0, 1))
    forms = [*one, *posed.sizes, *before, *after]
    program = Program(Form(), Form(), tuple((str(i), form) for i, form in enumerate(forms)))
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    vectors = balanced_units(blocks, of_values, vectors, value_units)
    count, n, k, p = len(posed.inequalities), len(one), len(posed.sizes), len(pairs)
    columns = 1 + p + k + n  # the margin, V, prices, multipliers
    double = np.array([1.0 if a == b else 2.0 for a, b in pairs])

    def effect(m: np.ndarray) -> np.ndarray:
        """What each variable adds to the form, from the forms' matrices or values."""
        V = (rate * m[n + k : n + k + p] - m[n + k + p :]) * double.reshape(-1, *[1] * (m.ndim - 1))
        return np.concatenate([np.zeros_like(m[:1]), V, m[n : n + k], -m[:n]])

    scaled = [effect(m[2:] * np.multiply.outer(v, v)) for m, v in zip(blocks, vectors, strict=True)]
    values = effect(of_values[2:] * value_units)
    size = np.max([*(np.abs(m).max(axis=(1, 2)) for m in scaled), np.abs(values).max(1, initial=0)], 0)
    size[size == 0] = 1.0
    rows, right, cones = [(values / size[:, None]).T], [np.zeros(values.shape[1])], []
    if values.shape[1]:
        cones.append(clarabel.ZeroConeT(values.shape[1]))
    cost = np.zeros(columns)
    cost[1 + p : 1 + p + k] = np.array(weights, dtype=float) / size[1 + p : 1 + p + k]
    positive = np.zeros((k + count, columns))
    for row, place in enumerate([*range(1 + p, 1 + p + k), *range(1 + p + k, 1 + p + k + count)]):
        positive[row, place] = -1.0
    extra, bound = [], []
    if most is not None:
        size_of_cost = max(abs(most), 1e-12)
        extra, bound = [cost / size_of_cost, np.eye(columns)[0]], [most / size_of_cost, 1.0]
    if posed.budget:
        spent = [double[i] * float(posed.budget.get(pair, 0)) / size[1 + i] for i, pair in enumerate(pairs)]
        prices = [float(c) / size[1 + p + j] for j, c in enumerate(posed.paid or [0] * k)]
        extra.append(np.array([0.0, *spent, *prices, *[0.0] * n]))
        bound.append(1.0)
    rows.append(np.vstack([positive, *extra]))
    right.append(np.array([0.0] * (k + count) + bound))
    cones.append(clarabel.NonnegativeConeT(k + count + len(bound)))
    server = np.array([float(c) for c in posed.measured])
    measured = np.outer(server, server)
    vanishing = [np.zeros((0, columns))]
    for place, m in enumerate(scaled):
        m = m / size[:, None, None]
        away, along = orthogonal([program.coordinates(zero)[place] for zero in posed.zeros], vectors[place])
        # The form vanishes along the zeros, and is positive away from them.
        vanishing.append(np.tensordot(m, along, axes=1).reshape(columns, -1).T)
        m = away.T @ m @ away
        m[0] = -np.eye(m.shape[-1]) * (most is not None)
        rows.append(-triangles(m).T)
        right.append(np.zeros(rows[-1].shape[0]))
        cones.append(clarabel.PSDTriangleConeT(m.shape[-1]))
    equal = independent(np.vstack(vanishing))
    if len(equal):
        rows.append(equal)
        right.append(np.zeros(len(equal)))
        cones.append(clarabel.ZeroConeT(len(equal)))
    unit = {a: np.sqrt(size[1 + i]) for i, (a, b) in enumerate(pairs) if a == b}  # in which entries are like 1
    for part, length in posed.parts.items():
        basis = np.zeros((columns, length, length))
        basis[0] = -np.eye(length) * (most is not None)
        for i, (a, b) in enumerate(pairs):
            if a[0] == part:
                basis[1 + i, a[1], b[1]] = basis[1 + i, b[1], a[1]] = unit[a] * unit[b] / size[1 + i]
        least = np.zeros((length, length))
        if part == MEAN and posed.worth is None:
            least = measured * np.multiply.outer(*[[unit[part, i] for i in range(length)]] * 2)
        elif part == MEAN:
            place = 1 + pairs.index(WEIGHT)
            basis[place] = float(posed.worth) * measured / size[place]
            basis[place] *= np.multiply.outer(*[[unit[part, i] for i in range(length)]] * 2)
        rows.append(-triangles(basis).T)
        right.append(-triangles(least[None])[0])
        cones.append(clarabel.PSDTriangleConeT(length))
    objective = cost / (np.abs(cost).max() or 1.0) if most is None else -np.eye(columns)[0]
    if most is None:
        rows.append(np.eye(columns)[:1])
        right.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    x, _, status = conic(np.vstack(rows), np.concatenate(right), cones, objective)
    if not np.isfinite(x).all() or "Infeasible" in status:
        return None
    found = x / size
    entries = dict(zip(pairs, map(float, found[1 : 1 + p]), strict=True))
    return _Proposal(entries, found[1 + p : 1 + p + k], found[1 + p + k :], float(cost @ x), float(x[0]))
