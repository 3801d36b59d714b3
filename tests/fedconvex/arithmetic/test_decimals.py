"""Rounded decimals: correct to the last digit, and printed bounds stay on the safe side."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedconvex.arithmetic.decimals import (
    Rounding,
    at_least,
    at_most,
    rounding_context,
    significant,
    to_text,
    without_trailing_zeros,
)
from fedconvex.errors import InvalidInput

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
FRACTIONS = st.fractions() | st.builds(
    lambda q, exponent: q * Fraction(10) ** exponent, st.fractions(), st.integers(-400, 400)
)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
NUMBERS = FLOATS | FRACTIONS | DECIMALS | st.integers()
DIGITS = st.integers(1, 20)
LEAST_FLOAT, LARGEST_FLOAT = 5e-324, 1.7976931348623157e308


def value_of(text):
    """The number that a reader takes from the printed bound."""
    return Fraction(text.split()[-1])


def keeps_upper_bounds(print_bound, number, digits):
    return value_of(print_bound(number, digits)) >= Fraction(number)


@given(NUMBERS, DIGITS)
@example(LEAST_FLOAT, 2)
@example(-LEAST_FLOAT, 2)
@example(LARGEST_FLOAT, 1)
@example(-LARGEST_FLOAT, 15)
@example(Decimal("1e-5000"), 3)
@example(Fraction(10**500 + 1, 10**500), 3)
def test_printed_bounds_hold_and_are_near(number, digits):
    exact = Fraction(number)
    above, below = value_of(at_most(number, digits)), value_of(at_least(number, digits))
    assert below <= exact <= above
    assert above - below <= abs(exact) * Fraction(10) ** (1 - digits)


@given(NUMBERS, DIGITS, st.sampled_from(Rounding))
def test_rounding_is_correct(number, digits, rounding):
    """Against integers: the number in units of the last digit, rounded by hand."""
    exact, rounded = Fraction(number), significant(number, digits, rounding)
    assert len(without_trailing_zeros(rounded).as_tuple().digits) <= digits
    if not exact:
        assert rounded == 0
        return
    magnitude = -1  # the place of the first digit: 10^magnitude <= |exact| < 10^(magnitude + 1)
    while abs(exact) >= Fraction(10) ** (magnitude + 1):
        magnitude += 1
    while abs(exact) < Fraction(10) ** magnitude:
        magnitude -= 1
    unit = Fraction(10) ** (magnitude - digits + 1)
    quotient = exact / unit
    by_hand = {
        Rounding.FLOOR: quotient.__floor__(),
        Rounding.CEILING: quotient.__ceil__(),
        Rounding.NEAREST: round(quotient),  # halves to even
    }
    assert Fraction(rounded) == by_hand[rounding] * unit


@pytest.mark.parametrize(
    "wrong",
    [
        lambda number, digits: f"≤ {number:.{digits}g}",  # to nearest
        lambda number, digits: f"≤ {float(significant(number, digits, Rounding.CEILING)):.{digits}g}",  # twice
        lambda number, digits: f"≤ {to_text(number, digits, Rounding.FLOOR)}",  # the wrong way
    ],
)
def test_what_this_check_must_reject(wrong):
    numbers = (LEAST_FLOAT, 2.91e-12, 3 * LEAST_FLOAT, 1.04, -1.06)
    assert not all(keeps_upper_bounds(wrong, number, 2) for number in numbers)
    assert all(keeps_upper_bounds(at_most, number, 2) for number in numbers)


@given(FLOATS, st.integers(1, 15))
def test_layout_is_that_of_the_general_format(number, digits):
    rounded = float(significant(number, digits, Rounding.NEAREST))
    if abs(rounded) >= 2.3e-308 and abs(rounded) < inf:  # a subnormal float has fewer digits than are printed
        assert to_text(number, digits, Rounding.NEAREST) == f"{rounded:.{digits}g}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (at_most(2.91e-12, 2), "≤ 3e-12"),
        (at_least(0.0469385999, 6), "≥ 0.0469385"),
        (at_least(0.001, 6), "≥ 0.001"),
        (at_most(LEAST_FLOAT, 2), "≤ 5e-324"),
        (at_least(LEAST_FLOAT, 2), "≥ 4.9e-324"),
        (at_most(-LEAST_FLOAT, 2), "≤ -4.9e-324"),
        (at_least(-1.04, 2), "≥ -1.1"),
        (at_most(LARGEST_FLOAT, 3), "≤ 1.8e+308"),
        (at_most(9.99, 1), "≤ 1e+01"),
        (at_most(256.0, 3), "≤ 256"),
        (at_most(0.0, 1), "≤ 0"),
        (at_least(-0.0, 1), "≥ 0"),
        (at_least(Decimal("-0"), 1), "≥ 0"),
        (at_most(inf, 1), "≤ ∞"),
        (at_least(-inf, 1), "≥ −∞"),
        (at_least(Decimal("-Infinity"), 1), "≥ −∞"),
        (at_most(np.float32(0.1), 3), "≤ 0.101"),
        (at_most(flint.fmpq(1, 3), 3), "≤ 0.334"),
        (to_text(Fraction(2, 3), 4, Rounding.NEAREST), "0.6667"),
        (to_text(Fraction(10**6), 4, Rounding.NEAREST), "1e+06"),
        (to_text(Fraction(10**6), 4, Rounding.NEAREST, positional=True), "1000000"),
        (to_text(Fraction(1, 30_000_000), 2, Rounding.FLOOR, positional=True), "0.000000033"),
        (to_text(inf, 4, Rounding.CEILING, positional=True), "∞"),
    ],
)
def test_texts(text, expected):
    assert text == expected


def test_a_long_double_beyond_floats_is_not_infinite():
    huge = np.longdouble(10) ** 400
    if np.isfinite(huge):  # where long doubles are longer than doubles
        assert at_least(huge, 2) in ("≥ 1e+400", "≥ 9.9e+399")


def test_decimals_beyond_the_largest_exponent_stay_true_bounds():
    largest = rounding_context(2, Rounding.CEILING).Emax
    assert significant(Decimal((0, (9, 9, 9), largest - 2)), 2, Rounding.CEILING) == Decimal("inf")
    assert significant(Decimal((0, (9, 9, 9), largest - 2)), 2, Rounding.FLOOR).is_finite()


@pytest.mark.parametrize("wrong", [nan, Decimal("nan"), Decimal("sNaN"), np.float64(nan), "1", True, flint.arb(1)])
def test_what_is_no_number_is_refused(wrong):
    for print_bound in (at_most, at_least):
        with pytest.raises(InvalidInput, match="number = "):
            print_bound(wrong, 3)
