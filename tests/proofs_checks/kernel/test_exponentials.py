"""The exponential function in claims: the kernel knows that exp(x) is positive and at least 1 + x, and nothing else."""

from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, number_at
from fedconvex.claims.terms import free, norm, number, parameter, square
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Nonnegative
from fedconvex.proofs_checks.library import Parts, by, concluding, with_example

c, x = parameter("c"), free("x")
SETTING = with_example(ClaimSetting(signs={"c": "positive"}, conditions=((number(1), ">=", c),)))


def tried(left: Any, right: Any) -> Any:
    """left ≤ right, times ‖x‖, with the difference as the only fact."""
    claim = at_most(left * norm(x), right * norm(x))
    return theorem(SETTING, claim, Derivation((concluding(claim, by(Nonnegative((right - left) * norm(x)))),)))


def test_what_is_known() -> None:
    tried(1 - c, (-c).exp())
    tried(1 + c, c.exp())
    tried(number(0), (-c).exp())
    tried((1 + c) ** 2, c.exp() ** 2)
    tried(2 + 3 * c, c.exp() + (2 * c).exp())


@pytest.mark.parametrize(
    ("left", "right"),
    [
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
    with pytest.raises(Refused):
        tried(left, right)


def test_different_exponents_are_different_numbers() -> None:
    claim = Claim((2 * c).exp() * square(x), "=", c.exp() ** 2 * square(x))
    with pytest.raises(Refused, match="is left"):
        theorem(SETTING, claim, Derivation((concluding(claim, Parts()),)))
    same = Claim((c + c).exp() * square(x), "=", (2 * c).exp() * square(x))
    theorem(SETTING, same, Derivation((concluding(same, Parts()),)))


def test_exponents_are_of_parameters() -> None:
    with pytest.raises(Refused, match="depends on parameters only"):
        tried(number(0), square(x).exp())


def test_values_on_runs() -> None:
    assert number_at(c.exp(), {"c": Fraction(0)}) == 1
    assert number_at(c.log(), {"c": Fraction(1)}) == 0
    ball = number_at(c.exp().log(), {"c": Fraction(1, 3)})
    assert ball.contains(number_at(c, {"c": Fraction(1, 3)}))
    with pytest.raises(NotOnThisRun, match="not a real number"):
        number_at(c.log(), {"c": Fraction(-1)})
