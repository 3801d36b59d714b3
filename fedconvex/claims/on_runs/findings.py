"""The two sides of a claim, computed and compared: exactly, in balls, or (on a run in floats) numerically."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, nearest_float, to_fmpq, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.claims.on_runs.draw_dependence import DrawDependence, is_expectation
from fedconvex.claims.on_runs.evaluation import Path, Values
from fedconvex.claims.on_runs.paths import minimiser_of
from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.runs.rounds import Rounds
from fedconvex.shown import on_screen

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim

PRECISIONS = (128, 512, 2048)  # bits, raised until balls decide
ROUNDING = 1e-9  # relative: closer sides are not decided in floats
SHOWN = 8  # entries of a vector
ALL, SAMPLE = "every draw", "the draw that happened"


@final
@dataclass(frozen=True, eq=False)
class Found:
    """The two sides of a claim on a run, where they are worst.

    Attributes:
        left, right: Fractions where they are rational, else balls; floats on a run in floats; arrays for vectors.
        holds: True, False, or None where it is not decided, as by a sample of the draws.
        certainty: EXACT, ENCLOSED (balls), or NUMERIC (floats, no guarantee).
        expectation: over what it is: ALL draws, or a SAMPLE, the draw that happened.
        round, client: the round's number; the client of a claim about each client.
        addends: the sizes of the terms that the sides are sums of.
        measured: the parameters whose values were measured, not given: on deep runs at the models, not in between.
    """

    left: Any
    relation: str
    right: Any
    holds: bool | None
    certainty: Certainty
    expectation: str
    round: int
    client: int | None = None
    addends: tuple[float, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)

    @property
    def sharpness(self) -> float:
        """left − right as a part of the addends other than the two largest, which often cancel each other."""
        minor = sum(sorted(self.addends)[:-2])
        return self.excess if minor == 0 else self._difference(self.left, self.right) / minor

    @property
    def excess(self) -> float:
        """(left − right)/(|left| + |right|), for an equality its absolute value: positive where false.

        Of vectors that of the worst entry; in floats, where entries may be rounding alone, that of the lengths.
        """
        if isinstance(self.left, np.ndarray) and self.left.dtype == self.right.dtype == np.float64:
            size = np.linalg.norm(self.left) + np.linalg.norm(self.right)
            return float(np.linalg.norm(self.left - self.right) / size) if size else 0.0
        pairs = np.broadcast(np.asarray(self.left, dtype=object), np.asarray(self.right, dtype=object))
        return max(self._excess(a, b) for a, b in pairs)

    def _excess(self, left: Any, right: Any) -> float:
        if isinstance(left, float) and isinstance(right, float):
            size, difference = abs(left) + abs(right), left - right
            if not isfinite(size):  # of two sides that are not decided the one that says so
                return inf
            return (difference if self.relation == "<=" else abs(difference)) / size if size else 0.0
        size = abs(nearest_float(left)) + abs(nearest_float(right))
        return self._difference(left, right) / size if size else 0.0

    def _difference(self, left: Any, right: Any) -> float:
        if _is_ball(left) or _is_ball(right):
            left, right = (side if _is_ball(side) else to_fmpq(side) for side in (left, right))
        difference = nearest_float(left - right)
        return difference if self.relation == "<=" else abs(difference)

    def __str__(self) -> str:
        return on_screen(self.says)

    @property
    def says(self) -> str:
        """The finding in one line."""
        verdict = {True: "holds", False: "does not hold", None: "is not decided"}[self.holds]
        of = "" if self.client is None else f" for client {self.client}"
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.measured.items())
        measured = f"; measured: {values}" if values else ""
        return (
            f"{verdict} in round {self.round}{of}: left {_short(self.left)}, right {_short(self.right)} "
            f"({self.certainty.value}; expectation over {self.expectation}{measured})"
        )


@final
@dataclass(frozen=True, eq=False)
class Evaluating:
    """What is the same in all rounds in which a claim is looked at."""

    claim: "Claim"
    rounds: Rounds
    parameters: Mapping[str, Any]
    free: Mapping[str, Array]
    minimiser: Callable[[], Array]
    rounding: float = ROUNDING

    @cached_property
    def _depends_on_draws(self) -> DrawDependence:
        return DrawDependence(self.claim.of_run)

    def found(self, paths: list[Path], expectation: str, t: int) -> Iterator[Found]:
        """The two sides, for every client of a claim about each, and on every path where they depend on the draw."""
        sides = (self.claim.left, self.claim.right)
        several = any(map(self._depends_on_draws, sides))
        for client in range(self.rounds.problem.num_clients) if self.claim.of_client else (None,):
            values = self._values(paths, client)
            for path in range(len(paths) if several else 1):
                anew = partial(self._values, paths, client)
                yield _decided(self.claim, values, anew, path, expectation, t, self.rounding)

    def _values(self, paths: list[Path], client: int | None) -> Values:
        problem, scale = self.rounds.problem, self.rounds.method.scale(self.rounds.problem)
        return Values(
            paths, self.rounds.clients, self.rounds.weights, self.rounds.arithmetic, self.parameters, self.minimiser,
            self.free, self._depends_on_draws, client, in_balls=lambda: problem.clients("ball", scale),
            proximal=partial(minimiser_of, self.rounds),
        )  # fmt: skip


def _decided(
    claim: "Claim", at: Values, anew: Callable[[], Values], path: int, expectation: str, t: int, rounding: float
) -> Found:
    """The sides, with more and more precise balls until these decide; `anew` has kept no values."""
    for precision in PRECISIONS:
        with _balls_of(precision, at.arithmetic):
            left, right = at.of(claim.left, path), at.of(claim.right, path)
            if at.arithmetic.certainty is Certainty.NUMERIC:
                scale = rounding * sum(_size(at, x, path) for x in _addends(claim.left, claim.right))
                left, right = (at.arithmetic.to_float(x) if np.ndim(x) else x for x in (left, right))
                holds, certainty = _compare_floats(claim.relation, left, right, scale), Certainty.NUMERIC
            else:
                holds, certainty = _compare(claim.relation, left, right)
        if holds is not None or certainty is not Certainty.ENCLOSED or at.arithmetic.certainty is not Certainty.EXACT:
            break
        at = anew()
    if holds is None and certainty is Certainty.ENCLOSED and at.arithmetic.certainty is Certainty.EXACT:
        holds = _by_squares(claim, at, path)
    if expectation == SAMPLE and any(is_expectation(p) for side in (claim.left, claim.right) for p in parts(side)):
        holds = None
    addends = [] if np.ndim(left) else [at.of(x, path) for x in _addends(claim.left, claim.right)]
    sizes = [abs(x if type(x) is float else nearest_float(x)) for x in addends]
    return Found(
        _published(left), claim.relation, _published(right), holds, certainty, expectation, t, at.client, tuple(sizes)
    )


def _addends(*sides: Any) -> Iterator[Any]:
    """The terms that the sides are sums and differences of."""
    waiting = list(sides)
    while waiting:
        if (here := waiting.pop()).head in ("+", "-", "neg", "named"):
            waiting += [part for part in here.args if type(part) is not str]
        else:
            yield here


def _size(at: Values, addend: Any, path: int) -> float:
    """The largest |entry| of a term on a run in floats: sides are rounded relative to it."""
    return float(abs(at.of(addend, path)).max()) if type(addend) is Vector else abs(at.of(addend, path))


def _by_squares(claim: "Claim", at: Values, path: int) -> bool | None:
    """Compares products of roots by their squares, which are rational: balls cannot decide that they are equal."""
    if type(claim.left) is not Number or type(claim.right) is not Number:
        return None
    left, right = at.square_of(claim.left, path), at.square_of(claim.right, path)
    if left is None or right is None:
        return None
    return bool(left <= right if claim.relation == "<=" else left == right)


def _balls_of(precision: int, arithmetic: Arithmetic) -> AbstractContextManager[Any]:
    """The precision of the balls that exact numbers become; a run in balls or floats keeps its own."""
    if arithmetic.certainty is not Certainty.EXACT:
        return nullcontext()
    import flint

    return flint.ctx.workprec(precision)


def _is_ball(side: Any) -> bool:
    return type(side).__name__ == "arb"


def _compare(relation: str, left: Any, right: Any) -> tuple[bool | None, Certainty]:
    """Whether the relation holds: decided exactly, or by balls."""
    if np.ndim(left) or np.ndim(right):
        entries = [_compare(relation, a, b) for a, b in zip(*np.broadcast_arrays(left, right), strict=True)]
        return _all(holds for holds, _ in entries), max((c for _, c in entries), key=list(Certainty).index)
    if not (_is_ball(left) or _is_ball(right)):
        return bool(left <= right if relation == "<=" else left == right), Certainty.EXACT
    difference = right - left
    if difference < 0 or (relation == "=" and difference > 0):
        return False, Certainty.ENCLOSED
    return (True if relation == "<=" and difference >= 0 else None), Certainty.ENCLOSED


def _compare_floats(relation: str, left: Any, right: Any, rounding: float) -> bool | None:
    """Whether it seems to hold: None where the sides are closer than what rounding changes, or not finite."""
    if not (np.isfinite(left).all() and np.isfinite(right).all() and isfinite(rounding)):
        return None
    difference = float(np.max(np.abs(left - right)))
    if relation == "=":
        return difference <= rounding
    return None if difference <= rounding else bool(left < right)


def _all(holds: Iterator[bool | None]) -> bool | None:
    found = list(holds)
    return False if False in found else None if None in found else True


def _published(side: Any) -> Any:
    if isinstance(side, np.ndarray) and side.dtype == np.float64:
        return side
    if np.ndim(side):
        return np.array([_published(entry) for entry in side], dtype=object)
    return to_fraction(side) if type(side).__name__ == "fmpq" else side


def _short(side: Any) -> str:
    if np.ndim(side):
        more = ", …" if len(side) > SHOWN else ""
        return "(" + ", ".join(map(_short, side[:SHOWN])) + more + ")"
    if isinstance(side, float):
        return f"{side:.6g}"
    return f"{nearest_float(side):.6g}" if isinstance(side, Fraction) and side.denominator > 10**6 else str(side)
