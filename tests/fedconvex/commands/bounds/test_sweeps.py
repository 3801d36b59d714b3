"""Sweeps of `fedconvex bounds`: tables, files and JSON against the formula written anew; refused rows are empty."""

import json
from fractions import Fraction

import numpy as np
import pandas
import pytest
from bounds_runner import GIVEN, OTHERS, invoke, rho
from command_runner import running

from fedconvex.commands.bounds.formulas import find
from fedconvex.commands.bounds.parameters import parse
from fedconvex.commands.bounds.sweep import notes, print_table, run_sweep
from fedconvex.statements import Sign

run = running("bounds")


def table(text):
    header, *rows = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_sweep_is_a_table_of_the_formula(run):
    code, out, err = run("fedprox.rho", "--sweep", "mu=5:100:20", *GIVEN)
    assert code == 0
    rows = table(out)
    assert [float(row["mu"]) for row in rows] == np.linspace(5, 100, 20).tolist()
    for row in rows:
        true = rho(float(row["mu"]))
        assert float(row["rho"]) == pytest.approx(float(true), rel=1e-11)
        assert row["sign"] == ("positive" if true > 0 else "negative")
    assert err == f"rho > 0 in 19 of 20 rows; largest {float(rho(15)):.6g} at mu = 15\n"


def test_integers_and_logarithms_in_sweeps():
    rows = table(invoke("fedprox.rho", "--sweep", "K=log:1:1e3:60", "--mu", 50, *OTHERS))
    numbers = [int(row["K"]) for row in rows]
    assert numbers == sorted(set(numbers))
    assert (numbers[:3], numbers[-1]) == ([1, 2, 3], 1000)
    rows = table(invoke("fedprox.rho", "--sweep", "K=2.5:6.4:50", "--mu", 50, *OTHERS))
    assert [row["K"] for row in rows] == ["3", "4", "5", "6"]
    rows = table(invoke("fedprox.equation3", "--sweep", "client-gradient=log:1:1e4:5", "--gamma", "1"))
    assert [float(row["residual_bound"]) for row in rows] == pytest.approx([1, 10, 100, 1000, 10000])


def test_refused_rows_are_empty_and_counted(run, tmp_path):
    path = tmp_path / "rho.csv"
    arguments = ["--L", 1, "--L-minus", 2, "--B", "1.2", "--gamma", 0, "--K", 10, "--out", path]
    code, out, err = run("fedprox.rho", "--sweep", "mu=-1:40:42", *arguments)
    assert (code, out) == (0, "")  # the rows are in the file
    assert "2 of 42 rows are empty, refused by fedprox.theorem4: give mu > 0" in err
    assert "2 of 42 rows are empty, refused by fedprox.theorem4: give mu > L_minus" in err  # 1 and, exactly at it, 2
    frame = pandas.read_csv(path)
    assert list(frame.columns) == ["mu", "L", "L_minus", "B", "gamma", "K", "rho", "sign"]
    assert frame["rho"].isna().tolist() == [mu <= 2 for mu in frame["mu"]]
    assert frame["rho"].iloc[-1] == pytest.approx(float(rho(40, L_minus=2)), rel=1e-12)
    assert (frame["B"] == 1.2).all()


def test_a_file_of_another_sweep_is_not_replaced_silently(run, tmp_path):
    path = tmp_path / "rho.csv"

    def told(rows):
        arguments = ["--sweep", f"mu=10:50:{rows}", *OTHERS, "--K", 10, "--out", path]
        return run("fedprox.rho", *arguments)[2].splitlines()[-1]

    assert told(5) == told(5) == f"saved {path}"
    assert told(6) == f"saved {path} (replaced)"


def test_borders_are_compared_exactly():
    """25 times 1.1 is 27.5; the row just below, one float away, is refused."""
    entry = find("feddyn.theorem2")
    fixed = parse(entry, {"L": "1.1", "num_clients": "10", "num_active": "1", "T": "5", "D0": "1", "G": "1"})
    below = np.nextafter(27.5, 0)
    sweep = run_sweep(entry, fixed, [f"alpha={Fraction(below)}:27.5:2"])
    assert np.isnan(sweep.numbers["convex_bound"]).tolist() == [True, False]


def test_a_value_out_of_the_range_of_floats_is_an_empty_row():
    rows = table(invoke("fedprox.equation8", "--sweep", "gradient=log:1:1e300:4", "--value=0", "--mu=1", "--L=1",
                        "--L-minus=0", "--B=1", "--gamma=0"))  # fmt: skip
    assert [row["mean_decrease"] != "" for row in rows] == [True, True, False, False]


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_grid_in_a_file(tmp_path, ending):
    path = tmp_path / f"grid.{ending}"
    assert invoke("fedprox.rho", "--sweep", "mu=10:50:5", "--sweep", "K=8:12:5", *OTHERS, "--out", path) == ""
    reader = {"csv": pandas.read_csv, "parquet": pandas.read_parquet, "json": pandas.read_json}[ending]
    frame = reader(path)
    assert len(frame) == 25
    for row in frame.itertuples():
        assert row.rho == pytest.approx(float(rho(row.mu, K=row.K)), rel=1e-11)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # no temporary file is left over


def test_sweep_as_json():
    result = json.loads(invoke("fedprox.rho", "--sweep", "mu=-10:50:4", *GIVEN, "--json"))
    assert result["sweep"] == ["mu"]
    assert result["rows"][0] == {"mu": -10.0, "rho": None, "sign": None}
    assert result["rows"][3]["rho"] == pytest.approx(float(rho(50)), rel=1e-12)
    assert result["refused"] == {"give mu > 0": 1}


def test_parts_and_left_sides_are_columns():
    rows = table(invoke("fedprox.corollary7", "--sweep", "B=1:3:3", "--L", "1", "--K", "36"))
    assert [row["mu"] for row in rows] == ["6.0", "24.0", "54.0"]
    rows = table(invoke("feddyn.lemma4", "--C=1", "--gap=1", "--alpha=30", "--L=1", "--sweep", "epsilon=0:9:4"))
    assert [float(row["left_side"]) for row in rows] == pytest.approx([0, 2688 / 900, 5376 / 900, 8064 / 900])
    assert {row["lemma4"] for row in rows} == {str(16 / 900)}  # the right side does not depend on it


def test_a_terminal_shows_the_ends_of_a_long_table(capsys):
    from rich.console import Console

    entry = find("fedprox.rho")
    fixed = parse(entry, {"L": "1", "L_minus": "0", "B": "1.2", "gamma": "0", "K": "10"})
    print_table(run_sweep(entry, fixed, ["mu=1:200:200"]), Console(width=80))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22
    assert lines[1].split()[0] == "1"
    assert "…" in lines[11]
    assert lines[-1].split()[0] == "200"


def test_sweep_that_promises_nothing_has_exit_status_1(run):
    code, out, err = run("fedprox.rho", "--sweep", "mu=1:5:7", *GIVEN)
    assert code == 1
    assert len(table(out)) == 7
    assert err == "fedprox.theorem4 guarantees nothing here: rho > 0 in none of 7 rows\n"


def test_the_sign_column_is_certified():
    """The float value at 5.5 is rounding; the sign is 0."""
    entry = find("fedprox.rho")
    fixed = parse(entry, {"L": "1", "L_minus": "0", "B": "1", "gamma": "0", "K": "8"})
    sweep = run_sweep(entry, fixed, ["mu=5:6:3"])
    assert sweep.signs.tolist() == [Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE]
    assert list(notes(sweep)) == [f"rho > 0 in 1 of 3 rows; largest {float(rho(6, B=1, K=8)):.6g} at mu = 6"]
