"""A run's initial gap, and conditions that bound no parameter: what the kernel knows of them; misuses are refused."""

from dataclasses import replace
from fractions import Fraction

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.terms import after, infimum, number, parameter, server, value
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Combine, Derivation, During, Fact, Hypothesis, Nonnegative, facts

delta, L, T = map(parameter, ("delta", "L", "T"))
RUN = ClaimSetting(
    method="FedGD", method_parameters={"stepsize": 1 / L, "local_steps": number(1)}, curvature=(-L, L),
    signs={"L": "positive", "delta": "nonnegative", "T": "positive"}, counts=frozenset(("T",)),
    bounded_below=True, initial_gap=delta, example={"L": Fraction(1), "delta": Fraction(2), "T": Fraction(3)},
)  # fmt: skip
GAP = value(server(0)) - infimum


def accepted(setting: ClaimSetting, claim: Claim, fact: Fact) -> bool:
    try:
        theorem(setting, claim, Derivation((Combine(claim.left, claim.right, facts((1, fact))),)))
    except Refused:
        return False
    return True


def known(when: str) -> During:
    return During(when, facts((1, Hypothesis("initial gap"))))


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
    assert not accepted(setting, claim, known(when))


def test_no_later_round_has_the_gap() -> None:
    assert not accepted(RUN, at_most(GAP, delta), Hypothesis("initial gap"))


# A condition that is linear in no parameter.

x, y, z = map(parameter, "xyz")
FORM = x**2 + y**2 - 3 * x * y
CURVED = ClaimSetting(
    signs={"x": "positive", "y": "positive", "z": "positive"}, conditions=((x**2 + y**2, ">=", 3 * x * y),),
    example={"x": Fraction(3), "y": Fraction(1), "z": Fraction(1)},
)  # fmt: skip


def shows(setting: ClaimSetting, what: object) -> bool:
    claim = at_most(number(0), what)
    return accepted(setting, claim, Nonnegative(claim.right))


def test_multiples_of_a_condition_are_not_negative() -> None:
    assert all(shows(CURVED, what) for what in (FORM, z * FORM, FORM / (x + z), 2 * FORM * (x + 1) / y))


@pytest.mark.parametrize("what", [-FORM, FORM - 1, (x - y) * FORM, FORM - x * y / 2, x**2 + y**2 - 4 * x * y, x - y])
def test_other_numbers_may_be_negative(what: object) -> None:
    assert not shows(CURVED, what)


def test_the_multiple_is_by_a_positive_number() -> None:
    signed = replace(CURVED, signs={**CURVED.signs, "z": "real"})
    assert not shows(signed, z * FORM)
    assert shows(signed, z**2 * FORM) is False  # 0 at z = 0, where the sign is not visible as positive
    assert not shows(CURVED, 1 / FORM)  # divides by what may be 0
    other = replace(CURVED, conditions=((x**2 + y**2, ">=", 2 * x * y),))
    assert not shows(other, FORM)
