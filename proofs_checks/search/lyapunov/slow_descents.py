"""Functions of one variable that a method descends slowly: its rounds are all alike, and f decreases least in each.

All clients share f, f′ > 0, and the method moves to the left. In every round the points where it asks for gradients lie
alike, and the gradients there are those of a `pattern`, the first of them 1, as at the points p where the rate is
measured. Between neighbouring points f′ first falls as fast as the class allows and then rises as fast: that is the
least by which f can change there. Everything is a rational number.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method, State
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks.search.lyapunov.state_vectors import vectors_of
from fedconvex.proofs_checks.worst_cases.instances.interpolating_functions import Interpolating
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, first_state

X = (MEAN, "x")  # the one coordinate
ROUNDS = 6  # that are played: memories need some until rounds are alike
STEPS = (Fraction(1, 4), Fraction(1, 16), Fraction(1, 64), Fraction(1, 256))  # of a pattern's gradients, coarse first
MOST_TRIES = 200  # patterns for each of these steps
MOST_GRADIENTS = 16  # in a pattern


@final
@dataclass(eq=False)
class _Line:
    """A board for one function on a line, whose gradients are those of the pattern, new at every new point."""

    pattern: Sequence[Any]
    known: dict[Any, Any] = field(default_factory=dict)  # gradients by points
    new: int = 0  # points of this round

    def gradient(self, point: Family) -> Family:
        x = _number(point)
        if x not in self.known:
            self.known[x] = self._next()
        return _vector(self.known[x])

    def minimise(self, subproblem: Subproblem) -> Family:
        """The point where the pattern's next gradient solves the subproblem: any function through it has it there."""
        if not subproblem.weight:
            raise InvalidInput("method", "its subproblems", "have no proximal term", "give one with a weight > 0")
        gradient = self._next()
        point = subproblem.right_side(-_vector(gradient)) / subproblem.weight
        if self.known.setdefault(_number(point), gradient) != gradient:
            raise _Impossible("one point has two gradients")
        return point  # type: ignore[no-any-return]

    def _next(self) -> Any:
        self.new += 1
        return self.pattern[min(self.new, len(self.pattern)) - 1]


class _Impossible(ValueError):
    """No function of the class has these gradients."""


