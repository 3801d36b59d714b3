"""Claims that solve a count of rounds for the accuracy: only of counts of which that is the solution."""

from fractions import Fraction
from typing import Any

import pytest
from worlds import evaluated

from fedconvex.claims.agreement import at_terms
from fedconvex.claims.terms import IllFormed, Number, named, parameter
from fedconvex.theory import fedsplit
from fedconvex.theory.fedsplit.vectors import accuracy_at, within

epsilon, kappa, t, L = map(parameter, ("epsilon", "kappa", "t", "L"))
logarithm = epsilon.log()


@pytest.mark.parametrize(
    "count",
    [
        -logarithm * kappa,
        (L / epsilon).log(),
        kappa * (L / epsilon).log() / 4,
        named("T", kappa * (L / epsilon).log()),
        -(logarithm * kappa),
    ],
    ids=range(5),
)
def test_the_accuracy_solves_the_count(count: Number) -> None:
    """In numbers: at the ε that is claimed, t is half the count."""
    at = {"kappa": 3.0, "L": 5.0, "t": 2.0}
    found = evaluated(accuracy_at(Fraction(1, 2), count), at)
    assert evaluated(count, {**at, "epsilon": found}) / 2 == pytest.approx(at["t"])


@pytest.mark.parametrize(
    "count",
    [
        logarithm + kappa,  # a count with a second term
        kappa - logarithm,
        logarithm * logarithm,
        logarithm * epsilon,  # the slope contains ε
        logarithm * t,
        logarithm / epsilon,
        kappa / logarithm,
        (epsilon**2).log(),
        (L / epsilon**2).log(),
        (L * t / epsilon).log(),
        (epsilon * L).log(),
        kappa.log(),
        logarithm.log(),
        logarithm.sqrt(),
        kappa,
    ],
    ids=range(15),
)
def test_a_count_that_is_no_multiple_of_a_logarithm_is_refused(count: Number) -> None:
    with pytest.raises(IllFormed, match="no multiple of"):
        accuracy_at(1, count)


@pytest.mark.parametrize(
    "count",
    [L / epsilon, (L / epsilon).sqrt() * 2, (L / epsilon**2).sqrt(), (L + epsilon).sqrt(), (epsilon / L).sqrt()],
)
def test_a_count_that_is_no_root_of_one_over_the_accuracy_is_refused(count: Any) -> None:
    with pytest.raises(IllFormed, match="not the root"):
        within(100, count)


def test_the_papers_counts_have_these_forms() -> None:
    assert within(100, at_terms(fedsplit.theorem2.calculator)) == fedsplit.theorem2.claim
    for count in at_terms(fedsplit.equation22.calculator):
        accuracy_at(Fraction(1, 2), count)
    accuracy_at(1, at_terms(fedsplit.theorem2corrected.calculator))
