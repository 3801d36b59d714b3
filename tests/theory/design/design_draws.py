"""Strategies and checks that the tests of design calculators share."""

from fractions import Fraction
from typing import Any

import flint
from hypothesis import strategies as st
from problem_makers import fraction

BITS = 600
TINY = Fraction(1, 10**25)
positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=10**4)
nonnegative = st.one_of(st.just(Fraction(0)), positive)
counts = st.tuples(st.integers(1, 50), st.integers(1, 50)).map(lambda pair: {"num_clients": max(pair), "num_active": min(pair)})  # fmt: skip  # noqa: E501


def fraction_of(number: Any) -> Fraction:
    """A number, or the middle of a ball."""
    return fraction(number.mid() if isinstance(number, flint.arb) else number)
