"""Constants given to `bounds_for` in place of measured ones, and what it refuses."""

from fractions import Fraction
from typing import Any

import pytest
import reference_fedprox
from diagonal_problems import BIG, EQUAL, HALF, TWINS, WEIGHTED, Truth, bounds, close
from mpmath import mpf
from problem_makers import real

import fedconvex as fc
from fedconvex import participation
from fedconvex.errors import InvalidInput
from fedconvex.theory import bounds_for
from fedconvex.theory.bounds import Applies, DoesNot
from fedconvex.verdicts import Verdict

REFUTED = Verdict.REFUTED


def test_given_constants_replace_measured_ones() -> None:
    found = bounds(TWINS, BIG, WEIGHTED, L=4, B=2, epsilon=Fraction(1, 1000))
    entry = found["fedprox.equation7"]
    assert isinstance(entry, Applies)
    assert (entry.parameters["L"], entry.parameters["B"]) == (4, 2)
    slope = real(Truth(TWINS, BIG).square) ** 0.5
    assert close(entry.value, reference_fedprox.equation7(60, mpf(4), mpf(0), mpf(2), mpf(0), slope))
    assert isinstance(found["fedprox.remark8"], DoesNot)  # it is about mu = 6L(1 + sigma2/epsilon)
    found = bounds(TWINS, fc.FedProx(mu=48), WEIGHTED, L=4, sigma2=HALF, epsilon=HALF)
    assert isinstance(found["fedprox.remark8"], Applies)
    assert isinstance(bounds(TWINS, BIG, WEIGHTED)["fedprox.remark8"], DoesNot)


def test_weaker_given_constants_give_weaker_bounds() -> None:
    """L = 3 for 2, K = 100 for 200 and γ = 1/10 for 0 are true, too; ρ falls."""
    best = bounds(TWINS, BIG, WEIGHTED)["fedprox.theorem4"].value
    for given_ in ({"L": 3}, {"K": 100}, {"gamma": Fraction(1, 10)}, {"L_minus": 1}, {"B": Fraction(11, 10)}):
        weaker = bounds(TWINS, BIG, WEIGHTED, **given_)["fedprox.theorem4"]
        assert isinstance(weaker, Applies), given_
        assert weaker.value < best, given_


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidInput, match="smoothness") as error:
        bounds(EQUAL, BIG, smoothness=3)
    assert "L_minus" in str(error.value)  # what could have been meant


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (("EQUAL", BIG), "problem"),
        ((None, BIG), "problem"),
        ((EQUAL, "FedProx"), "method"),
        ((EQUAL, fc.FedProx), "method"),
        ((EQUAL, BIG, participation.Uniform(9)), "K"),
    ],
)
def test_what_is_no_problem_or_method(arguments: Any, culprit: str) -> None:
    with pytest.raises(InvalidInput, match=culprit):
        bounds_for(*arguments)
