"""What is wrong with a table is listed in one error, what is unusual is noted, and nothing else is said."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fedconvex as fc
from fedconvex.data.load import peculiarities
from fedconvex.errors import UntidyTable


def csv(tmp_path: Path, text: str, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def table(rows: int = 20, **columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    known = {"client": [i % 2 for i in range(rows)], "u": rng.standard_normal(rows), "y": rng.standard_normal(rows)}
    return pd.DataFrame({**known, **columns})


def refused(source: Any, **options: Any) -> UntidyTable:
    with pytest.raises(UntidyTable) as caught:
        fc.data.load(source, **options)
    return caught.value


def test_all_problems_are_in_one_error_with_a_line_each(tmp_path: Path) -> None:
    path = csv(
        tmp_path,
        "client,when,name,a,b,c,d,y\n"
        + "".join(f"{i % 2},2020-01-{i + 1:02d},n{i},{i % 3},{i},1,,{i % 4}\n" for i in range(20))
        + "0,2020-02-01,n20,NA,oops,inf,,1\n0,1,2\n1,2020-02-01,n21,1,2,1,,?\n",
    )
    error = refused(path)
    assert str(error).splitlines() == [
        f"path = {path}: 8 problems:",
        "  line 23: has 3 fields, the header has 8; "
        "repair the line (the last line of a truncated file looks like this)",
        "  line 24, column 'y': the value is missing ('?'); fill it in or remove the row, or give --impute median",
        "  column 'when': holds dates, which are no numbers; give --drop when",
        "  column 'name': has another text in each of 22 rows: an identifier, which is no feature; give --drop name",
        "  line 22, column 'a': the value is missing ('NA'); fill it in or remove the row, or give --impute median",
        "  line 22, column 'b': 'oops' is not a number; encode the column as numbers, or give --drop b",
        "  line 22, column 'c': 'inf' is not finite; fill it in or remove the row, or give --drop c",
        "  column 'd': every value is missing; give --drop d",
        "all at once: --drop when --drop name --drop b --drop c --drop d --impute median",
    ]


def test_the_error_is_the_same_after_pickling(tmp_path: Path) -> None:
    error = refused(table(u=np.nan))
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (str(again), again.options, again.problems) == (str(error), error.options, error.problems)


@pytest.mark.parametrize("name", ["a b", "it's", "-x", "$HOME", "", "ä;ö"])
def test_options_are_quoted_for_the_shell(name: str, tmp_path: Path) -> None:
    import shlex

    path = tmp_path / "t.csv"
    table(**{name: [f"id {i}" for i in range(20)]}).to_csv(path, index=False)
    error = refused(path)
    assert error.options == {"drop": [name]}
    words = shlex.split(error.cure)
    assert words in (["--drop", name], [f"--drop={name}"])
    assert fc.data.load(path, **error.options).feature_names == ("u",)


def test_a_client_column_is_suggested_where_one_could_be_and_else_a_partition() -> None:
    frame = table().drop(columns="client")
    assert refused(frame).options == {"clients": 10, "partition": "iid"}
    assert refused(frame.iloc[:6]).options["clients"] == 6
    texts = frame.assign(kind=["p", "q", "r", "s"] * 5)
    assert refused(texts).options == {"client_column": "kind"}
    named = texts.assign(hospital=[1, 2] * 10)
    error = refused(named)
    assert error.options == {"client_column": "hospital"}
    assert "'hospital' (2 values) or 'kind' (4 values) could be" in error.problems[0]
    # rows that measure something, and columns in which every row has another value, are no clients
    assert "client_column" not in refused(frame.assign(count=[1, 2] * 10, hospital=list(range(20)))).options


def test_a_client_column_is_suggested_for_a_file_of_numbers(tmp_path: Path) -> None:
    path = csv(tmp_path, "site,a,y\n" + "".join(f"{i % 3},{i % 7},{i % 5}\n" for i in range(30)))
    error = refused(path)
    assert error.options["client_column"] == "site"
    assert fc.data.load(path, **error.options).num_clients == 3


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_recognised(separator: str, tmp_path: Path) -> None:
    frame = table(note=["x y", "z"] * 10)
    for name in ("t.csv", "t.tsv"):
        frame.to_csv(tmp_path / name, sep=separator, index=False)
        data = fc.data.load(tmp_path / name)
        assert data.feature_names == ("u", "note=z")
        assert np.concatenate(data.targets).tolist() == [*frame["y"][::2], *frame["y"][1::2]]
        assert any("separated by" in note for note in data.notes) == (separator != {"t.csv": ",", "t.tsv": "\t"}[name])


def test_a_separator_inside_of_quotes_or_names_is_none(tmp_path: Path) -> None:
    path = csv(tmp_path, 'client,"a;b;c;d",y\n0,1,2\n1,2,1\n')
    assert fc.data.load(path).feature_names == ("a;b;c;d",)
    path = csv(tmp_path, "client;cost, in EUR;y\n0;1,5;2\n1;2;1\n")
    data = fc.data.load(path)
    assert data.feature_names == ("cost, in EUR",)
    assert [array.tolist() for array in data.features] == [[[1.5]], [[2.0]]]


def test_a_comma_that_may_be_either_is_the_users_to_decide(tmp_path: Path) -> None:
    path = csv(tmp_path, "client;a;y\n" + "".join(f"{i % 2};{i + 1},250;{i % 3}\n" for i in range(9)))
    error = refused(path)
    assert error.options == {"decimal": ",", "standardize": True} or error.options == {"decimal": ","}
    assert "'1,250' may be 1.250 or 1250" in error.problems[0]
    for mark, first in ((",", 1.25), (".", 1250)):
        assert fc.data.load(path, decimal=mark).features[0][0, 0] == first
    # another column shows it
    shown = csv(tmp_path, "client;a;b;y\n" + "".join(f"{i % 2};{i + 1},250;0,{i};{i % 3}\n" for i in range(9)))
    assert fc.data.load(shown).features[0][0].tolist() == [1.25, 0]


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        ({"v": 5.0}, "the feature 'v' is the same in every row"),
        ({"y": 3}, "the target 'y' is 3 in every row: there is nothing to predict"),
        ({"client": 0}, "there is one client only"),
        ({"client": [f"k{i}" for i in range(20)]}, "20 of 20 clients have one sample only"),
        ({"y": ["n", "p"] * 10}, "2 of 2 clients have samples of one class only ('0', '1')"),
        ({"y": ["n"] + ["p", "n", "n"] * 6 + ["p"]}, ""),
        ({f"x{i}": np.arange(20) % (i + 2) for i in range(19)}, "20 features, 20 samples: more unknowns than samples"),
        ({}, ""),
    ],
)
def test_what_is_unusual_is_noted_and_nothing_else(columns: dict[str, Any], note: str) -> None:
    notes = fc.data.load(table(**columns)).notes
    assert any(note in each for each in notes) if note else notes == ()


def test_nothing_of_a_single_sample_is_called_constant() -> None:
    for rows, sentences in ((1, 0), (2, 2)):  # two equal samples: both features in one sentence, the target in another
        features, targets = [np.array([[1.0, 2.0]] * rows)], [np.array([3.0] * rows)]
        data = fc.data.FederatedData(features, targets, ["a"], ["u", "v"], "by hand")
        assert sum("in every row" in note for note in peculiarities(data)) == sentences


def test_five_hundred_clients_of_one_sample_make_a_problem() -> None:
    frame = table(500, client=[f"k{i}" for i in range(500)])
    with pytest.warns(fc.errors.PreparedData, match="500 of 500 clients have one sample only"):
        problem = fc.data.from_frame(frame)
    assert (problem.num_clients, problem.dim) == (500, 2)


@pytest.mark.parametrize(
    ("targets", "says"),
    [
        (np.arange(70) + 20, "regression (target 'y': 70 distinct whole numbers)"),
        (np.arange(70) % 11, "regression (target 'y': 11 distinct whole numbers)"),
        (np.arange(70) % 10, "multiclass (target 'y': 10 distinct whole numbers)"),
        (np.arange(70) % 2 + 3, "binary (target 'y': 2 distinct whole numbers, 3 and 4)"),
        (["no", "yes"] * 35, "binary (target 'y': 2 distinct texts, 'no' and 'yes')"),
        (["I", "II", "III", "I", "I"] * 14, "multiclass (target 'y': 3 distinct texts)"),
        (np.arange(70) / 2, "regression (target 'y': 70 distinct numbers, not all whole)"),
    ],
)
def test_the_task_is_reported_with_its_reason(targets: Any, says: str) -> None:
    assert fc.data.load(table(70, y=targets)).task_and_reason == says


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass"])
def test_a_requested_task_is_the_one(task: str) -> None:
    whole = {"regression": np.arange(20) % 3, "binary": [0, 1] * 10, "multiclass": np.arange(20)}[task]
    data = fc.data.load(table(y=whole), task=task)  # type: ignore[arg-type]
    assert data.task == task
    assert data.task_and_reason.endswith("; as requested)")
    model = {"regression": fc.LeastSquares, "binary": fc.Logistic, "multiclass": fc.MultinomialLogistic}[task]
    assert isinstance(data.problem(), model)
    for part in fc.data.train_test_split(data, 0.5):
        assert part.task == task


def test_the_task_decides_how_a_partition_by_label_divides() -> None:
    frame = table(220, y=np.arange(220) % 22).drop(columns="client")
    by_class = fc.data.load(frame, clients=22, partition="by-label:1", task="multiclass")
    assert {np.unique(targets).size for targets in by_class.targets} == {1}
    by_decile = fc.data.load(frame, clients=10, partition="by-label:1")
    assert min(np.unique(targets).size for targets in by_decile.targets) > 1


def test_the_index_that_pandas_writes_is_dropped_on_request(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "t.csv")
    error = refused(tmp_path / "t.csv")
    assert error.options["drop"] == [""]
    assert fc.data.load(tmp_path / "t.csv", **error.options).feature_names == ("u",)


def test_parquet_files_are_prepared_as_frames_are(tmp_path: Path) -> None:
    frame = table(when=pd.date_range("2020-01-01", periods=20), sex=["f", "m", None, "m"] * 5)
    frame.to_parquet(tmp_path / "t.parquet")
    error = refused(tmp_path / "t.parquet")
    assert error.options == {"drop": ["when"], "impute": "most_frequent"}
    data = fc.data.load(tmp_path / "t.parquet", **error.options)
    assert data.feature_names == ("u", "sex=m")
    assert np.concatenate(data.features)[:, 1].sum() == 15


@pytest.mark.parametrize("option", [{"drop": "x1"}, {"one_hot": "x1"}, {"impute": "mean"}, {"decimal": ","}])
def test_formats_without_texts_take_no_preparation(option: dict[str, str], tmp_path: Path) -> None:
    path = csv(tmp_path, "1 1:2\n-1 1:3\n", "t.svm")
    (name,) = option
    for source in (path, "diabetes"):
        with pytest.raises(fc.InvalidInput, match=rf"^{name} = .*leave it out"):
            fc.data.load(source, clients=2, **option)


@pytest.mark.beyond_core  # starts a thread
def test_a_pipe_cannot_be_read_twice(tmp_path: Path) -> None:
    import os
    import threading

    os.mkfifo(tmp_path / "t.csv")
    text = "client,a,y\n0,1,2\n0,x,2\n"
    writer = threading.Thread(target=(tmp_path / "t.csv").write_text, args=(text,))
    writer.start()
    with pytest.raises(fc.InvalidInput, match=r"line 3: holds something else than numbers.*save it as a file"):
        fc.data.load(tmp_path / "t.csv")
    writer.join()


def test_the_line_that_names_the_separator_for_excel_is_no_header(tmp_path: Path) -> None:
    path = csv(tmp_path, "sep=|\nclient|a|y\n0|1|2\n1|x|1\n0|3|4\n")
    assert "line 4, column 'a': 'x' is not a number" in refused(path).problems[0]
    path = csv(tmp_path, "SEP=;\nclient;a;y\n0;1,5;2\n1;2;1\n")
    assert fc.data.load(path).features[0].tolist() == [[1.5]]


@pytest.mark.parametrize("cells", ["{}%", "€{},50", "{} kg", "{}.5 mg/l"])
def test_numbers_with_units_are_no_identifiers(cells: str) -> None:
    error = refused(table(dose=[cells.format(i) for i in range(20)]))
    assert "column 'dose': holds numbers with units, such as" in error.problems[0]
    assert error.options["drop"] == ["dose"]


def test_a_table_without_a_usable_feature_is_told_so() -> None:
    frame = table().drop(columns="u").assign(name=[f"n{i}" for i in range(20)], when="2020-01-01")
    error = refused(frame)
    assert error.problems[-1].startswith("no feature would be left")


def test_a_mean_that_overflows_is_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="impute = mean: overflows in column 'u'"):
        fc.data.load(table(u=[1.7e308, np.nan] * 10), impute="mean")


def test_costs_are_no_clients_however_they_are_written(tmp_path: Path) -> None:
    text = "Klinik;Kosten;y\n" + "".join(f"{'ABC'[i % 3]};{i % 4 + 1}.000,50;{i % 5}\n" for i in range(30))
    error = refused(csv(tmp_path, text))
    assert "which 'Klinik' (3 values) could be" in error.problems[0]
