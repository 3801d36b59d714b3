"""Rationals with small denominators for Hypothesis: one choice among all of them.

`st.fractions` draws denominator and numerator by strategies that it makes anew, which took half the time of some tests.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import ceil, floor

from hypothesis import strategies as st


def simplest_first(values: Iterable[Fraction]) -> list[Fraction]:
    """So that what is drawn from the list shrinks to integers, to small numbers and to positive ones."""
    return sorted(set(values), key=lambda v: (v.denominator, abs(v), v < 0))


@cache
def rationals(low: Fraction | int, high: Fraction | int, max_denominator: int = 20) -> st.SearchStrategy[Fraction]:
    """Any of low ≤ p/q ≤ high with q ≤ max_denominator, and the bounds, each as likely."""
    denominators = range(1, max_denominator + 1)
    inside = [Fraction(p, q) for q in denominators for p in range(ceil(low * q), floor(high * q) + 1)]
    return st.sampled_from(simplest_first([Fraction(low), Fraction(high), *inside]))
