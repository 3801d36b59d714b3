"""`fedconvex audit` as a user runs it: files in, tables, JSON, Parquet and a picture out, and its exit status."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from command_runner import running
from loaded_modules import loaded_by

pytestmark = pytest.mark.beyond_core  # takes seconds

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "libsvm"


@pytest.fixture
def libsvm_file(tmp_path):
    """Sixty samples of two classes that no plane separates."""
    rng = np.random.default_rng(1)
    X, noise = rng.standard_normal((60, 3)), rng.standard_normal(60)
    lines = []
    for x, e in zip(X, noise, strict=True):
        label = "+1" if x[0] - x[1] + 2 * e > 0 else "-1"
        lines.append(label + "".join(f" {j + 1}:{v:.6f}" for j, v in enumerate(x)))
    path = tmp_path / "small.libsvm"
    path.write_text("\n".join(lines) + "\n")
    return path


run = running("audit")
fedconvex = running()


def test_audit_of_a_libsvm_file_saves_everything(run, libsvm_file, tmp_path):
    folder = tmp_path / "result"
    code, out, err = run(libsvm_file, "--clients", 4, "--partition", "by-label:1", "--rounds", 50,
        "--ridge", 0.05, "--out", folder, "--json",
    )  # fmt: skip
    assert code == 0
    printed = json.loads(out)
    assert printed == json.loads((folder / "audit.json").read_text())
    assert printed["clients"] == 4
    assert printed["dimension"] == 4  # three features and the intercept
    assert {m["method"].split("(")[0] for m in printed["methods"]} == {"FedGD", "FedProx", "FedSplit"}
    assert printed["minimizer"]["certainty"] == "enclosed"
    frame = pandas.read_parquet(folder / "trajectories.parquet")
    assert list(frame.columns) == ["method", "round", "gap", "relative_gap", "distance"]
    assert (frame.groupby("method")["relative_gap"].first() == 1).all()
    assert (folder / "audit.png").read_bytes().startswith(b"\x89PNG")
    assert "FedProx" in err  # plain lines tell what is going on where there is no terminal
    assert [p.name for p in sorted(folder.iterdir())] == ["audit.json", "audit.png", "trajectories.parquet"]


def test_table_says_how_numbers_are_known(run, libsvm_file, tmp_path):
    out = run.prints(libsvm_file, "--clients", 2, "--out", tmp_path / "r", "--method", "fedprox:mu=1",
        "--method", "fedsplit", "--rounds", 40,
    )  # fmt: skip
    rows = [line for line in out.splitlines() if line.startswith((" FedProx", " FedSplit"))]  # the table, not the end
    assert len(rows) == 2
    assert all("enclosed" in row and "yes" in row for row in rows)
    assert "L ≤" in out
    assert "proved" in out
    assert "audit.png" in out


def test_client_column_of_a_csv(run, tmp_path):
    path = tmp_path / "wards.csv"
    rows = [f"{i % 7},{(3 * i) % 5},{i % 11},{'north' if i % 3 else 'south'}" for i in range(40)]
    path.write_text("age,dose,y,ward\n" + "\n".join(rows) + "\n")
    out = run.prints(path, "--client-column", "ward", "--model", "least-squares", "--rounds", 20,
        "--out", tmp_path / "r", "--json",
    )  # fmt: skip
    assert json.loads(out)["clients"] == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.csv"], "neither a file nor a built-in"),
        (["FILE"], "--clients"),
        (["FILE", "--clients", "0"], "clients"),
        (["FILE", "--clients", "3", "--partition", "alphabetical"], "partition"),
        (["FILE", "--clients", "3", "--method", "fedavgg"], "did you mean fedavg?"),
        (["FILE", "--clients", "3", "--ridge", "-1"], "ridge"),
        (["FILE", "--clients", "3", "--rounds", "0"], "rounds"),
        (["FILE", "--clients", "3", "--tolerance", "0"], "tolerance"),
        (["diabetes", "--model", "logistic"], "model"),
        (["diabetes", "--client-column", "ward"], "client_column"),
        (["diabetes", "--out", "FILE"], "--out"),
        (["diabetes", "--out", "/proc/x"], "--out"),
        (["diabetes", "--out", "FOLDER"], "audit.json is no file that can be replaced"),
        (["diabetes", "--method", "foo"], "method"),
        (["diabetes", "--method", "fedprox:mu=-1"], "mu"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(run, monkeypatch, libsvm_file, tmp_path, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "audit.json").mkdir(parents=True)
    arguments = [{"FILE": str(libsvm_file), "FOLDER": "folder"}.get(a, a) for a in arguments]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err.splitlines()[-1]
    assert "Traceback" not in err
    assert not list(tmp_path.glob("audit-*"))  # refused before anything was written


def test_damaged_file_names_the_line(run, tmp_path):
    path = tmp_path / "damaged.libsvm"
    path.write_text("+1 1:0.5\n-1 2:oops\n")
    assert "line 2" in run.refuses(path, "--clients", 1)


@pytest.mark.parametrize("name", ["trajectories.csv", "trajectories.parquet"])
def test_an_audit_does_not_replace_the_file_that_it_reads(run, monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("client,x,y\n0,1,2\n1,2,3\n")
    said = f"fedconvex: --out = ../{tmp_path.name}: the results would replace {name}, which is read; "
    assert run.refuses(name, "--out", "../" + tmp_path.name).startswith(said)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_folder_is_named_after_the_file_and_what_is_replaced_is_said(run, monkeypatch, libsvm_file, tmp_path):
    monkeypatch.chdir(tmp_path)

    def files(*arguments):
        arguments = (libsvm_file, "--clients", 2, "--method", "fedsplit", *arguments)
        out = run.prints(*arguments)
        return " ".join(out.split()).rpartition("saved ")[2]

    assert files("--rounds", 5).startswith("audit-small/audit.json, ")
    assert "replaced" not in files("--rounds", 5)  # the same once more
    assert "audit-small/audit.json (replaced)" in files("--rounds", 6)


def test_data_without_minimiser_end_with_exit_status_1(run, tmp_path):
    path = tmp_path / "separable.csv"
    path.write_text("a,y\n" + "".join(f"{v},{int(v > 0)}\n" for v in (-3, -2, -1, 1, 2, 3)))
    code, _, err = run(path, "--clients", 2, "--ridge", 0, "--out", tmp_path / "r")
    assert code == 1
    assert "no minimiser" in err
    assert not (tmp_path / "r").exists()


def test_unknown_option_is_exit_status_2_and_help_0(run, fedconvex):
    assert run("--frobnicate")[0] == 2
    out = run.prints("--help")
    assert "where fedgd, fedprox and fedsplit converge on your data" in " ".join(out.lower().split())
    assert fedconvex("--version")[1].startswith("fedconvex 0.")


@pytest.mark.parametrize("start", [("-m", "fedconvex"), ("-c", "from fedconvex.commands.main import main; main()")])
def test_it_runs_as_a_module_and_as_the_installed_command(start):
    command = [sys.executable, *start, "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("fedconvex ")


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "a9a.gz").exists(), reason="the a9a file is not part of the project")
def test_audit_of_a9a_over_80_clients(run, tmp_path):
    out = run.prints(SHARED / "a9a.gz", "--clients", 80, "--num-features", 123, "--rounds", 70,
        "--method", "fedprox", "--method", "fedsplit", "--out", tmp_path / "a9a", "--json",
    )  # fmt: skip
    result = json.loads(out)
    assert (result["clients"], result["dimension"]) == (80, 124)
    assert result["minimizer"]["distance_bound"] <= 1e-8
    proximal, split = result["methods"]
    assert proximal["bias"]["certainty"] == split["bias"]["certainty"] == "enclosed"
    assert proximal["bias"]["lower"] > 1e-3  # it stops elsewhere
    assert split["bias"]["upper"] < 1e-8
    assert split["rounds_to_tolerance"] is not None
    with gzip.open(SHARED / "a9a.gz", "rt") as lines:
        assert f"samples={sum(1 for _ in lines)}" in result["problem"]


def test_an_audit_of_least_squares_loads_what_it_needs(tmp_path):
    loaded = loaded_by("audit", "diabetes", "--rounds", "2", "--out", str(tmp_path))
    needless = {"pandas", "cvxpy", "clarabel", "sklearn", "scipy.stats", "sympy", "z3", "torch", "numba"}
    assert needless & loaded == set()
    assert {"pyarrow", "matplotlib", "flint"} <= loaded  # the table, the picture, the balls: loading is noticed


def patients(tmp_path, **columns):
    """A CSV file of 40 rows from two wards with a target of whole numbers, and these columns."""
    rng = np.random.default_rng(0)
    ward, dose = ["n", "s"] * 20, rng.standard_normal(40)
    frame = pandas.DataFrame({"ward": ward, "dose": dose, "age": 20 + np.arange(40) % 15, **columns})
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv", "--client-column", "ward", "--out", tmp_path / "r", "--method", "fedgd"


def test_the_first_line_is_the_model_with_the_reason(run, tmp_path):
    words = (*patients(tmp_path), "--target-column", "age", "--rounds", 5)
    for option, line in {
        "": "regression (target 'age': 15 distinct whole numbers)",
        "--task multiclass": "multiclass (target 'age': 15 distinct whole numbers; as requested)",
        "--model least-squares": "least-squares (--model; target 'age')",
    }.items():
        code, out, err = run(*words, *option.split())
        assert code == 0
        assert out.splitlines()[0] == line
        assert err.splitlines()[0] == line  # before the work, too
    assert json.loads(run(*words, "--json")[1])["dimension"] == 2


def test_what_was_done_to_the_columns_is_said(run, tmp_path):
    words = patients(tmp_path, sex=["f", "m", "m", ""] * 10, day="2020-01-01", v=5)
    words = (*words, "--target-column", "age", "--rounds", 5, "--drop", "day", "--impute", "median", "--no-standardize")
    code, out, err = run(*words)
    assert code == 0
    assert "'sex': 10 missing values are filled in with the most frequent value, 'm'" in err
    assert "the feature 'v' is the same in every row" in err
    assert out.splitlines()[1].startswith("patients.csv: LeastSquares(m=2, d=4")


def test_scales_that_hide_all_progress_are_refused_unless_wanted(run, tmp_path):
    words = (*patients(tmp_path, cost=1e5 * np.arange(40)), "--target-column", "age", "--rounds", 5)
    said = run.refuses(*words)
    assert "to 1.2e+06 ('cost')" in said
    assert "--standardize" in said
    assert not (tmp_path / "r").exists()
    out = run.prints(*words, "--no-standardize", "--tolerance", 0.5)
    assert "comes from the features' scales" in out
    out = run.prints(*words, "--standardize")
    assert "features' scales" not in out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--task", "ranking"], "ranking"),
        (["--impute", "zero"], "zero"),
        (["--decimal", ";"], "decimal = ;: is no decimal mark"),
        (["--drop", "dosis"], "drop = dosis: is no column"),
        (["--one-hot", "age"], "one_hot = age: is the target column"),
        (["--task", "binary"], "task = binary: needs two classes, the targets have 15 distinct values"),
    ],
)
def test_wrong_preparation_is_one_line(run, tmp_path, options, complaint):
    assert complaint in run.refuses(*patients(tmp_path), "--target-column", "age", *options)
