"""The numbers of `fedconvex bounds` against formulas written anew; exit status 1 where a bound guarantees nothing."""

import json
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from bounds_runner import GIVEN, OTHERS, invoke, rho
from command_runner import running

from fedconvex.commands.bounds.numbers import PrintedNumber, evaluate
from fedconvex.statements import Sign
from fedconvex.theory import fedprox
from fedconvex.validation import exact_number

run = running("bounds")

EXACT = {"L": 1, "L_minus": 0, "B": Fraction(6, 5), "gamma": 0, "K": 10}


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


def test_json_encloses_the_number(run):
    code, out, err = run("fedprox.theorem4", "--mu", 50, *GIVEN, "--json")
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

    assert PrintedNumber(flint.arb(2, 0.001)).text == "≈ 2.00"
    assert PrintedNumber(flint.arb(1, 0.7)).decimal is None
    assert PrintedNumber(flint.arb(0, 0.001)).decimal is None
    assert PrintedNumber(flint.arb(0, 0.001)).text == "between -1.01e-3 and 1.01e-3"
    assert PrintedNumber(flint.arb(0, 0.001)).sign is Sign.UNKNOWN
    assert PrintedNumber(flint.arb("0.15", "1e-9")).decimal == Decimal("0.15")


@pytest.mark.parametrize(("mu", "K", "B", "sign"), [("5", "10", "1.2", "negative"), ("11/2", "8", "1", "zero")])
def test_where_nothing_is_promised_the_exit_status_is_1(run, mu, K, B, sign):
    arguments = ["fedprox.rho", "--mu", mu, "--L", 1, "--L-minus", 0, "--B", B, "--gamma", 0, "--K", K]
    code, out, err = run(*arguments)
    assert (code, err) == (1, "")
    assert f"({sign}, proved)" in out
    assert "fedprox.theorem4 guarantees nothing here: it needs rho > 0." in out
    out = run.prints(*arguments, "--json", status=1)
    assert json.loads(out)["sign"] == sign


def test_a_promise_that_floats_cannot_see(run):
    just = ["--L", 1, "--L-minus", 0, "--B", 1, "--gamma", 0, "--K", 8]
    assert run("fedprox.rho", "--mu", "5.500000000000000000000001", *just)[0] == 0
    assert run("fedprox.rho", "--mu", "5.499999999999999999999999", *just)[0] == 1


@pytest.mark.parametrize("text", ["1/3", "0.1", "-1e-20", ".5", "+7", "1_000", " 2 "])
def test_numbers_are_exact(text):
    assert exact_number(text, "x") == Fraction(text)


def test_a_number_comes_with_what_holds(run):
    line = "As printed: false for Theorem 4's ρ. Holds: of the algorithm, not of Theorem 4's ρ."
    numbers = ("--L", "1", "--B", "2", "--K", "16")
    assert invoke("fedprox.corollary7", *numbers).count(line) == 1
    assert invoke("fedprox.corollary7").count(line) == 1
    assert "As printed: true. Holds: as printed." in invoke("fedprox.theorem4", "--mu", "50", *GIVEN)
    _, out, _ = run("fedprox.corollary7", *numbers, "--json")
    found = json.loads(out)
    assert (found["as_printed"], found["holds"]) == (
        "false for Theorem 4's ρ",
        "of the algorithm, not of Theorem 4's ρ",
    )
    _, out, _ = run("fedprox.rho_terms", "--json")
    assert json.loads(out)["holds"] is None
