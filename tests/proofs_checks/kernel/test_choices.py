"""Conditions that say what a parameter is: it is that formula, and no other."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import ClaimSetting, at_most, equal
from fedconvex.claims.terms import parameter
from fedconvex.proofs_checks.kernel.proofs import Nonnegative

from .attacks import ONE, Attack, a, accepted, some

b, c = parameter("b"), parameter("c")
TWICE = some("a", "b", conditions=((a, "=", 2 * b),), example={"a": Fraction(2), "b": Fraction(1)})


def test_a_parameter_that_a_condition_chooses_is_that_formula() -> None:
    assert accepted(TWICE, equal(a**2 / b, 4 * b))
    assert accepted(TWICE, at_most(b, a), ((1, Nonnegative(b)),))
    larger = some("a", "b", "c", conditions=((c, ">=", a), (b, ">=", ONE), (a, "=", b.max(ONE)), (c, "=", a + ONE)),
                  example={"a": Fraction(2), "b": Fraction(2), "c": Fraction(3)})  # fmt: skip
    assert accepted(larger, equal(c, b + 1))  # conditions on b decide the maximum, wherever they stand
    again = some("a", "b", conditions=((a, "=", b), (b, "=", a), (a, "=", b)))
    assert accepted(again, equal(a, b))
    itself = some("a", conditions=((a, "=", 2 - a),))
    assert accepted(itself, at_most(a, ONE), ((1, Nonnegative(1 - a)),))
    rooted = some("a", "b", conditions=((a, "=", b),))
    assert accepted(rooted, at_most(a.sqrt(), b.sqrt()), ((1, Nonnegative(b.sqrt() - a.sqrt())),))


@pytest.mark.parametrize(
    ("setting", "claim"),
    [
        (TWICE, equal(a, b)),
        (TWICE, equal(b, 2 * a)),
        (some("a", "b", conditions=((a, ">=", 2 * b),), example={"a": Fraction(2), "b": Fraction(1)}), equal(a, 2 * b)),
        (some("a", "b", conditions=((2 * a, "=", 2 * b),)), equal(a, b + 1)),
        (some("a", conditions=((a, "=", 2 - a),)), equal(a, 3 - a)),
    ],
    ids=["another formula", "the other way round", "a bound", "no parameter alone", "itself"],
)
def test_a_choice_is_that_formula_and_no_other(setting: ClaimSetting, claim: Any) -> None:
    Attack("is left", setting, claim).is_refused()


def test_a_choice_that_contradicts_another_condition_is_no_setting() -> None:
    for conditions in (((a, "=", b), (b, ">", a)), ((a, "=", b), (a, "=", b + 1))):
        Attack("outside the domain", some("a", "b", conditions=conditions), equal(a, b)).is_refused()


def test_an_undecided_choice_is_refused() -> None:
    setting = some("a", "b", conditions=((a, "=", b.max(ONE)),))
    Attack("undecided maximum", setting, at_most(b, a), ((1, Nonnegative(a - b)),)).is_refused()
