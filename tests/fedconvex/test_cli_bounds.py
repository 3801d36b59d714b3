"""`fedconvex bounds` as a user runs it: numbers against formulas written anew, pictures, refusals, exit status."""

import json
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

from fedconvex import cli, theory
from fedconvex.cli_bounds_figure import draw_sweep
from fedconvex.cli_bounds_numbers import Number, evaluate
from fedconvex.cli_bounds_sweep import notes, print_table, run_sweep
from fedconvex.cli_bounds_values import entries, find, number, parse
from fedconvex.errors import InvalidInput
from fedconvex.statements import Sign
from fedconvex.theory import fedprox

OTHERS = ["--L", "1", "--L-minus", "0", "--B", "1.2", "--gamma", "0"]
GIVEN = [*OTHERS, "--K", "10"]
EXACT = {"L": 1, "L_minus": 0, "B": Fraction(6, 5), "gamma": 0, "K": 10}


def rho(mu, L=1, L_minus=0, B="1.2", gamma=0, K=10):
    """Theorem 4 of the FedProx paper, written down again, with 50 digits."""
    with mpmath.workdps(50):
        mu, L, lm, B, g, K = (mpmath.mpf(v) for v in (mu, L, L_minus, B, gamma, K))
        bar, root = mu - lm, mpmath.sqrt(K)
        return (
            1 / mu - g * B / mu - B * (1 + g) * mpmath.sqrt(2) / (bar * root) - L * B * (1 + g) / (bar * mu)
            - L * (1 + g) ** 2 * B**2 / (2 * bar**2)
            - L * B**2 * (1 + g) ** 2 * (2 * mpmath.sqrt(2 * K) + 2) / (bar**2 * K)
        )  # fmt: skip


