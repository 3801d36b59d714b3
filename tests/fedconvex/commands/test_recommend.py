"""`fedconvex recommend` and `fedconvex diagnose` as a user runs them."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import fedconvex as fc
from fedconvex.commands import main as cli

pytestmark = pytest.mark.beyond_core  # takes seconds


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[Any, str, str]:
    """Exit status, standard output and standard error of the command."""
    monkeypatch.setattr(sys, "argv", ["fedconvex", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


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


def test_recommend_prints_what_the_function_finds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: Path
) -> None:
    words = ("recommend", table, "--client-column", "hospital", "--tolerance", "1e-4", "--local-steps", 2)
    code, out, _ = run(monkeypatch, capsys, *words)
    assert code == 0
    problem = fc.data.load(table, client_column="hospital").problem()
    assert out.strip() == str(fc.recommend(problem, 1e-4, local_steps=2)).strip()
    code, out, _ = run(monkeypatch, capsys, *words, "--json")
    assert json.loads(out)["ranked"][0]["measured_rounds"] is not None


def test_recommend_exits_with_1_where_no_method_is_fast_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: Path
) -> None:
    code, out, _ = run(monkeypatch, capsys, "recommend", table, "--client-column", "hospital", "--rounds", 1)
    assert code == 1
    assert "within 1 rounds" in out
    code, _, err = run(monkeypatch, capsys, "recommend", table, "--client-column", "hospital", "--tolerance", "inf")
    assert code == 2
    assert "tolerance = inf" in err


def test_diagnose_reads_losses_and_names_the_cause(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: Path, tmp_path: Path
) -> None:
    problem = fc.data.load(table, client_column="hospital").problem()
    frame = fc.simulate(fc.FedProx(mu=2), problem, 60).to_frame(["value"]).rename(columns={"value": "loss"})
    frame[["round", "loss"]].to_csv(tmp_path / "losses.csv", index=False)
    words = ("diagnose", table, tmp_path / "losses.csv", "--client-column", "hospital", "--method")
    code, out, _ = run(monkeypatch, capsys, *words, "fedprox:mu=2")
    assert code == 1
    assert out.startswith("bias floor: ")
    code, out, _ = run(monkeypatch, capsys, *words, "fedprox:mu=2", "--json")
    assert json.loads(out)["cause"] == "bias floor"
    right = fc.simulate(fc.FedSplit(stepsize=0.1), problem, 300).to_frame(["value"])
    right.rename(columns={"value": "loss"}).to_csv(tmp_path / "losses.csv", index=False)
    code, out, _ = run(monkeypatch, capsys, *words, "fedsplit:stepsize=1/10", "--tolerance", "1e-3")
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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], table: Path, tmp_path: Path,
    words: tuple[Any, ...], reason: str,
) -> None:  # fmt: skip
    (tmp_path / "losses.csv").write_text("loss\n9\n8\n7\n6\n5\n4\n")
    code, _, err = run(
        monkeypatch, capsys, "diagnose", table, tmp_path / "losses.csv", "--client-column", "hospital", *words
    )
    assert code == 2
    assert reason in err


def test_the_audits_data_options_are_those_of_both_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("recommend", "diagnose"):
        code, out, _ = run(monkeypatch, capsys, command, "--help")
        assert code == 0
        for option in ("--client-column", "--drop", "--impute", "--ridge", "--partition", "--participation"):
            assert option in out
        assert "--out" not in out
