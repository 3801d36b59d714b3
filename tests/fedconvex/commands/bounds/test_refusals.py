"""Wrong input to `fedconvex bounds` is one line on standard error, exit status 2, and no file."""

import pytest
from bounds_runner import GIVEN, OTHERS
from command_runner import running

from fedconvex import theory
from fedconvex.commands.bounds.formulas import find
from fedconvex.errors import InvalidInput

run = running("bounds")

LOG_OF_0 = ["--kappa=4", "--initial-distance=0", "--num-clients=1", "--epsilon=1"]
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
    (["fedprox.rho", "--plot"], "--plot = bounds-fedprox.theorem4.png: is for sweeps"),
    (["fedprox.rho", "--json", "--latex"], "--latex = fedprox.theorem4: is given together with --json"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "complaint"), REFUSED)
def test_wrong_input_is_one_line_and_exit_status_2(run, arguments, complaint):
    assert complaint in run.refuses(*arguments)


def test_unknown_statements_are_reported_as_the_theory_does():
    with pytest.raises(InvalidInput, match="is unknown") as ours:
        find("fedprox.theorm4")
    with pytest.raises(InvalidInput, match="is unknown") as theirs:
        theory.statement("fedprox.theorm4")
    assert (ours.value.argument, ours.value.problem) == (theirs.value.argument, theirs.value.problem)


RHO = ["fedprox.rho", *GIVEN, "--sweep"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*RHO, "mu=5:10"], "is not understood"),
        ([*RHO, "mu"], "is not understood"),
        ([*RHO, "mu=log:log:1:2:3"], "is not understood"),
        ([*RHO, "mu=1:2:x"], "is not a number"),
        ([*RHO, "x=1:2:3"], "--x = 1:2:3: fedprox.theorem4 has no such parameter"),
        ([*RHO, "mu=5:1:20"], "has no range"),
        ([*RHO, "mu=1:1e400:20"], "has no range"),
        ([*RHO, "mu=1:2:1"], "has a count of 1"),
        ([*RHO, "mu=1:2:2.5"], "has a count of 5/2"),
        ([*RHO, "mu=log:0:1:9"], "has no logarithms"),
        ([*RHO, "mu=1:2:9", "--sweep", "mu=3:4:9"], "sweeps mu again"),
        ([*RHO, "mu=1:2:9", "--mu", "7"], "--mu = 7: is swept too"),
        ([*RHO, "mu=-9:-1:9"], "fedprox.theorem4 refuses every row; give mu > 0"),
        ([*RHO, "mu=1:2:9", "--out", "table.xls"], "has an unknown ending; choose .csv, .parquet, .json"),
        (
            [*RHO, "mu=1:2:9", "--out", "nowhere/table.csv"],
            "is no file that can be written; name a file",
        ),
        ([*RHO, "mu=1:2:9", "--plot=picture.gif"], "has an unknown ending; choose .png, .pdf, .svg"),
        ([*RHO, "mu=1:2:9", "--plot", "picture.gif"], "a picture ends in .png, .pdf, .svg"),
        (["fedprox.rho", "--sweep", "K=8.2:8.8:5", "--mu", "50", *OTHERS], "K is an integer, and there is none"),
        (["fedprox.rho", "--sweep", "K=1:1e17:5", "--mu", "50", *OTHERS], "integers that floats do not hold"),
        (["fedprox.rho", "--sweep", "K=1:9:5", *OTHERS], "missing = --mu"),
        (["fedprox.corollary9", "--sweep", "gammas=0:1:5"], "gammas is several numbers"),
        (["fedprox.rho", "--sweep", "mu=1:9:999", "--sweep", "L=1:9:999", *OTHERS[2:], "--K", "9"], "has 998001 rows"),
        (
            ["fedprox.rho_terms", "--sweep", "mu=1:9:9", "--sweep", "L=1:9:9", *OTHERS[2:], "--K", "9", "--plot"],
            "too many for a picture",
        ),
    ],
)
def test_wrong_sweeps(run, monkeypatch, tmp_path, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    assert complaint in run.refuses(*arguments)
    assert not list(tmp_path.iterdir())
