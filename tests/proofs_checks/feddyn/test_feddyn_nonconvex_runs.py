"""FedDyn without convexity: how much of its bounds is used, and exact runs that keep the sharper ones."""

from fractions import Fraction
from typing import Any

import pytest
from drawn_federations import drawn
from feddyn_quantities import of, quantities, slopes

from fedconvex.proofs_checks.feddyn.tightness import tightness
from fedconvex.theory import feddyn

pytestmark = pytest.mark.beyond_core  # takes seconds


def quotient(key: str) -> Any:
    found = tightness(feddyn.PAPER.find(key), key)
    assert found is not None
    return found.quotient


def test_quotients_found() -> None:
    assert quotient("lemma11") == Fraction(1, 3)
    assert quotient("lemma11sharper") == 1
    assert quotient("lemma12sharper") == 1
    assert quotient("theorem4") > Fraction(1, 3)


@pytest.mark.parametrize("number", range(25))
def test_exact_runs_keep_the_sharper_lemmas(number: int) -> None:
    found = quantities(drawn(number, 4), False)
    for name in ("lemma11sharper", "lemma10sharper"):
        assert of(feddyn.PAPER.find(name).left, found) <= of(feddyn.PAPER.find(name).calculator, found), name
    assert found["C_next"] <= of(feddyn.lemma12sharper.calculator, found)
    far = quantities(drawn(number, 20), False)
    assert of(feddyn.lemma10assummed.left, far) <= of(feddyn.lemma10assummed.calculator, far)


def test_the_sharper_theorem_is_below_the_papers() -> None:
    for number in range(40):
        curvatures, _, alpha, P, _, t = drawn(number, 20)
        given = {
            "alpha": alpha, "L": max(map(abs, curvatures)), "num_clients": Fraction(len(curvatures)), "num_active": P,
            "T": t, "delta": Fraction(3), "spread": Fraction(5),
        }  # fmt: skip
        assert feddyn.nonconvex_bound_sharper(**given) < feddyn.nonconvex_bound(**given) * Fraction(3, 4)


def test_a_smaller_theorem_would_be_false() -> None:
    """On ½θ² with α = 4, over many rounds, the sharper bound is used to a quarter: a tenth of it does not hold."""
    happens, promised = slopes(feddyn.theorem4sharper)(((1,), (0,), 4, 1, 1, 20))
    assert promised / 10 < happens <= promised
