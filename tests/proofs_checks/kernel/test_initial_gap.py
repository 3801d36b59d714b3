"""A run's initial gap, and conditions that bound no parameter: what the kernel knows of them; misuses are refused."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import after, infimum, number, parameter, server, value
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import During, Hypothesis, facts

from .attacks import accepted, by_sign, one_line, refused

delta, L, T = map(parameter, ("delta", "L", "T"))
RUN = ClaimSetting(
    method="FedGD", method_parameters={"stepsize": 1 / L, "local_steps": number(1)}, curvature=(-L, L),
    signs={"L": "positive", "delta": "nonnegative", "T": "positive"}, counts=frozenset(("T",)),
    bounded_below=True, initial_gap=delta, example={"L": Fraction(1), "delta": Fraction(2), "T": Fraction(3)},
)  # fmt: skip
GAP = value(server(0)) - infimum


def known(when: str) -> Any:
    return ((1, During(when, facts((1, Hypothesis("initial gap"))))),)


def test_the_run_starts_with_the_gap() -> None:
    assert accepted(RUN, at_most(GAP, delta, rounds="T"), known("start"))


@pytest.mark.parametrize(
    ("setting", "claim", "when"),
    [
        (RUN, at_most(GAP, delta / 2, rounds="T"), "start"),
        (RUN, at_most(after(GAP), delta, rounds="T"), "start"),
        (RUN, at_most(after(GAP), delta, rounds="T"), "end"),
        (RUN, at_most(GAP, delta, rounds="T"), "rounds"),
        (replace(RUN, initial_gap=None), at_most(GAP, delta, rounds="T"), "start"),
        (replace(RUN, bounded_below=False), at_most(GAP, delta, rounds="T"), "start"),
        (replace(RUN, initial_gap=-delta), at_most(GAP, -delta, rounds="T"), "start"),
        (replace(RUN, large_gradient=L), at_most(GAP, delta, rounds="T"), "start"),
    ],
    ids=["smaller", "later", "at the end", "in all rounds", "unknown", "no infimum", "negative", "a large gradient"],
)  # fmt: skip
def test_nothing_else_has_the_gap(setting: ClaimSetting, claim: Claim, when: str) -> None:
    refused(setting, claim, one_line(claim, known(when)))


def test_no_later_round_has_the_gap() -> None:
    refused(RUN, at_most(GAP, delta), one_line(at_most(GAP, delta), ((1, Hypothesis("initial gap")),)))


# A condition that is linear in no parameter.

x, y, z = map(parameter, "xyz")
FORM = x**2 + y**2 - 3 * x * y
CURVED = ClaimSetting(
    signs={"x": "positive", "y": "positive", "z": "positive"}, conditions=((x**2 + y**2, ">=", 3 * x * y),),
    example={"x": Fraction(3), "y": Fraction(1), "z": Fraction(1)},
)  # fmt: skip


def test_multiples_of_a_condition_are_not_negative() -> None:
    for what in (FORM, z * FORM, FORM / (x + z), 2 * FORM * (x + 1) / y):
        assert theorem(CURVED, *by_sign(0, what))


@pytest.mark.parametrize("what", [-FORM, FORM - 1, (x - y) * FORM, FORM - x * y / 2, x**2 + y**2 - 4 * x * y, x - y])
def test_other_numbers_may_be_negative(what: object) -> None:
    refused(CURVED, *by_sign(0, what))


def test_the_multiple_is_by_a_positive_number() -> None:
    signed = replace(CURVED, signs={**CURVED.signs, "z": "real"})
    refused(signed, *by_sign(0, z * FORM))
    refused(signed, *by_sign(0, z**2 * FORM))  # 0 at z = 0, where the sign is not visible as positive
    refused(CURVED, *by_sign(0, 1 / FORM))  # divides by what may be 0
    other = replace(CURVED, conditions=((x**2 + y**2, ">=", 2 * x * y),))
    refused(other, *by_sign(0, FORM))
