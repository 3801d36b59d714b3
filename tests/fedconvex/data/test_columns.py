"""What a column holds: numbers in either notation, dates, identifiers, texts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fedconvex.data.columns import as_number, decimal_marks, of_numbers, of_series, of_texts

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SWAPPED = str.maketrans(",.", ".,")


@given(FINITE)
def test_a_number_is_read_exactly_in_either_notation(value: float) -> None:
    assert as_number(repr(value)) == value
    assert as_number(repr(value).replace(".", ","), ",") == value


@given(st.decimals(-(10**9), 10**9, places=2))
@example("0.00")  # type: ignore[arg-type]
def test_grouped_thousands_are_read_in_either_notation(value: object) -> None:
    grouped = f"{float(str(value)):,.2f}"
    assert as_number(grouped) == float(str(value))
    assert as_number(grouped.translate(SWAPPED), ",") == float(str(value))


@pytest.mark.parametrize("text", ["1,5", "1,23", "1,234,5", "1_000", "12,", "0x10", "1.234.567", "", "one", "1,,000"])
def test_what_is_no_number_with_a_decimal_point(text: str) -> None:
    assert math.isnan(as_number(text))


@pytest.mark.parametrize("text", ["1.5", "1,5,0", "1.23,4", "12.3456", "1,234.5", "1 00", "-"])
def test_what_is_no_number_with_a_decimal_comma(text: str) -> None:
    assert math.isnan(as_number(text, ","))


@pytest.mark.parametrize(
    ("texts", "marks", "doubtful"),
    [
        (["1,5", "1,234"], {","}, True),
        (["1.234,5"], {","}, False),
        (["1,234.5"], {"."}, False),
        (["1.5", "2"], {"."}, False),
        (["1,234", "12,345"], set(), True),
        (["1.234", "12.345"], set(), False),
        (["0,125"], {","}, False),
        (["red", "a,b", "12"], set(), False),
        (["1,234,567"], set(), True),
    ],
)
def test_what_texts_show_about_the_decimal_mark(texts: list[str], marks: set[str], doubtful: bool) -> None:
    assert decimal_marks(texts) == (marks, doubtful)


DATES = [
    ["2020-01-31", "2021-12-01"],
    ["2020-01-31 12:30", "2020-01-31T23:59:59"],
    ["31.01.2020", "1.2.20"],
    ["01/31/2020", "12/01/2020"],
    ["31 Jan 2020", "1 February 2021"],
    ["Jan 31, 2020", "Dec 1 2020"],
    ["2020/01/31"],
    ["2020-01-31T10:00:00Z", "2020-01-31T10:00:00+02:00"],
]
NO_DATES = [
    ["2020-13-01", "2020-01-01"],
    ["may", "june"],
    ["1-2", "3-4"],
    ["A1-B2-C3"],
    ["10.5.3 mg"],
    ["a", "2020-01-01"],
]


@pytest.mark.parametrize("texts", DATES, ids=" ".join)
def test_dates_are_recognised(texts: list[str]) -> None:
    assert of_texts("x", [*texts, None, "NA"]).content == "dates"


@pytest.mark.parametrize("texts", NO_DATES, ids=" ".join)
def test_what_is_no_date_is_not_taken_for_one(texts: list[str]) -> None:
    assert of_texts("x", texts).content in ("texts", "mixed")


def test_dates_of_eight_digits_are_recognised_by_the_columns_name() -> None:
    days = ["20200131", "20211201", ""]
    assert of_texts("admission_date", days).content == "dates"
    assert of_numbers("Datum", np.array([20200131, 20211201, np.nan])).content == "dates"
    assert of_texts("cost", days).content == "numbers"
    assert of_texts("admission_date", ["20200131", "20201301"]).content == "numbers"


@pytest.mark.parametrize(
    ("name", "cells", "identifier"),
    [
        ("patient", [f"P{i}" for i in range(12)], True),
        ("patient", [f"P{i // 2}" for i in range(12)], False),
        ("patient_id", list(range(12)), True),
        ("ID", list(range(12)), True),
        ("patientId", list(range(12)), True),
        ("id_of_patient", list(range(12)), True),
        ("case_no", list(range(12)), True),
        ("case_no", [*range(11), 0], False),
        ("patient_id", [0.5, *range(11)], False),
        ("patient_id", [0, 1, 2], False),  # few rows differ by chance
        ("acid", list(range(12)), False),
        ("solid", list(range(12)), False),
        ("piano", list(range(12)), False),
        ("income", list(range(12)), False),
    ],
)
def test_identifiers_are_recognised(name: str, cells: list[object], identifier: bool) -> None:
    assert of_texts(name, list(map(str, cells))).is_identifier is identifier
    if not isinstance(cells[0], str):
        assert of_numbers(name, np.array(cells, dtype=float)).is_identifier is identifier


@given(st.lists(st.sampled_from(["a", " a", "b", "1", "1.0", "NA", "", None]), min_size=1, max_size=12), st.data())
def test_rows_are_those_of_a_column_of_these_rows_alone(cells: list[str | None], data: st.DataObject) -> None:
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    part = of_texts("x", cells).rows(kept)
    alone = of_texts("x", [cell for cell, stays in zip(cells, kept, strict=True) if stays])
    assert part.labels().tolist() == alone.labels().tolist()
    assert sorted(part.texts) == sorted(alone.texts)
    assert (part.missing == alone.missing).all()
    assert part.content == alone.content or not kept.any()


@given(st.lists(st.one_of(st.none(), st.integers(-(2**60), 2**60)), min_size=1, max_size=8))
def test_a_series_keeps_its_whole_numbers_as_labels(values: list[int | None]) -> None:
    column = of_series("x", pd.Series(values, dtype="Int64"))
    assert column.labels().tolist() == ["" if value is None else str(value) for value in values]


def test_a_column_of_dates_can_still_name_the_clients() -> None:
    column = of_series("day", pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", None])))
    assert column.content == "dates"
    assert column.labels().tolist() == ["2020-01-01 00:00:00", "2020-01-02 00:00:00", ""]


@pytest.mark.parametrize("mark", ["-", "--", "."])
def test_a_dash_is_missing_among_numbers_and_a_class_among_texts(mark: str) -> None:
    numbers = of_texts("x", ["1", mark, "2,5", "3"])
    assert (numbers.texts, numbers.missing.tolist(), numbers.blank) == (("1", "2,5", "3"), [0, 1, 0, 0], f" ({mark!r})")
    classes = of_texts("x", ["+", mark, "+"])
    assert (classes.texts, classes.missing.any()) == (("+", mark), False)
    assert of_texts("x", [mark, mark]).texts == (mark,)


@pytest.mark.parametrize("space", [" ", "'", "\u00a0", "\u202f"])
def test_thousands_may_be_grouped_with_spaces(space: str) -> None:
    assert as_number(f"1{space}234{space}567.5") == 1234567.5
    assert as_number(f"-1{space}234,5", ",") == -1234.5
    assert math.isnan(as_number(f"1{space}23"))
    assert decimal_marks([f"1{space}234,5"]) == ({","}, False)


def test_numbers_with_a_typing_error_are_no_identifiers() -> None:
    assert not of_texts("x", [*map(str, range(20)), "oops"]).is_identifier
    assert of_texts("x", [*(f"P{i}" for i in range(20)), "7"]).is_identifier