@final
@dataclass(frozen=True, eq=False)
class SlowDescent:
    """A function f with f′ = 1 at all points p of a run, and f(p) − f(p⁺) = `decrease` in all rounds but some first.

    Attributes:
        method, solver, clients: of the run.
        point: p as a combination of the state's vectors.
        pattern: the gradients of a round.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    point: dict[str, Any]
    pattern: tuple[Fraction, ...]

    @property
    def new_gradients(self) -> int:
        """At how many new points a round asks for gradients; 0 where no function has those of the pattern."""
        try:
            return min(self._played(ROUNDS)[2], MOST_GRADIENTS)
        except _Impossible:
            return 0

    def played(self, rounds: int) -> tuple[list[Any], dict[Any, Any]]:
        """The points p of that many rounds, from 0, and all gradients by points. Raises where one at a p is not 1."""
        points, known, _ = self._played(rounds)
        known |= dict.fromkeys([x for x in points if x not in known], ONE)
        if any(known[x] != 1 for x in points):
            raise _Impossible("the first rounds do not have such a function")
        return points, known

    def _played(self, rounds: int) -> tuple[list[Any], dict[Any, Any], int]:
        board, state = _Line([to_fmpq(r) for r in self.pattern]), first_state(self.method, Family())
        points = [self._at(state)]
        board.known[points[0]] = ONE
        for _ in range(rounds):
            board.new = 0
            state, _ = answered(self.method, self.solver, board, state)
            points.append(self._at(state))
        return points, board.known, board.new

    def _at(self, state: State) -> Any:
        vectors = vectors_of(state)
        return _number(sum((vectors[name] * c for name, c in self.point.items()), start=Family()))

    @cached_property
    def decrease(self) -> Fraction | None:
        """By how much f decreases in a round once all are alike; None where they are not, or there is no such f."""
        try:
            points, known = self.played(ROUNDS)
        except _Impossible:
            return None
        steps = [b - a for a, b in itertools.pairwise(points)]
        if len({*steps[-3:]}) > 1 or not steps[-1] < 0 or not self._exists(known):
            return None
        # Points of the last round may still be missing; of the one before none are.
        return to_fraction(self._least_change([x for x in known if points[-2] <= x <= points[-3]], known))

    def gap(self, points: int) -> Fraction:
        """f(p) − inf f at the first of so many points p, at all of which f′ = 1.

        Raises ValueError where no such f exists for the first rounds, which need not be like the others.
        """
        known, passed = self._continued(points)
        return to_fraction(self._least_change([x for x in known if x <= passed], known))

    def federation(self, points: int, clients: int) -> Interpolating:
        """Clients that all have this f, in floating point, to be started at 0."""
        known, _ = self._continued(points)
        ordered = sorted(known)
        changes = [self._least_change(pair, known) for pair in itertools.pairwise(ordered)]
        values = [float(sum(changes[:i], ZERO)) for i in range(len(ordered))]
        x, g = ([[float(c)] for c in numbers] for numbers in (ordered, [known[x] for x in ordered]))
        low, high = ([float(c)] * clients for c in (self.clients.lowest, self.clients.highest))
        weights = [Fraction(1, clients)] * clients
        return Interpolating.through([x] * clients, [g] * clients, [values] * clients, low, high, weights)

    def _continued(self, count: int) -> tuple[dict[Any, Any], Any]:
        """The gradients by points, with a minimiser to the left of all; and the first point p."""
        points, known = self.played(count - 1)
        left = min(known)
        known[left - known[left] / to_fmpq(self.clients.highest)] = ZERO
        if known[left] <= 0 or not self._exists(known):
            raise ValueError("the first rounds do not have such a function")
        return known, points[0]

    def _exists(self, known: dict[Any, Any]) -> bool:
        """Whether a function of the class has these gradients."""
        low, high, ordered = to_fmpq(self.clients.lowest), to_fmpq(self.clients.highest), sorted(known.items())
        pairs = itertools.pairwise(ordered)
        return all(low * (y - x) <= h - g <= high * (y - x) for (x, g), (y, h) in pairs)

    def _least_change(self, points: Iterable[Any], known: dict[Any, Any]) -> Any:
        """The least ∫ f′ between the first and the last point: f′ falls as fast as it may, then rises as fast."""
        low, high, total, ordered = to_fmpq(self.clients.lowest), to_fmpq(self.clients.highest), ZERO, sorted(points)
        for x, y in itertools.pairwise(ordered):
            g, h, width = known[x], known[y], y - x
            turn = (h - g - high * width) / (low - high)
            lowest = g + low * turn
            total += (g + lowest) / 2 * turn + (lowest + h) / 2 * (width - turn)
        return total


def speed(method: Method, solver: LocalSolver) -> Fraction | None:
    """How far a round moves the server's point where all gradients are 1, once rounds are alike; None where none are.

    Where communication is skipped at random clients that are alike move alike, with or without.
    """
    board, state, points = _Line([ONE]), first_state(method, Family()), [ZERO]
    for _ in range(ROUNDS):
        communicates = True if method.skip != 0 else None
        state, _ = answered(method, solver, board, state, communicates=communicates)
        points.append(_number(state.server))
    steps = [a - b for a, b in itertools.pairwise(points)]
    return to_fraction(steps[-1]) if len({*steps[-3:]}) == 1 and steps[-1] > 0 else None


def slowest_descent(
    method: Method, solver: LocalSolver, clients: FunctionClass, point: dict[str, Any]
) -> SlowDescent | None:
    """The slowest that a search over patterns finds; None where no run with gradients 1 has rounds that are alike."""
    best = SlowDescent(method, solver, clients, point, (Fraction(1),))
    best = replace(best, pattern=(Fraction(1),) * max(1, best.new_gradients))
    least = best.decrease
    for step in STEPS:
        for _ in range(MOST_TRIES):
            trials = [
                replace(best, pattern=(*best.pattern[:i], best.pattern[i] + d, *best.pattern[i + 1 :]))
                for i in range(1, len(best.pattern)) for d in (step, -step)
            ]  # fmt: skip
            found = [(value, i) for i, trial in enumerate(trials) if (value := trial.decrease) is not None]
            if least is None or not found or min(found)[0] >= least:
                break
            least, place = min(found)
            best = trials[place]
    return None if least is None else best


def _number(u: Family) -> Any:
    return u.parts.get(X, ZERO)


def _vector(x: Any) -> Family:
    return Family({X: x} if x else {})
