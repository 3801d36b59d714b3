"""Several files, a folder, a pattern and a dict of tables are what one table with a client column is."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fedconvex as fc
from fedconvex.errors import InvalidInput, UntidyTable

SITES = ("bonn", "trier", "ulm")


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    """Three sites; a level of `ward` that one site lacks."""
    rng = np.random.default_rng(3)
    return {
        site: pd.DataFrame({"age": rng.integers(20, 90, 9), "ward": list("abababab" + "ca"[k // 2]),
                            "cost": rng.standard_normal(9)})
        for k, site in enumerate(SITES)
    }  # fmt: skip


def same(found: Any, tables: dict[str, pd.DataFrame]) -> None:
    """As one table with the sites' names in a column, which is an independent way."""
    together = pd.concat([table.assign(site=name) for name, table in tables.items()])
    expected = fc.data.load(together, client_column="site", target_column="cost")
    assert found.client_names == expected.client_names == SITES
    assert found.feature_names == expected.feature_names
    for k in range(3):
        assert np.array_equal(found.features[k], expected.features[k])
        assert np.allclose(found.targets[k], expected.targets[k])


@pytest.mark.parametrize(
    "form", ["list", "folder", "pattern", "semicolons", "dict of files", "dict of tables", "parquet"]
)
def test_each_table_is_a_client(tables: dict[str, pd.DataFrame], tmp_path: Path, form: str) -> None:
    separator, ending = ";" if form == "semicolons" else ",", ".parquet" if form == "parquet" else ".csv"
    for name, table in tables.items():
        if form == "parquet":
            table.to_parquet(tmp_path / f"{name}{ending}")
        else:
            table.to_csv(tmp_path / f"{name}{ending}", index=False, sep=separator)
    (tmp_path / "README").write_text("no table")
    files = [tmp_path / f"{name}{ending}" for name in SITES]
    sources: dict[str, Any] = {
        "list": files, "pattern": tmp_path / "*.csv", "dict of files": dict(zip(SITES, files, strict=True)),
        "dict of tables": tables,
    }  # fmt: skip
    same(fc.data.load(sources.get(form, tmp_path), target_column="cost"), tables)


def test_from_frame_takes_a_dict_of_tables(tables: dict[str, pd.DataFrame]) -> None:
    with pytest.warns(fc.errors.PreparedData):
        problem: Any = fc.data.from_frame(tables, target="cost")
    loaded: Any = fc.data.load(tables, target_column="cost").problem()
    assert all(np.array_equal(A, B) for A, B in zip(problem.A, loaded.A, strict=True))


def test_differences_are_listed_all_at_once_and_places_name_the_file(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    wrong = {**tables, "trier": tables["trier"].drop(columns="age"), "ulm": tables["ulm"].assign(sex=1)}
    with pytest.raises(InvalidInput, match=r"trier lacks 'age'; ulm has 'sex' as well"):
        fc.data.load(wrong, target_column="cost")
    for name, table in tables.items():
        table["age"] = table["age"].astype(object)
        if name == "ulm":
            table.loc[4, "age"] = None
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(UntidyTable, match=r"ulm.csv line 6, column 'age': the value is missing"):
        fc.data.load(tmp_path, target_column="cost")


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ({}, {}, "has no table"),
    ({"a": 3}, {}, "is no table"),
    (["a.csv", 3], {}, "entries that are no paths"),
    (["missing.csv", "b.csv"], {}, "is no file"),
    ({"a": pd.DataFrame({"x": [1.0]})}, {"client_column": "x"}, "is given with several tables"),
    ({"a": pd.DataFrame({"x": [1.0]})}, {"clients": 3}, "is given with several tables"),
    ({"a": pd.DataFrame({"x": [1.0]})}, {"format": "csv"}, "is several tables"),
]


@pytest.mark.parametrize(("source", "options", "reason"), REFUSED, ids=[case[2] + str(case[1]) for case in REFUSED])
def test_what_is_no_collection_of_tables_is_refused(source: Any, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        fc.data.load(source, **options)


def test_an_empty_folder_and_a_repeated_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no CSV, TSV or Parquet file"):
        fc.data.load(tmp_path)
    with pytest.raises(InvalidInput, match="has a file twice"):
        fc.data.load([tmp_path / "a.csv"] * 2)


SEVERITY = pd.DataFrame({"severity": ["none", "mild", "severe", "None"] * 5, "site": list("ab") * 10,
                         "age": np.arange(20.0) % 7, "y": np.arange(20) / 3})  # fmt: skip


@pytest.mark.parametrize("from_file", [False, True])
def test_none_among_words_is_a_category_and_is_announced(from_file: bool, tmp_path: Path) -> None:
    SEVERITY.to_csv(tmp_path / "a.csv", index=False)
    source: Any = tmp_path / "a.csv" if from_file else SEVERITY
    found = fc.data.load(source, client_column="site")
    names = ("severity=mild", "severity=none", "severity=severe", "age")
    assert found.feature_names == names
    assert any("'none' is a category" in note for note in found.notes)
    with pytest.raises(UntidyTable, match="the value is missing"):
        fc.data.load(source, client_column="site", missing="none")
    assert fc.data.load(source, client_column="site", missing="none", impute="drop").num_samples == 10
    kept = fc.data.load(source, client_column="site", categories="severity", missing="none")
    assert kept.feature_names == names


def test_words_for_missing_values_take_the_place_of_the_usual_ones(tmp_path: Path) -> None:
    table = SEVERITY.assign(severity=["NA", "DE"] * 10, age=[-999.0, *range(19)])
    table.to_csv(tmp_path / "a.csv", index=False)
    for source in (table, tmp_path / "a.csv"):
        found = fc.data.load(source, client_column="site", missing=["-999"], impute="drop")
        assert found.num_samples == 19
        assert found.feature_names == ("severity=NA", "age")
    numbers = SEVERITY.assign(severity=["none", "1"] * 10)
    with pytest.raises(UntidyTable, match="the value is missing"):  # among numbers none is no category
        fc.data.load(numbers, client_column="site")


def test_a_table_in_place_of_a_problem_names_from_frame_and_audit_stays_callable() -> None:
    import inspect

    from fedconvex.audit import audit  # makes fedconvex.audit this package

    package: Any = fc.audit
    calls: list[Any] = [package, audit, fc.recommend]
    for call in calls:
        for table in (SEVERITY, {"a": SEVERITY}):
            with pytest.raises(InvalidInput, match=r"is not a problem; give fedconvex.data.from_frame\("):
                call(table)
    assert inspect.signature(package) == inspect.signature(audit)
