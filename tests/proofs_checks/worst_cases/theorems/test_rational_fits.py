"""Rational functions found again from their values, and numbers that are rational functions."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
import sympy
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import fitted
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Functions, Parameters, at

x, y = sympy.symbols("x y", positive=True)
FUNCTIONS = Functions((x, y))


def points(count: int) -> list[list[Any]]:
    random = Random(count)
    return [[fmpq(random.randint(1, 50), random.randint(1, 9)) for _ in range(2)] for _ in range(count)]


@pytest.mark.parametrize(
    "expression", [x / (x + y), (x - y) ** 2 / (1 + x * y), sympy.Integer(3), x**3 - y, 1 / (x**2 + y**2 + 1), x * 0]
)
def test_a_function_is_found_again(expression: Any) -> None:
    function = FUNCTIONS.of(expression)
    at_points = points(60)
    values = [at(function, point) for point in at_points]
    assert fitted(FUNCTIONS.field, at_points, values) == function
    few = [*values[:57], *(value + 1 for value in values[57:])]  # special points, where other values are right
    assert fitted(FUNCTIONS.field, at_points, few) == function


@pytest.mark.beyond_core  # takes seconds
def test_values_of_no_rational_function_are_not_fitted() -> None:
    at_points = points(60)
    assert fitted(FUNCTIONS.field, at_points, [abs(a - b) for a, b in at_points]) is None
    assert fitted(FUNCTIONS.field, at_points[:5], [a / (a + b) for a, b in at_points[:5]]) is None  # too few


@given(st.fractions(min_value=Fraction(1, 9), max_value=9), st.fractions(min_value=Fraction(1, 9), max_value=9))
def test_parametric_numbers_calculate_as_fractions_do(a: Fraction, b: Fraction) -> None:
    numbers = Parameters({x: a, y: b}).numbers

    def formula(u: Any, v: Any) -> Any:
        return (2 * u - v / 3) / (u + 1) + 1 / v - (u * v) ** 2 + u / 2

    found = formula(numbers["x"], numbers["y"])
    assert to_fraction(found.sampled) == formula(a, b)
    assert fmpq(1, 2) + found - Fraction(1, 2) == found == 2 * found / fmpq(2)


@pytest.mark.parametrize(
    "expression",
    [(x - 2) ** 3 / (3 * x * y), sympy.Mul(sympy.Rational(-2, 3), x + y, evaluate=False), 1 / (1 + y) ** 2, x * 0],
)
def test_expressions_are_read_and_written_back_in_factors(expression: Any) -> None:
    assert FUNCTIONS.factored(FUNCTIONS.of(sympy.expand(expression))) == expression
    assert sympy.cancel(FUNCTIONS.quotient(FUNCTIONS.of(expression)) - expression) == 0


@pytest.mark.parametrize("wrong", [sympy.sqrt(x), sympy.Symbol("z"), x**y, sympy.exp(x)])
def test_what_is_no_rational_function_is_not_read(wrong: Any) -> None:
    with pytest.raises(ValueError, match="is no rational function of x, y"):
        FUNCTIONS.of(wrong)


def test_functions_of_the_first_symbols_are_functions_of_all_of_them_and_of_no_others() -> None:
    few, all_of_them = Parameters({x: Fraction(2)}), Parameters({x: Fraction(2), y: Fraction(3)})
    inside, outside = few.numbers["x"] + 1, Parameters({y: Fraction(3)}).numbers["y"]
    assert all_of_them.number(inside) == all_of_them.numbers["x"] + 1
    with pytest.raises(Refused, match="other symbols"):
        all_of_them.number(outside)


def test_comparisons_are_noted() -> None:
    parameters = Parameters({x: Fraction(2), y: Fraction(3)})
    u, v = parameters.numbers["x"], parameters.numbers["y"]
    assert u < v
    assert not u >= v
    assert u > 0  # by the symbol's own sign: nothing to note
    assert list(parameters.comparisons) == [sympy.Lt(x - y, 0)]
    assert u != v
    assert u / u == 1
    with pytest.raises(TypeError, match="compared"):
        u < "2"  # noqa: B015
