"""The search for parameters with which a method contracts fast on quadratics: exact numbers, but no proof of a rate.

Along each real parameter the search goes in ratios, from a coarse grid to the neighbourhood of its best point; along
integers by steps that are halved. Nothing says that no better parameters exist: the best ones that are found are used.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import ceil, inf, log, log2
from typing import Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.methods.base import Method
from fedconvex.progress import track
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass

DIGITS = 5  # of the real numbers that are tried: long fractions are slow
MARGIN = 32  # by how much a real parameter may lie beyond what the curvatures suggest
PER_OCTAVE = {1: 2, 2: 1}  # points of the coarse grid, for that many parameters; 1 for more
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # numbers of local steps that are tried first
BEST = 3  # points of the coarse grid from which the search goes on
SHRINKS = 13  # times that the steps of a search in the neighbourhood are divided
Values = tuple[Any, ...]  # of the designed parameters, in their order


@final
@dataclass(frozen=True)
class Varied:
    """A method of which some parameters are free."""

    kind: type[Method]
    fixed: Mapping[str, Any]
    names: tuple[str, ...]

    def at(self, values: Values) -> Method:
        return self.kind(**self.fixed, **dict(zip(self.names, values, strict=True)))


@final
@dataclass(eq=False)
class ParameterSearch:
    """The best parameters by a measure that is to be small; what was computed is remembered.

    Args:
        varied: the method.
        measure: of a method, infinite where it is of no use.
        clients: their curvatures say where to search.
        dimensions: of each designed parameter: −1 for one over a curvature, 1 for a curvature, 0 for a number, None for
            an integer.
    """

    varied: Varied
    measure: Callable[[Method], float]
    clients: FunctionClass
    dimensions: tuple[int | None, ...]
    seen: dict[Values, float] = field(default_factory=dict)
    refusals: list[InvalidInput] = field(default_factory=list)

    def at(self, values: Values) -> float:
        """The measure, infinite for parameters that the method or the analysis refuses."""
        if values not in self.seen:
            try:
                self.seen[values] = self.measure(self.varied.at(values))
            except InvalidInput as refusal:
                self.refusals.append(refusal)
                self.seen[values] = inf
        return self.seen[values]

    def best(self, most_steps: int) -> list[Values]:
        """Good parameters, the best first; for each number of local steps the best of the others."""
        grids = [list(self._grid(dimension, most_steps)) for dimension in self.dimensions]
        whole = [n for n, dimension in enumerate(self.dimensions) if dimension is None]
        groups: dict[Values, list[Values]] = {}
        for values in product(*grids):
            groups.setdefault(tuple(values[n] for n in whole), []).append(values)
        found = []
        for _, group in track(sorted(groups.items()), f"{self.varied.kind.__name__}: parameters"):
            starts = sorted(group, key=self.at)[: BEST if len(groups) == 1 else 1]
            found += [self.descended(start) for start in starts if self.at(start) < inf]
        found.sort(key=self.at)
        if found and whole:
            found.insert(0, self._between(found[0], whole[0], most_steps))
        return list(dict.fromkeys(sorted(found, key=self.at)))

    def descended(self, start: Values, show: bool = False) -> Values:
        """The best point that a search from here finds: each real parameter times a ratio, and pairs of them."""
        real = [n for n, dimension in enumerate(self.dimensions) if dimension is not None]
        ratio, here = 2 ** (1 / PER_OCTAVE.get(len(self.dimensions), 1)), start
        moves = [move for move in product((1, -1, 0), repeat=len(real)) if any(move)]
        for _ in track(range(SHRINKS), f"{self.varied.kind.__name__}: parameters by proofs", show):
            ratio = ratio**0.5
            for _ in range(4):  # steps of this size
                tried = [self._moved(here, real, move, ratio) for move in moves]
                there = min(tried, key=self.at, default=here)
                if self.at(there) >= self.at(here):
                    break
                here = there
        return here

    def _moved(self, values: Values, real: Sequence[int], move: Sequence[int], ratio: float) -> Values:
        found = list(values)
        for n, sign in zip(real, move, strict=True):
            if sign:
                found[n] = rounded(float(values[n]) * ratio**sign)
        return tuple(found)

    def _between(self, start: Values, n: int, most_steps: int) -> Values:
        """The best point with a number of local steps between the first ones, each time with its own other values."""
        here, step = start, max(1, start[n] // 4)
        while step:
            near = [(*here[:n], e, *here[n + 1 :]) for e in (here[n] - step, here[n] + step) if 1 <= e <= most_steps]
            there = min((self.descended(values) for values in near), key=self.at, default=here)
            if self.at(there) < self.at(here):
                here = there
            else:
                step //= 2
        return here

    def _grid(self, dimension: int | None, most_steps: int) -> Iterator[Any]:
        if dimension is None:
            yield from (e for e in STEPS if e <= most_steps)
            return
        low, high = float(self.clients.lowest), float(self.clients.highest)
        least, most = {-1: (1 / high, 1 / low), 1: (low, high), 0: (1.0, 1.0)}[dimension]
        count = ceil(PER_OCTAVE.get(len(self.dimensions), 1) * log2(most / least * MARGIN**2)) + 1
        yield from map(rounded, np.geomspace(least / MARGIN, most * MARGIN, count))


def rounded(x: float) -> Fraction:
    """The number in few digits."""
    return Fraction(f"{x:.{DIGITS}g}")


def dimensions(
    varied: Varied, numbers: Sequence[str], attained: Callable[[Method, Fraction], Fraction], curvature: Fraction
) -> dict[str, int]:
    """How a method's real parameters scale with the clients' curvatures, as measured: −1, 0 or 1 for each.

    The right powers are those with which the attained rate stays the same where all functions are multiplied.

    Args:
        numbers: the names of all real parameters, free or fixed.
        attained: of a method, on clients whose functions are multiplied by a number.
        curvature: of the clients.
    """
    base = {name: varied.fixed.get(name, Fraction(3, 7) / curvature) for name in numbers}
    rest = {name: value for name, value in varied.fixed.items() if name not in base}
    rest |= {name: 2 for name in varied.names if name not in base}

    def made(factor: Fraction, powers: Sequence[int]) -> Method:
        scaled = (Fraction(x) * factor**k for x, k in zip(base.values(), powers, strict=True))
        return varied.kind(**rest, **dict(zip(base, scaled, strict=True)))

    for powers in product((-1, 1, 0), repeat=len(base)):
        try:
            first = attained(made(Fraction(1), powers), Fraction(1))
            same = all(attained(made(c, powers), c) == first for c in (Fraction(4), Fraction(1, 9)))
        except InvalidInput:
            continue
        if same:
            return dict(zip(base, powers, strict=True))
    return dict.fromkeys(base, 0)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in the interval, 0 < low <= high."""
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def decrease(rate: Any) -> float:
    """−log of a rate: how much a round is worth; not positive where errors do not decrease."""
    if rate == inf:
        return -inf
    if rate <= 0:
        return inf
    return -(log(rate.numerator) - log(rate.denominator))
