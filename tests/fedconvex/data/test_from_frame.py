"""`from_frame`: the problem of a table of pandas or Arrow, what it says about its choices, and what it refuses."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput, MissingLibrary, PreparedData, UntidyTable


def frame(**others: Any) -> pd.DataFrame:
    """Twelve rows of two clients with two features and a label of zeros and ones."""
    rng = np.random.default_rng(0)
    columns = {"site": ["a", "b"] * 6, "u": rng.standard_normal(12), "v": rng.standard_normal(12)}
    return pd.DataFrame({**columns, "label": [0, 1, 1, 0, 1, 0] * 2, **others})


def test_labels_of_zero_and_one_are_those_of_a_logistic_regression() -> None:
    table = frame()
    problem = fc.data.from_frame(table, client="site", target="label")
    by_hand = fc.Logistic(
        A=[np.column_stack([part[["u", "v"]], np.ones(6)]) for _, part in table.groupby("site")],
        y=[2 * part["label"].to_numpy() - 1 for _, part in table.groupby("site")],
        ridge=1e-3,
    )
    x = np.array([0.3, -0.2, 0.1])
    assert np.allclose(problem.gradient(x), by_hand.gradient(x), rtol=1e-14)
    for other in (table["label"] == 1, table["label"].map({0: "no", 1: "yes"}), table["label"].astype(float)):
        same = fc.Logistic.from_frame(table.assign(label=other), client="site")
        assert (same.gradient(x) == problem.gradient(x)).all()


def test_each_model_reads_a_table() -> None:
    table = frame(stage=np.arange(12) % 12)
    squares = fc.LeastSquares.from_frame(table, client="site", target="label", drop="stage")
    assert isinstance(squares, fc.LeastSquares)
    assert squares.b[0].tolist() == table["label"][::2].tolist()
    softmax = fc.MultinomialLogistic.from_frame(table, client="site", target="stage")
    assert (softmax.num_classes, softmax.num_clients) == (12, 2)
    assert isinstance(
        fc.data.from_frame(table, "site", "label", task="multiclass", drop=["stage"]), fc.MultinomialLogistic
    )


@pytest.mark.parametrize("convert", [pa.Table.from_pandas, pa.RecordBatch.from_pandas])
def test_arrow_tables_are_read_as_the_pandas_frames_they_come_from(convert: Any) -> None:
    table = frame(sex=["f", "m", "f"] * 4)
    with pytest.warns(PreparedData, match="'sex': one-hot encoded"):
        problems = [
            fc.data.from_frame(each, client="site", target="u", drop="label") for each in (table, convert(table))
        ]
    assert problems[0].dim == 3
    x = np.array([0.3, -0.2, 0.1])
    assert (problems[0].gradient(x) == problems[1].gradient(x)).all()


class OtherTable:
    """A table of a library that is not known here, such as polars: it has columns and offers Arrow's stream."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.columns = list(table)
        self.table = pa.Table.from_pandas(table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_tables_of_other_libraries_are_read_through_arrow() -> None:
    assert fc.data.from_frame(OtherTable(frame()), client="site").num_clients == 2


def test_the_choice_of_a_regression_is_said_and_not_where_it_was_made() -> None:
    table = frame(age=np.arange(20, 32))
    with pytest.warns(PreparedData, match=r"regression \(target 'age': 12 distinct whole numbers\)"):
        problem = fc.data.from_frame(table, client="site", target="age", drop="label")
    assert isinstance(problem, fc.LeastSquares)
    fc.data.from_frame(table, client="site", target="age", task="regression", drop="label")  # warnings are errors here
    fc.data.from_frame(table, client="site", target="label", drop="age")


def test_a_frame_of_typed_columns_is_understood() -> None:
    table = frame(
        day=pd.date_range("2020-01-01", periods=12),
        size=pd.Categorical(["s", "m", "l"] * 4),
        count=pd.array([1, None, 3] * 4, dtype="Int64"),
        flag=[True, False] * 6,
    )
    with pytest.raises(UntidyTable) as caught:
        fc.data.from_frame(table)
    assert caught.value.options == {"client": "site", "drop": ["day"], "impute": "median"}
    data = fc.data.load(table, client_column="site", drop="day", impute="mean")
    assert data.feature_names == ("u", "v", "size=m", "size=s", "count", "flag")
    assert np.concatenate(data.features)[:, 4].tolist() == [1, 3, 2, 1, 3, 2, 2, 1, 3, 2, 1, 3]
    assert set(np.concatenate(data.features)[:, 5]) == {0, 1}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"client": "sight", "target": "label"}, "client = sight: the frame has no such column.*such as 'site'"),
        ({"target": "lable"}, "target = lable: the frame has no such column; its columns are 'site', 'u'"),
        ({"client": "label", "target": "label"}, "client = label: is the target column of the frame"),
        ({"client": "site", "clients": 2}, "client = site: is given together with clients"),
        ({"client": "site", "drop": ["w"]}, "drop = w: is no column"),
        ({"client": "site", "target": "label", "drop": ["label"]}, "drop = label: is the target column"),
        ({"client": "site", "one_hot": "site"}, "one_hot = site: is the client column"),
        ({"client": "site", "drop": "u", "one_hot": "u"}, "one_hot = u: is in drop as well"),
        ({"client": "site", "drop": ["u", "v"]}, "leaves no feature"),
        ({"client": "site", "impute": "zero"}, "impute = zero: is not known; give median"),
        ({"client": "site", "decimal": ";"}, "decimal = ;: is no decimal mark"),
        ({"client": "site", "task": "regresion"}, "task = regresion: is not known; give regression"),
        ({"client": "site", "target": "u", "task": "binary"}, "needs two classes, the targets have 12 distinct values"),
        (
            {"client": "site", "target": "u", "task": "multiclass"},
            "task = multiclass: needs classes, the targets have 12 distinct frac",
        ),
        ({"client": "label", "target": "site", "task": "regression"}, "needs numbers, the targets are text"),
        ({"client": 0}, "client = 0: is not text"),
    ],
)
def test_wrong_arguments_are_refused_with_the_cure(options: dict[str, Any], says: str) -> None:
    with pytest.raises(fc.InvalidInput, match=says):
        fc.data.from_frame(frame(), **options)


