"""Exact numbers of runs as Fractions."""

from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fraction


def exact(value: Any) -> Fraction:
    return to_fraction(value)


def square(vector: Any) -> Fraction:
    return sum((exact(x) ** 2 for x in vector), Fraction(0))
