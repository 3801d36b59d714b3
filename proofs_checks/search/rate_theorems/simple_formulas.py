"""Simple formulas between bounds that are known at samples: a rational number times powers of the parameters."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, product, zip_longest
from math import log
from operator import itemgetter
from typing import Any

from fedconvex.proofs_checks.search.lyapunov.parameter_search import simplest

WHOLE = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 25)
NUMBERS = sorted({Fraction(a, b) for a in WHOLE for b in WHOLE})
MOST_POWER = 2
MOST_POWERS = 4  # of all parameters together
LARGEST = 100  # numerator or denominator of a number that is simple
LEAST = 1e-9  # an upper bound below it is 0
ROUNDING = 1e-5  # relative distance that the solver's bounds may be off
PER_POWERS = 3  # numbers that are tried with the same powers

Interval = tuple[float, float]
Powers = tuple[int, ...]


def between(
    intervals: Sequence[Interval], parameters: Sequence[Sequence[float]], fits: Callable[[Powers], bool]
) -> Iterator[tuple[Fraction, Powers]]:
    """Numbers and powers whose product lies in the interval at every sample.

    The fewest powers first; of equally many those that leave the numbers the most room, and then numbers in the middle.

    Args:
        intervals: for every sample, between 0 and infinity.
        parameters: for every sample, their values, > 0.
        fits: whether the product of these powers has the right unit.
    """
    if not intervals:
        return
    powers = product(range(-MOST_POWER, MOST_POWER + 1), repeat=len(parameters[0]))
    found = []
    for p in powers:
        if sum(map(abs, p)) <= MOST_POWERS and fits(p):
            low, high = _quotients(intervals, parameters, p)
            if low * (1 - ROUNDING) <= high * (1 + ROUNDING) and high > LEAST:
                low, high = low * (1 - ROUNDING), high * (1 + ROUNDING)
                room = log(high / low) if low > 0 else float("inf")
                found.append((sum(map(abs, p)), -room, p, low, high))
    for _, alike in groupby(sorted(found), key=itemgetter(0)):
        each = [[(c, p) for c in _inside(low, high)] for _, _, p, low, high in alike]
        # The best number of each, then the second best ones: powers that leave more room need not be the right ones.
        yield from (one for these in zip_longest(*each) for one in these if one is not None)


def _inside(low: float, high: float) -> list[Fraction]:
    """Simple numbers in the interval, those in its middle first."""
    middle = (low * high) ** 0.5 if low > 0 else high
    inside = [c for c in NUMBERS if low <= c <= high]
    if not inside:
        found = simplest(Fraction(max(low, high / 2)), Fraction(high))
        inside = [found] if max(found.numerator, found.denominator) <= LARGEST else []
    return sorted(inside, key=lambda c: (abs(log(c / middle)) + _complexity(c), c))[:PER_POWERS]


def _complexity(c: Fraction) -> float:
    return 0.05 * log(c.numerator * c.denominator)


def _quotients(intervals: Sequence[Interval], parameters: Sequence[Sequence[float]], powers: Any) -> Interval:
    """Between which numbers a factor of the product of these powers must lie."""
    low, high = 0.0, float("inf")
    for (least, most), row in zip(intervals, parameters, strict=True):
        size = 1.0
        for x, power in zip(row, powers, strict=True):
            size *= x**power
        low, high = max(low, least / size), min(high, most / size)
    return low, high
