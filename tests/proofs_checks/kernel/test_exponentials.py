"""Exponentials and roots in claims: the kernel knows that exp(x) is positive and at least 1 + x, and nothing else."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, number_at
from fedconvex.claims.terms import free, norm, number, parameter, square
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import with_example

from .attacks import by_sign, refused, same

c, x = parameter("c"), free("x")
SETTING = with_example(ClaimSetting(signs={"c": "positive"}, conditions=((number(1), ">=", c),)))


def times_a_length(left: Any, right: Any) -> tuple[Claim, Derivation]:
    """left ≤ right, times ‖x‖, with the difference as the only fact."""
    return by_sign(left * norm(x), right * norm(x))


def test_what_is_known() -> None:
    theorem(SETTING, *times_a_length(1 - c, (-c).exp()))
    theorem(SETTING, *times_a_length(1 + c, c.exp()))
    theorem(SETTING, *times_a_length(number(0), (-c).exp()))
    theorem(SETTING, *times_a_length((1 + c) ** 2, c.exp() ** 2))
    theorem(SETTING, *times_a_length(2 + 3 * c, c.exp() + (2 * c).exp()))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (number(1), (-c).exp()),
        (number(2), c.exp() * (-c).exp()),
        (c.exp(), number(0)),
        ((-c).exp(), 1 - c),
        (c.exp(), 1 + c),
        (1 + 2 * c, c.exp()),
        (1 + c + c**2, c.exp()),
        (1 - c / 2, (-c).exp()),
        (c.exp(), (2 * c).exp()),  # true, and not known
        (c.exp() * (-c).exp(), number(1)),
        (c, c.log()),
    ],
)
def test_nothing_else_is(left: Any, right: Any) -> None:
    refused(SETTING, *times_a_length(left, right))


@pytest.mark.parametrize("made", [lambda k: (c + k).sqrt(), lambda k: (c * k).exp()], ids=["roots", "exponentials"])
def test_too_many_are_refused_and_few_are_not(made: Any) -> None:
    """Two hundred roots of sums once took more than three minutes."""
    theorem(SETTING, *by_sign(0, sum(map(made, range(1, 6)), start=number(0))))
    many = sum(map(made, range(1, 201)), start=number(0))
    refused(SETTING, *by_sign(0, many), "too many roots and exponentials")


def test_different_exponents_are_different_numbers() -> None:
    refused(SETTING, *same((2 * c).exp() * square(x), c.exp() ** 2 * square(x)), "is left")
    theorem(SETTING, *same((c + c).exp() * square(x), (2 * c).exp() * square(x)))


def test_exponents_are_of_parameters() -> None:
    refused(SETTING, *times_a_length(number(0), square(x).exp()), "depends on parameters only")


def test_values_on_runs() -> None:
    assert number_at(c.exp(), {"c": Fraction(0)}) == 1
    assert number_at(c.log(), {"c": Fraction(1)}) == 0
    ball = number_at(c.exp().log(), {"c": Fraction(1, 3)})
    assert ball.contains(number_at(c, {"c": Fraction(1, 3)}))
    with pytest.raises(NotOnThisRun, match="not a real number"):
        number_at(c.log(), {"c": Fraction(-1)})
