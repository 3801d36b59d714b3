"""Decimal digits for people, rounded in a stated direction: the one place that turns bounds into printed numbers.

A printed upper bound must not be below the number that it bounds, and a lower bound not above it. Formatting a float
(`f"{x:.3g}"`) rounds to nearest and breaks this half of the time. All roundings here start from the exact number and
happen once: a detour through floats would round twice, and the second rounding, to nearest, may undo the first (the
least positive float, 4.94…e-324, printed with two digits is 4.9e-324, which is smaller).
"""

from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
)
from enum import Enum
from fractions import Fraction
from math import inf

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput

Number = int | float | Fraction | Decimal


class Rounding(Enum):
    """The direction of a rounding: FLOOR for lower bounds, CEILING for upper bounds, NEAREST for mere approximations.

    FLOOR and CEILING mean towards −∞ and +∞ (not towards zero), so they are right for negative numbers, too.
    """

    FLOOR = ROUND_FLOOR
    CEILING = ROUND_CEILING
    NEAREST = ROUND_HALF_EVEN


def significant(number: Number, digits: int, rounding: Rounding) -> Decimal:
    """The number with at most `digits` >= 1 significant decimal digits, rounded once in the given direction.

    Use it where the rounded number itself is needed (a JSON field, a stepsize to try, a table with a format of its
    own); `to_text`, `at_most` and `at_least` give text.

    Args:
        number: an int, float, Fraction, fmpq or Decimal, taken exactly; ±inf stay what they are.

    Raises:
        InvalidInput: NaN, and what is no number.
    """
    context = rounding_context(digits, rounding)
    if isinstance(number, Decimal):
        if number.is_nan():
            raise InvalidInput("number", number, "is not a number", "give a number")
        return context.plus(number)
    if number in (inf, -inf):
        return Decimal(float(number))
    exact = to_fraction(number, "number")
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def rounding_context(digits: int, rounding: Rounding) -> Context:
    """A `decimal.Context` whose results have at most `digits` digits, each operation rounded in that direction.

    Use it for sums and differences of decimals that are bounds. Overflow is not an error: an upper bound becomes
    infinite and a lower bound the largest decimal, both of which are true.
    """
    traps = [InvalidOperation, DivisionByZero]
    return Context(prec=digits, rounding=rounding.value, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=traps)


def to_text(number: Number, digits: int, rounding: Rounding, *, positional: bool = False) -> str:
    """`significant(number, digits, rounding)` as text without trailing zeros, laid out as by the format `.{digits}g`.

    Args:
        positional: write 1000000 and 0.0000001 instead of 1e+06 and 1e-07, however long that gets.
    """
    rounded = significant(number, digits, rounding)
    if rounded.is_infinite():
        return "∞" if rounded > 0 else "−∞"
    short, exponent = without_trailing_zeros(rounded), rounded.adjusted()
    if positional or not short or -4 <= exponent < digits:
        return f"{short:f}"
    sign, figures, _ = short.as_tuple()
    return f"{Decimal((sign, figures, 1 - len(figures))):f}e{exponent:+03d}"


def without_trailing_zeros(decimal: Decimal) -> Decimal:
    """The same number with the fewest digits; zero without a sign."""
    digits = len(decimal.as_tuple().digits)  # `normalize` rounds to its context's precision: it must be enough
    return decimal.normalize(rounding_context(digits, Rounding.NEAREST)) if decimal else Decimal(0)


def at_most(upper: Number, digits: int) -> str:
    """Text `≤ …` for an upper bound: the printed number is not below it."""
    return f"≤ {to_text(upper, digits, Rounding.CEILING)}"


def at_least(lower: Number, digits: int) -> str:
    """Text `≥ …` for a lower bound: the printed number is not above it."""
    return f"≥ {to_text(lower, digits, Rounding.FLOOR)}"
