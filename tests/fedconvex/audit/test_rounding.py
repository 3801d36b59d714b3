"""Printed bounds stay on the safe side."""

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.audit.rounding import at_least, at_most, significant

FLOATS = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(FLOATS, st.integers(1, 8))
def test_printed_bounds_hold_and_are_near(value, digits):
    above, below = (Fraction(f(value, digits).split()[1].replace("−", "-")) for f in (at_most, at_least))
    assert below <= Fraction(value) <= above
    assert above - below <= abs(Fraction(value)) * Fraction(10) ** (1 - digits)


def test_nearest_would_not_do():
    assert at_most(2.91e-12, 2) == "≤ 3e-12"
    assert f"{2.91e-12:.1e}" == "2.9e-12"
    assert at_least(0.0469385999, 6) == "≥ 0.0469385"
    assert at_least(0.001, 6) == "≥ 0.001"


@pytest.mark.parametrize(("value", "text"), [(float("inf"), "≤ ∞"), (0.0, "≤ 0"), (256.0, "≤ 256"), (9.99, "≤ 1e+01")])
def test_special_values(value, text):
    assert at_most(value, 3 if value == 256 else 1) == text


def test_significant_keeps_what_is_short_enough():
    assert significant(0.5, 3, ROUND_CEILING) == significant(0.5, 3, ROUND_FLOOR) == Fraction(1, 2)
