"""Comparisons with the code and printed lines that fail: each is said only where it is seen."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import pytest

from fedconvex.claims.terms import Number, number, parameter
from fedconvex.proofs_checks.evidence import CodeComparison, EvidenceLine, FailingLine, equal

x, y = parameter("x"), parameter("y")
TWO = number(2)


def compared(compare: Callable[[int], tuple[Any, Any]], **more: Any) -> EvidenceLine:
    return CodeComparison("shown", "because", "(1)", compare, **more).line()


def failing(left: Number, relation: str, right: Number, *where: tuple[Number, Number], **at: Any) -> EvidenceLine:
    return FailingLine("shown", "because", "(1)", left, relation, right, at, where).line()


def said(line: EvidenceLine) -> tuple[str, str]:
    return line.role, line.verdict


def test_what_agrees_everywhere_is_compared_and_not_proved() -> None:
    seen: list[int] = []
    line = compared(lambda n: (seen.append(n), (n, [n, Fraction(1, 2)]))[1:] * 2, instances=3)
    assert said(line) == ("compared", "compared")
    assert line.detail == "equal to the running code on 3 exact instances"
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("compare", [
    lambda n: (n, n + (n == 19)),  # on the last instance alone
    lambda n: ([1, 2], [1, 3]),
    lambda n: ([[1], [2]], [[1], [n]]),
    lambda n: (1, Fraction(10**9 + 1, 10**9)),
    lambda n: (flint.arb(2).sqrt(), flint.arb(2).sqrt()),  # balls that only overlap are not seen to be equal
    lambda n: (None, 0),
])  # fmt: skip
def test_what_differs_on_one_instance_is_refuted(compare: Callable[[int], tuple[Any, Any]]) -> None:
    line = compared(compare)
    assert said(line) == ("compared", "refuted")
    assert line.detail.startswith("instance ")


def test_sequences_of_different_lengths_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="shorter"):
        equal([1, 2], [1])


def test_a_misprint_must_differ_from_the_code() -> None:
    assert said(compared(lambda n: (n, 3), as_printed=True)) == ("printed", "refuted")
    assert said(compared(lambda n: (n, n), as_printed=True)) == ("printed", "unknown")


@pytest.mark.parametrize(("left", "relation", "right", "sign"), [
    (x, "<=", TWO, "3 > 2"), (x, "<", number(3), "3 ≥ 3"), (x, "=", TWO, "3 ≠ 2"), (x**2, "<", 2 * x, "9 ≥ 6"),
    (x.sqrt(), "<=", number(Fraction(17, 10)), ">"),
])  # fmt: skip
def test_a_line_that_fails_is_refuted(left: Number, relation: str, right: Number, sign: str) -> None:
    line = failing(left, relation, right, x=3)
    assert said(line) == ("printed", "refuted")
    assert "it fails at x = 3" in line.detail
    assert sign in line.detail


@pytest.mark.parametrize(("left", "relation", "right"), [
    (x, "<=", number(3)), (x, "<", number(4)), (x, "=", number(3)), (TWO, "<=", x),
    (x.sqrt(), "=", x.sqrt()), (x.sqrt() ** 2, "<", x + 1), (x.sqrt() ** 2, "<=", x),  # balls that overlap
])  # fmt: skip
def test_a_line_that_holds_is_never_refuted(left: Number, relation: str, right: Number) -> None:
    line = failing(left, relation, right, x=3)
    assert said(line) == ("printed", "unknown")
    assert "not seen to fail" in line.detail


@pytest.mark.parametrize(("where", "about"), [
    (((x, y),), True), (((x, number(3)),), True), (((y, x),), False), (((x, y), (y, x)), False),
    (((TWO.sqrt() ** 2, TWO),), False),  # in balls not seen to hold
])  # fmt: skip
def test_a_point_that_the_line_is_not_about_refutes_nothing(where: Any, about: bool) -> None:
    line = failing(x, "<=", y, *where, x=3, y=1)
    assert said(line) == ("printed", "refuted" if about else "unknown")
    assert ("is not what the line is about" in line.detail) is not about


@pytest.mark.parametrize("at", [{}, {"y": 1}, {"x": 0}])
def test_a_line_without_a_value_at_the_point_refutes_nothing(at: dict[str, int]) -> None:
    with pytest.raises(Exception, match=r".+"):
        failing(1 / x, "<=", number(0), **at)