@pytest.mark.parametrize("wrong", [None, 3, "data.csv", [[1, 2]], {"a": [1]}, np.ones((3, 2)), pd.Series([1, 2])])
def test_what_is_no_table_is_refused(wrong: object) -> None:
    with pytest.raises(fc.InvalidInput, match=r"frame.* = .*is no table; give a table of pandas, polars or Arrow"):
        fc.data.from_frame(wrong)


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match=r"frame = a table of shape \(0, 4\): has no rows"):
        fc.data.from_frame(frame().iloc[:0])


def test_whole_numbers_that_floats_merge_stay_different_clients() -> None:
    table = frame(site=[2**60, 2**60 + 1] * 6)
    assert fc.data.load(table, client_column="site").client_names == (str(2**60), str(2**60 + 1))
    with pytest.raises(fc.InvalidInput, match=r"row 1, column 'site': .* beyond 2\^53"):
        fc.data.load(table, clients=2, target_column="site")


def test_an_index_that_holds_the_clients_or_the_target_is_named() -> None:
    table = frame().rename(columns={"site": "client"})
    cases: list[tuple[str, dict[str, Any]]]
    cases = [("client", {}), ("client", {"client": "client"}), ("label", {}), ("u", {"target": "u"})]
    for index, given in cases:
        with pytest.raises(InvalidInput, match=rf"has '{index}' in its index.*reset_index"):
            fc.data.from_frame(table.set_index(index), **given)
    named = table.assign(row=range(12)).set_index("row")
    assert fc.data.from_frame(named).num_clients == 2
    assert fc.data.load(table.set_index("client"), clients=3).num_clients == 3  # clients are drawn: nothing is lost


def test_the_columns_of_an_arrow_table_stay_columns() -> None:
    table = frame().set_index("site")
    assert fc.data.from_frame(pa.Table.from_pandas(table), client="site").num_clients == 2
    assert fc.data.from_frame(pa.Table.from_pandas(frame()).to_reader(), client="site").num_clients == 2


def test_long_integers_beside_missing_values_stay_different_clients() -> None:
    clients = [2**60 + 1, 2**60 + 2, None] * 4
    table = pa.table({"site": clients, **{name: frame()[name].to_numpy() for name in "uv"}})
    data = fc.data.load(table, client_column="site", target_column="u", impute="drop")
    assert data.client_names == (str(2**60 + 1), str(2**60 + 2))


def test_long_integers_that_are_equal_as_floats_are_not_called_constant() -> None:
    """The column is not the same in every row: float64 merges its numbers."""
    for numbers in (np.arange(12) + 2**62, np.arange(12, dtype=object) + 2**70):
        with pytest.raises(UntidyTable, match=r"'v': numbers that differ are equal as floats") as error:
            fc.data.from_frame(frame(v=numbers), client="site")
        assert error.value.options["drop"] == ["v"]
    one = ["1e-999999999", "0", "0.0"] * 4  # numbers that take long to write out
    with pytest.raises(UntidyTable, match="equal as floats"):
        fc.data.from_frame(frame(v=one), client="site")
    with pytest.warns(PreparedData, match="'v' is the same in every row"):
        fc.data.from_frame(frame(v=["1", "1.0", "01"] * 4), client="site")


def test_without_arrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    table = OtherTable(frame())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingLibrary, match=r"fedconvex\[parquet\]"):
        fc.data.from_frame(table, client="site")
    assert fc.data.from_frame(frame(), client="site").num_clients == 2


def test_an_error_in_python_names_no_option_of_the_command_line() -> None:
    with pytest.raises(UntidyTable) as error:
        fc.data.from_frame(frame())
    assert "site" in str(error.value)
    assert "--" not in str(error.value)


@pytest.mark.parametrize(
    ("clients", "says"),
    [
        ([{"a": 1}] * 12, "column 'site': holds dict, so the clients' names are neither numbers nor texts"),
        ([None] * 12, "column 'site': every value is missing"),
        (
            [1.0, np.inf] * 6,
            "row 2, column 'site': inf is not finite; repair or remove the row, or name another client",
        ),
    ],
)
def test_columns_that_name_no_client_are_refused(clients: list[Any], says: str) -> None:
    with pytest.raises(UntidyTable, match=says):
        fc.data.from_frame(frame(site=clients), client="site", target="label")


class Query:
    """A table that is still to be computed, as a LazyFrame of polars."""

    def collect(self) -> pd.DataFrame:
        return frame()

    def collect_schema(self) -> dict[str, str]:
        return {}


@pytest.mark.parametrize("read", [fc.data.from_frame, fc.data.load])
def test_a_query_gets_the_call_that_computes_it(read: Any) -> None:
    with pytest.raises(InvalidInput, match=r"give the table that its collect\(\) returns"):
        read(Query())