def invoke(*arguments):
    """What the command printed on standard output; it must succeed."""
    result = CliRunner().invoke(cli.app, ["bounds", *map(str, arguments)])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def run(monkeypatch, capsys, *arguments):
    """Exit status, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["fedconvex", "bounds", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


# listing and showing


def test_all_statements_are_listed_by_paper():
    printed = invoke()
    for paper in theory.papers().values():
        assert paper.reference in printed
        for statement in paper:
            assert f" {statement.identifier} " in printed


def test_one_paper_is_listed_with_its_calls_and_calculators():
    printed = invoke("fedprox")
    assert "rho(mu, L, L_minus, B, gamma, K)" in printed
    assert "fedprox.rho_terms" in printed
    assert "fedsplit.theorem1" not in printed
    listed = json.loads(invoke("fedprox", "--json"))["statements"]
    assert [s["statement"] for s in listed] == [e.identifier for e in entries(fedprox.PAPER)]
    assert listed[4]["parameters"]["K"]["range"] == "an integer, >= 1"


def test_a_statement_without_values_is_shown_with_its_options():
    printed = invoke("fedprox.theorem4")
    assert printed.strip() == str(fedprox.theorem4)
    assert "--L-minus" in printed
    assert "--mu: weight of the proximal term (> 0)" in invoke("fedprox.rho_terms")
    assert json.loads(invoke("fedprox.rho_terms", "--json"))["claim"] == "calculator"


def test_latex_is_printed_alone():
    assert invoke("feddyn.lemma10", "--latex").strip() == theory.statement("feddyn.lemma10").latex
    assert invoke("fedprox.rho_terms", "--latex").startswith(r"\frac{1}{\mu},\qquad")


def test_every_formula_can_be_shown_and_no_parameter_is_called_like_an_option():
    for paper in theory.papers().values():
        for entry in entries(paper):
            assert entry.identifier in entry.text
            assert entry.latex
            assert find(entry.identifier).calculator is entry.calculator
            assert not {"sweep", "out", "plot", "json", "latex", "help"} & entry.parameters.keys()


# computing


@pytest.mark.parametrize("name", ["fedprox.theorem4", "fedprox.rho", "FedProx.Theorem4"])
def test_value_has_fifteen_proved_digits(name):
    printed = invoke(name, "--mu", "50", *GIVEN)
    assert f"rho ≈ {mpmath.nstr(rho(50), 15)}  (positive, proved)" in printed
    assert "B = 6/5" in printed


def test_spellings_of_options_agree():
    spaced = invoke("fedprox.equation5", "--mu", "3", "--L-minus", "1/2", "--gamma", ".1", "--client-gradient", "7")
    joined = invoke("--client_gradient=7", "--gamma=1e-1", "--L_minus=0.5", "--mu=3.0", "fedprox.equation5")
    assert spaced.splitlines()[-1] == joined.splitlines()[-1] == "solution_distance = 7/25 = 0.28"


def test_negative_numbers_and_sequences():
    printed = invoke("fedsplit.equation7", "--x", "1/3", "--points", "-1,2,-.5", "--stepsize", "1/2")
    assert "fedprox_residual = 1\n" in printed
    assert "= -3\n" in invoke("fedprox.equation9", "--mean-value", "-5", "--lipschitz", "1", "--deviation", "2")


def test_json_encloses_the_number(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fedprox.theorem4", "--mu", 50, *GIVEN, "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["lower"] < rho(50) < result["upper"]
    assert result["upper"] == np.nextafter(result["lower"], 1)
    assert result["value"] in (result["lower"], result["upper"])
    assert (result["exact"], result["sign"], result["parts"]) == (None, "positive", None)
    assert result["arguments"]["B"] == "6/5"
    assert (result["statement"], result["source"]) == ("fedprox.theorem4", "FedProx, Theorem 4")


def test_rational_values_are_exact():
    result = json.loads(invoke("fedprox.rho", "--mu", "50", *OTHERS, "--K", "8", "--json"))
    assert Fraction(result["exact"]) == fedprox.rho(mu=Fraction(50), **{**EXACT, "K": 8})
    assert "rho = 407/62500 = 0.006512  (positive" in invoke("fedprox.rho", "--mu", "50", *OTHERS, "--K", "8")
    assert result["lower"] <= Fraction(407, 62500) <= result["upper"]


def test_parts_are_rows_and_sum_to_the_whole():
    arguments = ["fedprox.rho_terms", "--mu", "50", *GIVEN]
    parts = json.loads(invoke(*arguments, "--json"))["parts"]
    assert len(parts) == 6
    assert sum(p["value"] for p in parts.values()) == pytest.approx(float(rho(50)), rel=1e-13)
    assert "rho_terms[0]" in invoke(*arguments)
    printed = invoke("fedprox.remark5", "--B", "2", "--gamma", "0.5", "--K", "4").splitlines()
    assert printed[-2:] == ["inexactness = 0  (zero, proved)", "sampling    = 0  (zero, proved)"]


def test_both_sides_where_the_left_one_is_a_formula():
    right = ["feddyn.lemma4", "--C", "1", "--gap", "1/7", "--alpha", "30", "--L", "1"]
    printed = invoke(*right)
    assert "right side = 16/1575 ≈ 0.0101587301587302" in printed  # 8/900 + 8/900/7
    assert "The left side needs --epsilon too." in printed
    assert "left side  = 224/225 ≈ 0.995555555555556" in invoke(*right, "--epsilon", "1")
    assert json.loads(invoke(*right, "--epsilon", "1", "--json"))["left"]["exact"] == "224/225"
    assert json.loads(invoke(*right, "--json"))["left"] is None


def test_integers_are_exact_and_defaults_are_said():
    printed = invoke("fedprox.theorem6", "--delta", "1", "--rho", "1/3", "--epsilon", "3e-20")
    assert printed.endswith("iterations = 100000000000000000000\n")
    printed = invoke("fedsplit.theorem1", "--kappa", "4", "--initial-distance", "1", "--num-clients", "10", "--t", "5")
    assert "b = 0" in printed
    with mpmath.workdps(30):
        assert mpmath.nstr(mpmath.mpf(3) ** -5 / mpmath.sqrt(10), 15) in printed


def test_counts_of_rounds_need_not_be_small():
    arguments = ["feddyn.theorem3", "--alpha", 30, "--L", 1, "--mu", "0.1", "--num-clients", 100, "--num-active", 10]
    arguments += ["--T", 10**12, "--D0", 1, "--G", 1]
    printed = invoke(*arguments).splitlines()[-1]
    with mpmath.workdps(40):
        log10 = (1 - mpmath.mpf(10) ** 12) * mpmath.log10(1 + mpmath.mpf(1) / 300) + mpmath.log10(
            600 + mpmath.mpf(400) / 3
        )
        mantissa, exponent = 10 ** (log10 - mpmath.floor(log10)), int(mpmath.floor(log10))
    assert printed.endswith(f"≈ {mpmath.nstr(mantissa, 15)}e{exponent}")
    result = json.loads(invoke(*arguments, "--json"))
    assert result["lower"] == 0 < result["upper"] < 1e-300
    assert result["sign"] == "positive"


@pytest.mark.parametrize("seed", range(20))
def test_digits_are_those_of_the_number(seed):
    rng = np.random.default_rng(seed)
    given = {
        "mean_square": Fraction(int(rng.integers(1, 10**9)), int(rng.integers(1, 10**3))),
        "square": Fraction(1, 999),
    }
    (value,) = evaluate(fedprox.dissimilarity.calculator, given).values()
    with mpmath.workdps(60):
        true = mpmath.sqrt(mpmath.mpf(given["mean_square"].numerator) / given["mean_square"].denominator * 999)
        assert value.text.split()[-1] == mpmath.nstr(true, 15, strip_zeros=value.exact is not None).removesuffix(".0")
    assert value.sign is fedprox.dissimilarity.sign(**given) is Sign.POSITIVE


def test_no_digit_is_printed_that_is_not_proved():
    import flint

    assert Number(flint.arb(2, 0.001)).text == "≈ 2.00"
    assert Number(flint.arb(1, 0.7)).decimal is None
    assert Number(flint.arb(0, 0.001)).decimal is None
    assert Number(flint.arb(0, 0.001)).text == "between -1.01e-3 and 1.01e-3"
    assert Number(flint.arb(0, 0.001)).sign is Sign.UNKNOWN
    assert Number(flint.arb("0.15", "1e-9")).decimal == Decimal("0.15")


# exit status


@pytest.mark.parametrize(("mu", "K", "B", "sign"), [("5", "10", "1.2", "negative"), ("11/2", "8", "1", "zero")])
def test_where_nothing_is_promised_the_exit_status_is_1(monkeypatch, capsys, mu, K, B, sign):
    arguments = ["fedprox.rho", "--mu", mu, "--L", 1, "--L-minus", 0, "--B", B, "--gamma", 0, "--K", K]
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, err) == (1, "")
    assert f"({sign}, proved)" in out
    assert "fedprox.theorem4 promises nothing here: it needs rho > 0." in out
    code, out, _ = run(monkeypatch, capsys, *arguments, "--json")
    assert code == 1
    assert json.loads(out)["sign"] == sign


def test_a_promise_that_floats_cannot_see(monkeypatch, capsys):
    just = ["--L", 1, "--L-minus", 0, "--B", 1, "--gamma", 0, "--K", 8]
    assert run(monkeypatch, capsys, "fedprox.rho", "--mu", "5.500000000000000000000001", *just)[0] == 0
    assert run(monkeypatch, capsys, "fedprox.rho", "--mu", "5.499999999999999999999999", *just)[0] == 1


LOG_OF_0 = ["--kappa=4", "--initial-distance=0", "--num-clients=1", "--accuracy=1"]
REFUSED = [
    (["fedprox.theorm4"], "statement = fedprox.theorm4: is unknown; did you mean fedprox.theorem4"),
    (["fedprox.rho_term"], "did you mean fedprox.rho_terms"),
    (["nothing"], "is unknown"),
    (["fedprox."], "is unknown"),
    (["fedprox.best_mu", "--L", "1"], "call fedconvex.theory.fedprox.best_mu in Python"),
    (["--mu", "5"], "is not one statement"),
    (["fedprox", "--mu", "5"], "statement = fedprox: is not one statement"),
    (["fedprox", "--latex"], "is not one statement"),
    (["fedprox.rho", "50"], "argument = 50: stands alone"),
    (["fedprox.rho", "--mu", "50", "--K", "10"], "missing = --L, --L-minus, --B, --gamma: fedprox.theorem4 needs"),
    (["fedprox.rho", "--mu", "50", "--K", "10"], "--gamma (inexactness (Definition 1); >= 0, <= 1)"),
    (["feddyn.lemma1", "--C-next", "1", "--C", "1", "--gap", "1", "--alpha", "30", "--L", "1"], "--distance-next"),
    (["fedprox.rho", "--mu", "50", "--M", "3"], "--M = 3: fedprox.theorem4 has no such parameter; it has --mu, --L"),
    (["fedprox.rho", "--mu"], "option = --mu: has no value"),
    (["fedprox.rho", "--mu", "--L", "1"], "option = --mu: has no value"),
    (["fedprox.rho", "--mu", "1", "--mu", "2"], "--mu = 2: is given twice"),
    (["fedprox.rho", "--mu", "large"], "--mu = large: is not a number"),
    (["fedprox.rho", "--mu", "1/0"], "is not a number"),
    (["fedprox.rho", "--mu", "nan"], "is not a number"),
    (["fedprox.rho", "--mu", "inf"], "is not a number"),
    (["fedprox.rho", "--mu", "1,2"], "--mu = 1,2: is not one number"),
    (["fedprox.rho", "--mu", "1e99999999999"], "is too long"),
    (["fedprox.rho", "--mu", "1" * 2000], "is too long"),
    (["fedprox.corollary9", "--gammas", "0.1,,0.2"], "is not a number"),
    (["fedprox.rho", "--mu", "-50", *GIVEN], "mu = -50: fedprox.theorem4 needs mu > 0; give mu > 0"),
    (["fedprox.equation5", "--mu=.5", "--L-minus=1/2", "--gamma=0", "--client-gradient=1"], "needs mu > L_minus = 1/2"),
    (["fedprox.rho", "--mu", "50", *OTHERS, "--K", "10.5"], "K = 21/2: fedprox.theorem4 needs an integer"),
    (["fedprox.corollary9", "--mu=9", *OTHERS[:6], "--gammas=0,2", "--K=10"], "gammas[1] = 2"),
    (["fedsplit.equation22", "--kappa=-4", "--epsilon=1"], "needs kappa >= 1"),
    (["fedsplit.approximate_iterations", *LOG_OF_0], "fedsplit: after Theorem 1 needs initial_distance > 0"),
    (["fedsplit.equation9", "--A", "3"], "is made of matrices"),
    (["fedprox.rho", "--out", "x.csv"], "--out = x.csv: is for sweeps"),
    (["fedprox.rho", "--plot"], "is for sweeps"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED)
def test_wrong_input_is_one_line_and_exit_status_2(monkeypatch, capsys, arguments, complaint):
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert complaint in err


def test_unknown_statements_are_reported_as_the_theory_does():
    with pytest.raises(InvalidInput, match="is unknown") as ours:
        find("fedprox.theorm4")
    with pytest.raises(InvalidInput, match="is unknown") as theirs:
        theory.statement("fedprox.theorm4")
    assert (ours.value.argument, ours.value.problem) == (theirs.value.argument, theirs.value.problem)


# sweeps


def table(text):
    header, *rows = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_sweep_is_a_table_of_the_formula(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fedprox.rho", "--sweep", "mu=5:100:20", *GIVEN)
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


def test_refused_rows_are_empty_and_counted(monkeypatch, capsys, tmp_path):
    path = tmp_path / "rho.csv"
    arguments = ["--L", 1, "--L-minus", 2, "--B", "1.2", "--gamma", 0, "--K", 10, "--out", path]
    code, out, err = run(monkeypatch, capsys, "fedprox.rho", "--sweep", "mu=-1:40:42", *arguments)
    assert (code, out) == (0, "")  # the rows are in the file
    assert "2 of 42 rows are empty, refused by fedprox.theorem4: give mu > 0" in err
    assert "2 of 42 rows are empty, refused by fedprox.theorem4: give mu > L_minus" in err  # 1 and, exactly at it, 2
    frame = pandas.read_csv(path)
    assert list(frame.columns) == ["mu", "L", "L_minus", "B", "gamma", "K", "rho", "sign"]
    assert frame["rho"].isna().tolist() == [mu <= 2 for mu in frame["mu"]]
    assert frame["rho"].iloc[-1] == pytest.approx(float(rho(40, L_minus=2)), rel=1e-12)
    assert (frame["B"] == 1.2).all()


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


def test_sweep_that_promises_nothing_has_exit_status_1(monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "fedprox.rho", "--sweep", "mu=1:5:7", *GIVEN)
    assert code == 1
    assert len(table(out)) == 7
    assert err == "fedprox.theorem4 promises nothing here: rho > 0 in none of 7 rows\n"


def test_the_sign_column_is_certified():
    """The float value at 5.5 is rounding; the sign is 0."""
    entry = find("fedprox.rho")
    fixed = parse(entry, {"L": "1", "L_minus": "0", "B": "1", "gamma": "0", "K": "8"})
    sweep = run_sweep(entry, fixed, ["mu=5:6:3"])
    assert sweep.signs.tolist() == [Sign.NEGATIVE, Sign.ZERO, Sign.POSITIVE]
    assert list(notes(sweep)) == [f"rho > 0 in 1 of 3 rows; largest {float(rho(6, B=1, K=8)):.6g} at mu = 6"]


@pytest.mark.parametrize(
    ("sweeps", "complaint"),
    [
        (["mu=5:10"], "is not understood"),
        (["mu"], "is not understood"),
        (["mu=log:log:1:2:3"], "is not understood"),
        (["mu=1:2:x"], "is not a number"),
        (["x=1:2:3"], "--x = 1:2:3: fedprox.theorem4 has no such parameter"),
        (["mu=5:1:20"], "has no range"),
        (["mu=1:1e400:20"], "has no range"),
        (["mu=1:2:1"], "has a count of 1"),
        (["mu=1:2:2.5"], "has a count of 5/2"),
        (["mu=log:0:1:9"], "has no logarithms"),
        (["mu=1:2:9", "--sweep", "mu=3:4:9"], "sweeps mu again"),
        (["mu=1:2:9", "--mu", "7"], "--mu = 7: is swept too"),
        (["mu=-9:-1:9"], "fedprox.theorem4 refuses every row; give mu > 0"),
        (["mu=1:2:9", "--out", "table.xls"], "has an unknown ending; choose .csv, .parquet, .json"),
        (["mu=1:2:9", "--out", "nowhere/table.csv"], "cannot be written to"),
        (["mu=1:2:9", "--plot=picture.gif"], "has an unknown ending; choose .png, .pdf, .svg"),
        (["mu=1:2:9", "--plot", "picture.gif"], "a picture ends in .png, .pdf, .svg"),
    ],
)
def test_wrong_sweeps(monkeypatch, capsys, tmp_path, sweeps, complaint):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(monkeypatch, capsys, "fedprox.rho", *GIVEN, "--sweep", *sweeps)
    assert (code, out) == (2, "")
    assert complaint in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("statement", "arguments", "complaint"),
    [
        ("fedprox.rho", ["--sweep", "K=8.2:8.8:5", "--mu", "50", *OTHERS], "K is an integer, and there is none"),
        ("fedprox.rho", ["--sweep", "K=1:1e17:5", "--mu", "50", *OTHERS], "integers that floats do not hold"),
        ("fedprox.rho", ["--sweep", "K=1:9:5", *OTHERS], "missing = --mu"),
        ("fedprox.corollary9", ["--sweep", "gammas=0:1:5"], "gammas is several numbers"),
        ("fedprox.rho", ["--sweep", "mu=1:9:999", "--sweep", "L=1:9:999", *OTHERS[2:], "--K", "9"], "has 998001 rows"),
        (
            "fedprox.rho_terms",
            ["--sweep", "mu=1:9:9", "--sweep", "L=1:9:9", *OTHERS[2:], "--K", "9", "--plot"],
            "too many for a picture",
        ),
    ],
)
def test_sweeps_that_a_statement_does_not_take(monkeypatch, capsys, tmp_path, statement, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(monkeypatch, capsys, statement, *arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert not list(tmp_path.iterdir())


# pictures


@pytest.mark.parametrize(
    ("plot", "name", "beginning"),
    [
        (["--plot"], "bounds-fedprox.theorem4.png", b"\x89PNG"),
        (["--plot", "a.png"], "a.png", b"\x89PNG"),
        (["--plot=b.pdf"], "b.pdf", b"%PDF"),
        (["--plot", "c.svg"], "c.svg", b"<?xml"),
    ],
)
def test_picture_files(monkeypatch, capsys, tmp_path, plot, name, beginning):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(monkeypatch, capsys, "fedprox.rho", *plot, "--sweep", "mu=5:80:50", *GIVEN)
    assert code == 0
    assert f"saved {name}" in err
    assert (tmp_path / name).read_bytes().startswith(beginning)
    assert len(list(tmp_path.iterdir())) == 1


def swept(name, texts, **fixed):
    entry = find(name)
    return run_sweep(entry, parse(entry, fixed), texts)


def test_curve_of_rho_has_a_zero_line_and_the_papers_letters():
    sweep = swept("fedprox.rho", ["mu=1:100:50"], L="1", L_minus="0", B="1.2", gamma="0", K="10")
    axes = draw_sweep(sweep)
    curve, zero = axes.get_lines()
    np.testing.assert_array_equal(curve.get_ydata(), sweep.numbers["rho"])
    assert list(zero.get_ydata()) == [0, 0]
    assert axes.get_xlabel().startswith(r"$\mu$")
    assert axes.get_ylabel() == r"$\rho$"
    assert axes.get_title().startswith("FedProx, Theorem 4 (upper bound)\n$L$ = 1, $L_{-}$ = 0, $B$ = 6/5")
    (shaded,) = axes.collections
    assert min(point[0] for path in shaded.get_paths() for point in path.vertices) > 6  # only where ρ > 0
    assert axes.get_ylim()[0] > sweep.numbers["rho"].min()  # the pole at 0 does not flatten the rest


def test_two_parameters_are_lines_or_contours():
    fixed = {"L_minus": "0", "B": "1.2", "gamma": "0", "K": "10"}
    lines = draw_sweep(swept("fedprox.rho", ["mu=1:100:50", "L=1:3:3"], **fixed))
    assert [text.get_text() for text in lines.get_legend().get_texts()] == ["$L$ = 1", "$L$ = 2", "$L$ = 3"]
    np.testing.assert_allclose(
        lines.get_lines()[1].get_ydata(), [float(rho(mu, L=2)) for mu in np.linspace(1, 100, 50)], rtol=1e-10
    )
    contours = draw_sweep(swept("fedprox.rho", ["mu=-9:100:50", "L=1:3:20"], **fixed))
    assert contours.get_ylabel().startswith("$L$")
    (colours,) = [axes for axes in contours.figure.axes if axes is not contours]
    assert colours.get_ylabel() == r"$\rho$, grey: nothing is promised, white: refused"


@pytest.mark.parametrize(
    ("name", "texts", "fixed", "says"),
    [
        (
            "fedprox.rho",
            ["mu=1:2:9", "L=1:2:9"],
            {"L_minus": "0", "B": "1", "gamma": "0", "K": "1"},
            "nowhere positive",
        ),
        ("fedprox.equation3", ["gamma=0:1:9", "client_gradient=0:1:9"], {}, ""),
        ("fedprox.equation10", ["mean_value=1:2:9", "Q=0:1e-300:9"], {}, ""),
        ("fedprox.rho", ["mu=1:2:9"], {"L": "1", "L_minus": "0", "B": "1", "gamma": "0", "K": "1"}, "nowhere positive"),
        ("fedsplit.theorem1", ["t=log:1:1e4:30"], {"kappa": "9", "initial_distance": "1", "num_clients": "1"}, ""),
        ("fedprox.theorem6", ["rho=1:2:9", "epsilon=1:2:9"], {"delta": "0"}, "everywhere 1"),
        ("fedprox.corollary7", ["L=log:1:100:9"], {"B": "2", "K": "16"}, ""),
    ],
)
def test_pictures_of_all_kinds(name, texts, fixed, says):
    from fedconvex.cli_bounds_figure import picture_of

    sweep = swept(name, texts, **fixed)
    assert picture_of(sweep, ".png").startswith(b"\x89PNG")
    axes = draw_sweep(sweep)
    assert says in " ".join(text.get_text() for text in axes.texts)
    if "log:" in texts[0]:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


# the command itself


def test_help_is_written_for_humans(monkeypatch, capsys):
    code, out, _ = run(monkeypatch, capsys, "--help")
    words = " ".join(out.split())
    assert code == 0
    assert "What do the papers promise?" in words
    assert "--sweep mu=5:80:200" in words
    assert "1 the statement promises nothing there" in words


def test_start_up_loads_no_heavy_library():
    program = """
import sys
from fedconvex import cli
sys.argv = ["fedconvex", "--help"]
try:
    cli.main()
except SystemExit:
    pass
sys.exit(bool({"sympy", "flint", "numpy", "pandas", "matplotlib"} & sys.modules.keys()))
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0


@pytest.mark.parametrize("text", ["1/3", "0.1", "-1e-20", ".5", "+7", "1_000", " 2 "])
def test_numbers_are_exact(text):
    assert number("x", text) == Fraction(text)
