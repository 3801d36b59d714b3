"""Linear equations by FLINT, and by the elimination that any other field of numbers uses, are solved alike."""

from fractions import Fraction
from typing import Any

from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from fedconvex.arithmetic.linear_systems import System, applied, echelon, kernel, product, solution

WIDTH = 4
rows = st.lists(st.lists(st.integers(-3, 3), min_size=WIDTH, max_size=WIDTH), min_size=1, max_size=5)


def exact(table: list[list[int]]) -> list[list[Any]]:
    return [[fmpq(x) for x in row] for row in table]


@given(rows)
def test_fractions_have_the_echelon_form_of_flints_numbers(table: list[list[int]]) -> None:
    found, pivots = echelon([[Fraction(x) for x in row] for row in table], WIDTH)
    known, places = echelon(exact(table), WIDTH)
    assert pivots == places
    assert found == [[Fraction(int(x.p), int(x.q)) for x in row] for row in known]


@given(rows)
def test_the_kernel_is_orthogonal_and_as_large_as_it_may_be(table: list[list[int]]) -> None:
    basis = kernel(exact(table), WIDTH)
    assert len(basis) == WIDTH - len(echelon(exact(table), WIDTH)[1])
    assert not any(any(row) for row in product(exact(table), [*map(list, zip(*basis, strict=True))], len(basis)))


@given(rows)
def test_equations_one_after_the_other_are_those_all_at_once(table: list[list[int]]) -> None:
    """The last column is the right side."""
    made: System | None = System(WIDTH - 1)
    for row in exact(table):
        made = None if made is None else made.with_row(row)
    left, right = [row[:-1] for row in exact(table)], [row[-1] for row in exact(table)]
    found = solution(left, right, WIDTH - 1)
    assert (made is None) == (found is None)
    if made is not None and found is not None:
        assert applied(left, found) == right
        assert len(made.rows) == len(echelon(left, WIDTH - 1)[1])
        assert not made.is_solved or made.solution == found
