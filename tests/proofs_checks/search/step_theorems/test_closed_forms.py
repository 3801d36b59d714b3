"""Closed forms in the number of local steps: found, and refused where there is none."""

from typing import Any

import pytest
from flint import fmpq

from fedconvex.proofs_checks.search.step_theorems.step_forms import SumOfPowers, closed_form

q = fmpq(3, 7)
PLACES = [(e, i) for e in range(2, 12) for i in range(e)]
ALONE = [(e, 0) for e in range(2, 14)]


def total(n: int) -> Any:
    """S_n = 1 + q + … + q^{n−1}, added up."""
    return sum((q**j for j in range(n)), fmpq(0))


def value(form: SumOfPowers, e: int, i: int) -> Any:
    return form.at(fmpq(e), fmpq(i), q**e, q**i)


def test_scaffolds_multipliers_are_found_and_hold_at_other_numbers() -> None:
    """2q^{2(e−i)−1}S_{i+1}, two terms."""
    found = closed_form({(e, i): 2 * q ** (2 * (e - i) - 1) * total(i + 1) for e, i in PLACES}, q)
    assert found is not None
    assert set(found.terms) == {(2, -2, 0, 0), (2, -1, 0, 0)}
    assert value(found, 30, 17) == 2 * q**25 * total(18)


def test_polynomials_and_powers_together() -> None:
    found = closed_form({(e, i): fmpq(e) * q ** (e - i) - 3 * fmpq(i) for e, i in PLACES}, q)
    assert found is not None
    assert value(found, 20, 3) == 20 * q**17 - 9
    only = closed_form({place: fmpq(5, place[0] ** 2) for place in ALONE}, q)
    assert only is not None
    assert dict(only.terms) == {(0, 0, -2, 0): 5}


@pytest.mark.parametrize("wrong", [(5, 2), (11, 10)])
def test_one_wrong_value_leaves_no_form(wrong: tuple[int, int]) -> None:
    values = {(e, i): q ** (2 * (e - i)) for e, i in PLACES}
    assert closed_form(values, q) is not None
    assert closed_form(values | {wrong: values[wrong] + fmpq(1, 10**9)}, q) is None


def test_sums_of_quotients_have_none() -> None:
    """As what SCAFFOLD's steps take of ‖D‖² together."""
    values = {(e, i): sum((1 / (2 * total(j) - 1) for j in range(2, e - i + 2)), fmpq(0)) for e, i in PLACES}
    assert closed_form(values, q) is None


def test_few_values_show_nothing() -> None:
    assert closed_form({(2, 0): fmpq(1), (2, 1): fmpq(2)}, q) is None


def test_coefficients_follow_from_few_values_and_contradictions_are_seen() -> None:
    shape = SumOfPowers({(1, -1, 0, 0): fmpq(1), (0, 0, 1, 0): fmpq(1)})
    values = {(e, i): 7 * q ** (e - i) - fmpq(e, 3) for e in (2, 3) for i in range(e)}
    exact = shape.with_coefficients(values, q)
    assert exact is not None
    assert dict(exact.terms) == {(1, -1, 0, 0): 7, (0, 0, 1, 0): fmpq(-1, 3)}
    assert shape.with_coefficients(values | {(3, 2): fmpq(0)}, q) is None
