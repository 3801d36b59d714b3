"""Tables of polars: each type of column is read as its pandas twin, or refused with its name and the cure."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput, PreparedData, UntidyTable

if find_spec("polars") is None:
    pytest.skip("polars is not installed: its tables were not read", allow_module_level=True)
pl: Any = import_module("polars")
ROWS = 24
NUMBERS = np.random.default_rng(0).standard_normal(ROWS).round(2)
FEW = ["x", "y", "z"] * 8
DAYS = [datetime(2024, 1, 1) + timedelta(days=i) for i in range(ROWS)]


def table(extra: Any) -> Any:
    """Two clients, one feature, labels of zeros and ones, and a column `extra`."""
    columns = {"site": ["a", "b"] * 12, "u": NUMBERS, "label": [0, 1, 1, 0] * 6}
    return pl.DataFrame(columns).with_columns(pl.Series("extra", extra) if isinstance(extra, list) else extra)


def column(values: Any, dtype: Any) -> Any:
    return pl.Series("extra", values, dtype=dtype, strict=False)


@pytest.mark.parametrize(
    "extra",
    [
        column(FEW, pl.String),
        column(FEW, pl.Categorical),
        column(FEW, pl.Enum(["z", "y", "x", "never"])),
        column([Decimal(f"{number:.2f}") for number in NUMBERS], pl.Decimal(10, 2)),
        column([i % 7 for i in range(ROWS)], pl.Int8),
        column([i % 7 for i in range(ROWS)], pl.UInt64),
        column([i % 7 / 4 for i in range(ROWS)], pl.Float32),
        column([True, False, False] * 8, pl.Boolean),
    ],
    ids=lambda extra: str(extra.dtype).partition("(")[0],
)
@pytest.mark.filterwarnings("ignore::fedconvex.errors.PreparedData")
def test_a_column_is_what_it_is_in_pandas(extra: Any) -> None:
    frame = table(extra)
    twin = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    problem, expected = (fc.data.from_frame(each, client="site", target="label") for each in (frame, twin))
    x = np.linspace(-1, 1, expected.dim)
    assert (problem.gradient(x) == expected.gradient(x)).all()


def test_texts_of_an_enum_are_encoded_with_a_warning() -> None:
    with pytest.warns(PreparedData, match="'extra': one-hot encoded, 3 values; 'x' is the reference"):
        fc.data.from_frame(table(column(FEW, pl.Enum(["z", "y", "x", "never"]))), client="site", target="label")


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "Boolean", "Decimal"])
def test_missing_numbers_are_filled_in_on_request(dtype: str) -> None:
    values = [None if i % 5 == 0 else i % 2 for i in range(ROWS)]
    frame = table(column(values, getattr(pl, dtype)))
    with pytest.raises(
        UntidyTable, match=r"row 1, column 'extra': the value is missing, and 4 more; .*impute='median'"
    ):
        fc.data.from_frame(frame, client="site", target="label")
    data = fc.data.load(frame, client_column="site", target_column="label", impute="mean")
    mean = np.mean([value for value in values if value is not None])
    filled = np.concatenate([[mean if values[i] is None else values[i] for i in range(k, ROWS, 2)] for k in (0, 1)])
    assert np.allclose(np.concatenate(data.features)[:, 1], filled, rtol=1e-15)


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (column([day.date() for day in DAYS], pl.Date), "holds dates"),
        (column(DAYS, pl.Datetime("us")), "holds dates"),
        (column(DAYS, pl.Datetime("us", "Europe/Berlin")), "holds dates"),
        (column([timedelta(hours=i) for i in range(ROWS)], pl.Duration), "holds dates"),
        (column([time(i) for i in range(ROWS)], pl.Time), "holds time, not numbers"),
        (column([[1, 2]] * ROWS, pl.List(pl.Int64)), "holds .*, not numbers"),
        (column([{"a": 1}] * ROWS, pl.Struct({"a": pl.Int64})), "holds dict, not numbers"),
        (column([b"a"] * ROWS, pl.Binary), "holds bytes, not numbers"),
        (column([None] * ROWS, pl.Null), "every value is missing"),
        (column([2**63 + i for i in range(ROWS)], pl.UInt64), "numbers that differ are equal as floats"),
    ],
    ids=lambda extra: str(extra.dtype).partition("(")[0] if isinstance(extra, pl.Series) else "",
)
def test_a_column_that_is_no_feature_is_named_with_the_option_that_drops_it(extra: Any, says: str) -> None:
    frame = table(extra)
    with pytest.raises(UntidyTable, match=rf"column 'extra': {says}.*drop=\['extra'\]"):
        fc.data.from_frame(frame, client="site", target="label")
    assert fc.data.from_frame(frame, client="site", target="label", drop="extra").dim == 2


def test_integers_beyond_float64_stay_different_clients() -> None:
    frame = table(column([2**63 + i // 6 for i in range(ROWS)], pl.UInt64)).drop("site")
    assert fc.data.load(frame, client_column="extra", target_column="label").client_names == tuple(
        str(2**63 + k) for k in range(4)
    )


def test_days_are_clients() -> None:
    frame = table(column([date(2024, 1, 1 + i // 12) for i in range(ROWS)], pl.Date)).drop("site")
    assert fc.data.load(frame, client_column="extra", target_column="label").client_names == (
        "2024-01-01",
        "2024-01-02",
    )


def test_what_is_not_a_table_yet_gets_its_own_cure() -> None:
    frame = table(FEW)
    with pytest.raises(InvalidInput, match=r"frame = .*: is no table; give the table that its collect\(\) returns"):
        fc.data.from_frame(frame.lazy(), client="site", target="label")
    with pytest.raises(InvalidInput, match=r"source = .*; give the table that its collect\(\) returns"):
        fc.data.load(frame.lazy(), client_column="site", target_column="label")
    with pytest.raises(InvalidInput, match="is no table; give a table of pandas, polars or Arrow"):
        fc.data.from_frame(frame["u"], client="site", target="label")
    with pytest.raises(InvalidInput, match=r"a table of shape \(0, 4\): has no rows"):
        fc.data.from_frame(frame.head(0), client="site", target="label")


def test_a_type_that_arrow_lacks_is_refused_without_the_table_in_the_message() -> None:
    frame = table(column(list(range(ROWS)), pl.Int128))
    with pytest.raises(
        InvalidInput, match=r"^frame = a table of shape \(24, 4\): cannot be read through Arrow \(.*; conv"
    ):
        fc.data.from_frame(frame, client="site", target="label")


def test_chunks_and_slices_are_read_in_their_order() -> None:
    frame = table(list(range(ROWS))).drop("u")
    parts = pl.concat([frame.slice(12, 12), frame.slice(0, 12)], rechunk=False)
    data = fc.data.load(parts, client_column="site", target_column="label")
    assert data.features[0][:, 0].tolist() == [*range(12, 24, 2), *range(0, 12, 2)]
