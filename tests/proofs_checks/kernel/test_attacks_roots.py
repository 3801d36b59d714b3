"""Attacks with roots and exponentials: too many are refused before any work; no false relation of them is proved."""

from itertools import islice
from typing import Any

import pytest

from fedconvex.claims import ClaimSetting, at_most
from fedconvex.claims.terms import Number, number, parameter
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, Nonnegative, facts
from fedconvex.proofs_checks.library import with_example

x = parameter("x")
SETTING = with_example(ClaimSetting(signs={"x": "positive"}))


def proved(left: Any, right: Any) -> None:
    """The claim left ≤ right, by the sign of the difference. Raises Refused."""
    left, right = number(left), number(right)
    line = Combine(left, right, facts((1, Nonnegative(right - left))))
    theorem(SETTING, at_most(left, right), Derivation((line,)))


def total(terms: Any, count: int) -> Number:
    return sum(islice(terms, count), start=number(0))


@pytest.mark.parametrize("made", [lambda k: (x + k).sqrt(), lambda k: (x * k).exp()], ids=["roots", "exponentials"])
def test_too_many_are_refused_and_few_are_not(made: Any) -> None:
    """Two hundred roots of sums once took more than three minutes."""
    proved(0, total(map(made, range(1, 6)), 5))
    with pytest.raises(Refused, match="too many roots and exponentials"):
        proved(0, total(map(made, range(1, 201)), 200))


def test_what_is_known_of_the_exponential_function() -> None:
    proved(1 + x, x.exp())
    for left, right in ((x.exp(), 1 + x), (1, (-x).exp()), (2, x.exp() * (-x).exp()), (x.exp(), 0)):
        with pytest.raises(Refused):
            proved(left, right)
