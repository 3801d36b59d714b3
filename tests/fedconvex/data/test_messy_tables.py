"""Eight messy tables: the first call names all that keeps a table from an audit, the second one follows it and works.

What comes out is compared with tables that these tests prepare themselves.
"""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from messy_tables import HOSPITALS, ROWS, TABLES, write

import fedconvex as fc
from fedconvex.commands.errors import run
from fedconvex.commands.main import command_line
from fedconvex.errors import UntidyTable

# what the second call adds, beside clients, target and scaling
OPTIONS = {
    "ids": {"drop": ["patient_id", "case_no"]},
    "dates": {"drop": ["admitted", "born"]},
    "missing": {"impute": "median"},
    "semicolons": {},
    "decimal_commas": {},
    "text_labels": {"one_hot": ["ward"]},
    "three_classes": {},
    "unscaled_costs": {},
}
TASKS = {"three_classes": "multiclass", "unscaled_costs": "regression"}


def audit(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    status = run(command_line(["audit"]), ["audit", *words])
    return status, *capsys.readouterr()


@pytest.mark.beyond_core  # audits
@pytest.mark.sample(1)
@pytest.mark.parametrize("name", TABLES)
def test_a_file_reaches_an_audit_in_two_calls(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(name, tmp_path)
    status, out, err = audit(capsys, str(path))
    assert (status, out) == (2, "")
    options = shlex.split(err.splitlines()[-1].partition(": ")[2])
    assert options[0].startswith("--")
    status, out, err = audit(capsys, str(path), *options, "--method", "fedgd", "--method", "fedsplit", "--rounds", "60")
    assert status == 0, err
    assert out.startswith(f"{TASKS.get(name, 'binary')} (target ")
    assert "FedSplit" in out
    assert (tmp_path / f"audit-{name}" / "audit.json").is_file()


@pytest.mark.parametrize("form", ["file", "frame"])
@pytest.mark.parametrize("name", TABLES)
def test_the_error_has_the_options_of_the_second_call(name: str, form: str, tmp_path: Path) -> None:
    source = write(name, tmp_path) if form == "file" else TABLES[name]()
    with pytest.raises(UntidyTable) as caught:
        fc.data.load(source)
    error = caught.value
    assert len(error.problems) == len(str(error).splitlines()) - 2  # a line each, between table and options
    asked = {"client_column", "target_column", "standardize"}
    assert {name: value for name, value in error.options.items() if name not in asked} == OPTIONS[name]
    data = fc.data.load(source, **error.options)
    assert data.task == TASKS.get(name, "binary")
    frame = TABLES[name]()
    assert data.client_names == tuple(sorted(frame[error.options["client_column"]].unique()))
    assert sum(data.sizes) == ROWS - (name == "missing")
    assert np.concatenate(data.features).shape[1] == len(data.feature_names)
    for column in np.concatenate(data.features).T:
        assert abs(column.mean()) < 1e-12
        assert np.isclose(column.std(), 1)


def loaded(source: object, **options: object) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Features and targets in the order of the rows, for data with the clients 0, 0, …; and the features' names."""
    data = fc.data.load(source, clients=1, **options)  # type: ignore[arg-type]
    return data.features[0], data.targets[0], tuple(data.feature_names)


def test_decimal_commas_are_the_numbers_that_they_write(tmp_path: Path) -> None:
    features, targets, names = loaded(write("decimal_commas", tmp_path), target_column="readmitted", drop=["hospital"])
    expected = pd.read_csv(tmp_path / "decimal_commas.csv", sep=";", decimal=",", thousands=".")
    assert names == ("weight", "cost")
    assert (features == expected[["weight", "cost"]].to_numpy()).all()
    assert targets.tolist() == expected["readmitted"].tolist()


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("form", ["file", "frame"])
@pytest.mark.parametrize("way", ["median", "mean", "most_frequent", "drop"])
def test_missing_values_become_what_scikit_learn_makes_of_them(way: str, form: str, tmp_path: Path) -> None:
    from sklearn.impute import SimpleImputer

    source = write("missing", tmp_path) if form == "file" else TABLES["missing"]()
    features, targets, names = loaded(source, target_column="outcome", drop="hospital", impute=way)
    frame = TABLES["missing"]().dropna(subset="outcome")
    frame = frame.dropna() if way == "drop" else frame
    assert names == ("age", "weight", "sex=m")
    assert targets.tolist() == frame["outcome"].tolist()
    sexes = frame[["sex"]].astype(object).where(frame[["sex"]].notna(), None).to_numpy()
    numbers = frame[["age", "weight"]].to_numpy()
    if way != "drop":
        numbers = SimpleImputer(strategy=way).fit_transform(numbers)
        sexes = SimpleImputer(strategy="most_frequent", missing_values=None).fit_transform(sexes)
    assert np.allclose(features[:, :2], numbers, rtol=1e-15)
    assert (features[:, 2] == (sexes[:, 0] == "m")).all()


def test_texts_become_what_scikit_learn_makes_of_them(tmp_path: Path) -> None:
    from sklearn.preprocessing import OneHotEncoder

    options = {"target_column": "result", "drop": ["age", "weight"], "one_hot": ["ward"]}
    features, targets, names = loaded(write("text_labels", tmp_path), **options)
    frame = TABLES["text_labels"]()
    encoder = OneHotEncoder(drop="first", sparse_output=False)
    assert (features == encoder.fit_transform(frame[["hospital", "smoker", "ward"]])).all()
    assert [name.replace("=", "_") for name in names] == encoder.get_feature_names_out().tolist()
    assert targets.tolist() == frame["result"].tolist()


def test_the_frame_and_its_file_make_the_same_problem(tmp_path: Path) -> None:
    options = {"client": "hospital", "target": "stage", "standardize": True}
    frame = TABLES["three_classes"]()
    write("three_classes", tmp_path)
    file = fc.data.load(
        tmp_path / "three_classes.csv", client_column="hospital", target_column="stage", standardize=True
    ).problem()
    problem = fc.data.from_frame(frame, **options)
    assert isinstance(problem, fc.MultinomialLogistic)
    assert problem.num_clients == len(HOSPITALS)
    x = np.random.default_rng(0).standard_normal(problem.dim)
    assert (problem.gradient(x) == file.gradient(x)).all()
