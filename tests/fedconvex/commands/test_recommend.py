"""`fedconvex recommend` and `fedconvex diagnose` as a user runs them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from command_runner import running

import fedconvex as fc

pytestmark = pytest.mark.beyond_core  # takes seconds
run = running()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small regression with three hospitals."""
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(rng.standard_normal((45, 2)), columns=["a", "b"])
    frame["hospital"] = np.repeat(["x", "y", "z"], 15)
    frame["target"] = frame["a"] * rng.standard_normal(3).repeat(15) + 0.1 * rng.standard_normal(45)
    path = tmp_path_factory.mktemp("data") / "measurements.csv"
    frame.to_csv(path, index=False)
    return path


def test_recommend_prints_what_the_function_finds(run: Any, table: Path) -> None:
    words = ("recommend", table, "--client-column", "hospital", "--tolerance", "1e-4", "--local-steps", 2)
    out = run.prints(*words)
    problem = fc.data.load(table, client_column="hospital").problem()
    assert out.strip() == str(fc.recommend(problem, 1e-4, local_steps=2)).strip()
    assert json.loads(run(*words, "--json")[1])["ranked"][0]["measured_rounds"] is not None


def test_several_files_and_a_folder_are_clients(run: Any, table: Path, tmp_path: Path) -> None:
    frame = pandas.read_csv(table)
    for name, part in frame.groupby("hospital"):
        part.drop(columns="hospital").to_csv(tmp_path / f"{name}.csv", index=False)
    files = sorted(tmp_path.glob("*.csv"))
    options = ("--tolerance", "1e-2", "--among", "fedavg,fedprox")
    expected = run.prints("recommend", table, "--client-column", "hospital", *options)
    assert run.prints("recommend", *files, *options) == run.prints("recommend", tmp_path, *options) == expected
    assert "FedSplit" not in expected
    out = run.prints("audit", *files, "--rounds", 3, "--out", tmp_path / "out", "--method", "fedprox")
    assert "x.csv and 2 more: LeastSquares(m=3" in out


def test_recommend_exits_with_1_where_no_method_is_fast_enough(run: Any, table: Path) -> None:
    out = run.prints("recommend", table, "--client-column", "hospital", "--rounds", 1, status=1)
    assert "within 1 rounds" in out
    assert "tolerance = inf" in run.refuses("recommend", table, "--client-column", "hospital", "--tolerance", "inf")


def test_diagnose_reads_losses_and_names_the_cause(run: Any, table: Path, tmp_path: Path) -> None:
    problem = fc.data.load(table, client_column="hospital").problem()
    frame = fc.simulate(fc.FedProx(mu=2), problem, 60).to_frame(["value"]).rename(columns={"value": "loss"})
    frame[["round", "loss"]].to_csv(tmp_path / "losses.csv", index=False)
    words = ("diagnose", table, tmp_path / "losses.csv", "--client-column", "hospital", "--method")
    out = run.prints(*words, "fedprox:mu=2", status=1)
    assert out.startswith("bias floor: ")
    code, out, _ = run(*words, "fedprox:mu=2", "--json")
    assert json.loads(out)["cause"] == "bias floor"
    right = fc.simulate(fc.FedSplit(stepsize=0.1), problem, 300).to_frame(["value"])
    right.rename(columns={"value": "loss"}).to_csv(tmp_path / "losses.csv", index=False)
    code, out, _ = run(*words, "fedsplit:stepsize=1/10", "--tolerance", "1e-3")
    assert (code, out.split(":")[0]) == (0, "not stuck")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--method", "fedprox"), "lacks mu; write fedprox:mu=NUMBER"),
        (("--method", "fedavg:epochs=2"), "lacks stepsize; write fedavg:stepsize=NUMBER"),
        (("--method", "fedporx:mu=1"), "is unknown"),
        (("--method", "fedprox:mu=1", "--solver-steps", 3), "give both --solver-steps and --solver-stepsize"),
        (("--method", "fedprox:mu=1", "--participation", 7), "K = 7"),
    ],
)
def test_diagnose_refuses_wrong_words(
    run: Any, table: Path, tmp_path: Path, words: tuple[Any, ...], reason: str
) -> None:
    (tmp_path / "losses.csv").write_text("loss\n9\n8\n7\n6\n5\n4\n")
    assert reason in run.refuses("diagnose", table, tmp_path / "losses.csv", "--client-column", "hospital", *words)


def test_the_audits_data_options_are_those_of_both_commands(run: Any) -> None:
    for command in ("recommend", "diagnose"):
        out = run.prints(command, "--help")
        for option in ("--client-column", "--drop", "--impute", "--ridge", "--partition", "--participation"):
            assert option in out
        assert "--out" not in out
