"""The exact root test against polynomials whose roots are known, at the boundary too, and against NumPy's roots."""

from fractions import Fraction
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few

from fedconvex.fixed_points.one_round import roots_inside_unit_circle

CENTRES = st.builds(Fraction, st.integers(-9, 9), st.integers(1, 6))


def product(factors: list[list[Fraction]]) -> list[Fraction]:
    """Coefficients, the constant first, of a product of such polynomials."""
    result = [Fraction(1)]
    for factor in factors:
        longer = [Fraction(0)] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(factor):
                longer[i + j] += a * b
        result = longer
    return result


@few
@given(
    real=st.lists(CENTRES, max_size=3),
    pairs=st.lists(st.tuples(CENTRES, CENTRES), max_size=2),
    scale=st.integers(1, 7),
    sign=st.sampled_from([-1, 1]),
)
def test_known_roots(real, pairs, scale, sign) -> None:
    """Roots p and a ± bi, multiplied by the scale: on the circle is not inside."""
    factors = [[-scale * p, Fraction(1)] for p in real]
    factors += [[scale**2 * (a * a + b * b), -2 * scale * a, Fraction(1)] for a, b in pairs]
    coefficients = product(factors)
    cleared = sign * lcm(*(c.denominator for c in coefficients))
    inside = all(abs(p) < 1 for p in real) and all(a * a + b * b < 1 for a, b in pairs)
    assert roots_inside_unit_circle([int(c * cleared) for c in coefficients], scale) == inside


@few
@given(coefficients=st.lists(st.integers(-9, 9), min_size=2, max_size=7).filter(lambda c: c[-1] != 0))
def test_numeric_roots(coefficients) -> None:
    radius = max(abs(np.roots(coefficients[::-1])), default=0.0)
    if abs(radius - 1) > 0.05:
        assert roots_inside_unit_circle(coefficients) == (radius < 1)


@pytest.mark.parametrize(
    ("coefficients", "scale", "inside"),
    [
        ([-1, 1], 1, False),  # z − 1
        ([1, 1], 1, False),  # z + 1
        ([1, 0, 1], 1, False),  # z² + 1
        ([1, 1, 1], 1, False),  # third roots of unity
        ([-1, 0, 4], 1, True),  # z² − 1/4
        ([-1, 0, 4], 2, True),
        ([-1, 0, 1], 2, True),  # (z² − 1)/…: roots ±1, halved
        ([-4, 0, 1], 2, False),  # roots ±2, halved: on the circle
        ([-4, 0, 1], 3, True),
        ([0, 1], 1, True),  # z
        ([0, -1, 1], 1, False),  # z(z − 1)
        ([0, 0, 0, 5], 1, True),  # nilpotent
        ([7], 1, True),  # no roots
        ([-(10**40 - 1), 10**40], 1, True),  # root 1 − 1e-40: beyond floats
        ([-(10**40 + 1), 10**40], 1, False),
    ],
)
def test_roots_at_the_boundary(coefficients, scale, inside) -> None:
    assert roots_inside_unit_circle(coefficients, scale) is inside
