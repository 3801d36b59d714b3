"""`fedconvex worst-case` as a user runs it."""

import json
from fractions import Fraction as F

import pytest
from command_runner import running

run = running("worst-case")


def test_an_exact_answer_with_its_proof_and_its_federation(run):
    out = run.prints("fedsplit:stepsize=1/2", "--mu", "1", "--L", "4")
    assert "worst: 1/9 = 0.111111111111" in out
    assert "any clients, 1-strongly convex, 4-smooth" in out
    assert "1 from 0  2/3" in out
    assert "H_2 = [1], c_2 = [0], x_2 = [1]" in out


def test_an_interval_says_which_end_is_which(run):
    out = run.prints("fedprox:mu=2", "--L", "1", "--metric", "descent", "--dissimilarity", "3/2", "--clients", "7")
    assert "at least 287/1152 = 0.249131944444 (proved)" in out
    assert "(attained)" in out
    assert "7 clients, convex, 1-smooth" in out


def test_json(run):
    status, out, _ = run("fedsplit", "--mu", "1", "--L", "4", "--rounds", "8", "--json")
    found = json.loads(out)
    assert status == 0
    assert F(found["upper"]) == F(found["lower"]) == F(1, 9) ** 8
    assert found["power"] == 8
    assert found["multipliers"] == {"1 from 0": "2/3", "0 from 1": "2/3"}
    assert found["federation"]["H"] == [[["1"]], [["1"]]]


def test_no_bound_is_exit_status_one(run):
    out = run.prints("fedgd:stepsize=1/4,local_steps=2", "--mu", "1", "--L", "4", status=1)
    assert "worst: inf" in out
    assert "give heterogeneity" in out
    out = run.prints("fedgd:stepsize=1/4,local_steps=2", "--mu", "1", "--L", "4", "--json", status=1)
    assert json.loads(out)["upper"] is None


def test_other_classes_and_draws(run):
    weakly = ("fedprox:mu=3", "--L", "1", "--L-minus", "1/2", "--metric", "descent")
    assert run(*weakly)[0] == 1
    assert run(*weakly, "--dissimilarity", "1.1")[0] == 0
    out = run.prints("fedgd", "--mu", "1", "--L", "2", "--quadratic", "--heterogeneity", "1", "--draw", "weighted:2")
    assert "quadratic" in out
    assert "1·mean‖∇F_k(x*)‖²" in out
    assert run("fedgd", "--mu", "1", "--L", "2", "--clients", "4", "--draw", "uniform:2")[0] == 1  # G = 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("fedspilt", "--L", 1), "is unknown"),
        (("fedsplit:step=1", "--L", 1), "no parameter"),
        (("fedprox:mu", "--L", 1), "mu has no value; write fedprox:mu=NUMBER"),
        (("fedsplit:stepsize=x", "--L", 1), "not a number"),
        (("fedsplit", "--L", 1, "--mu", 2), "larger than L"),
        (("fedsplit", "--L", 1, "--clients", "many"), "no number of clients"),
        (("fedgd", "--L", 1, "--draw", "three"), "no scheme"),
        (("fedgd", "--L", 1, "--mu", 1, "--L-minus", 1), "leave out"),
        (("fedprox:mu=1", "--L", 1, "--L-minus", 1, "--metric", "descent"), "larger weight"),
        (("fedprox:mu=1", "--L", 1, "--metric", "descent", "--dissimilarity", "1/2"), "B >= 1"),
    ],
)
def test_wrong_input_is_exit_status_two(run, arguments, says):
    assert says in run.refuses(*arguments)


@pytest.mark.slow
@pytest.mark.beyond_core
def test_thousands_of_digits_are_written(run):
    """More than Python turns into text by itself."""
    out = run.prints("fedsplit", "--mu", "1", "--L", "4", "--rounds", "5000")
    assert "E-4772" in out
    _, out, _ = run("fedsplit", "--mu", "1", "--L", "4", "--rounds", "5000", "--json")
    assert len(json.loads(out)["upper"]) > 4500


def test_rounds_with_drawn_clients(run):
    out = run.prints("fedgd:stepsize=1/8,local_steps=2", "--mu", "1", "--L", "4", "--clients", "100",
                         "--rounds", "50", "--draw", "uniform:10", "--heterogeneity", "1")  # fmt: skip
    assert "added up over 50" in out
