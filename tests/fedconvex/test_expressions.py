"""Formulas in experiments' files: their values, and that they can do nothing but compute."""

import math
from typing import Any

import pytest

from fedconvex.errors import InvalidInput
from fedconvex.expressions import Truth, evaluate

NAMES = {"L": 4.0, "sqrt": math.sqrt, "text": "b", "inf": math.inf, "nan": math.nan, "len": len}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/L", 0.25), ("-L ** 2 + 3 * 2", -10.0), ("sqrt(L) - 1e-3", 1.999), ("'a' + text", "ab"), ("len('abc')", 3),
    ],
)  # fmt: skip
def test_values(text: str, value: Any) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("1 < L <= 4", Truth(True, "1 < 4 ≤ 4")),
        ("L > 5", Truth(False, "4 > 5")),
        ("1 < 2 and L > 5", Truth(False, "1 < 2 and 4 > 5")),
        ("1 < 2 or L > 5", Truth(True, "1 < 2 or 4 > 5")),
        ("not L > 5", Truth(True, "not (4 > 5)")),
        ("1 < inf", Truth(True, "1 < inf")),
        ("inf >= inf", Truth(True, "inf ≥ inf", known=False)),
        ("nan < 1", Truth(False, "nan < 1", known=False)),
        ("1 < 2 and nan > 1", Truth(False, "1 < 2 and nan > 1", known=False)),
    ],
)
def test_comparisons_keep_their_numbers(text: str, truth: Truth) -> None:
    assert evaluate(text, NAMES) == truth


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "L.real", "[1, 2]", "(lambda: 1)()", "L if L else 1", "text[0]", "open('x')", "1 == 1",
        "(" * 5000 + "1" + ")" * 5000, "-" * 100_000 + "1", "9" * 5000,
        "sqrt", "f'{L}'", "L(1)", "", "1 +", "True", "b''", "x := 1", "[i for i in text]", "*text",
    ],
)  # fmt: skip
def test_everything_else_is_refused(text: str) -> None:
    if text == "sqrt":
        assert evaluate(text, NAMES) is math.sqrt  # a name, harmless: what is not called is never compared
        return
    with pytest.raises(InvalidInput, match="where = "):
        evaluate(text, NAMES, "where")


@pytest.mark.parametrize("text", [
    "1/(L-4)", "L + text", "sqrt(text)", "10.0 ** 400", "9**9**9", "2 ** 2 ** 100", "'a' * 10000000000", "text ** 2",
    "3 * text", "sqrt(-1)", "9" * 400 + " / 3",
])  # fmt: skip
def test_what_cannot_be_computed_is_an_error_by_name(text: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be computed"):
        evaluate(text, NAMES, "where")
