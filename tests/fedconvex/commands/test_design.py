"""`fedconvex design` as a user runs it."""

import json

import pytest
from command_runner import running

pytestmark = pytest.mark.beyond_core  # takes seconds
run = running("design")


def test_parameters_with_their_proved_rate(run):
    status, out, _ = run("feddyn", "--mu", "1", "--L", "4", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["parameters"] == {"alpha": "2"}
    assert found["upper"] == "4/9"
    assert found["theorem"] == "feddyn.linearrate"


@pytest.mark.slow
def test_what_is_given_is_kept_or_compared(run):
    out = run.prints("scaffold:local_steps=2", "--mu", "1", "--L", "4")
    assert "  stepsize " in out
    assert "  local_steps " not in out
    assert "given" not in out
    out = run.prints(
        "fedsplit:stepsize=1", "--mu", "1", "--L", "4", "--over", "stepsize", "--clients", "10", "--draw", "uniform:2"
    )
    assert "with the given parameters" in out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("fedprox --mu 1 --L 4", "has a biased fixed point"),
        ("fedsplit --mu 0 --L 4", "mu = 0"),
        ("fedsplit --mu 1 --L 4 --over alpha", "is no number that FedSplit can be designed in"),
        ("scaffold --mu 1 --L 4 --over local_steps", "leaves out stepsize"),
        ("fedsplit --mu 1 --L 4 --clients many", "is no number of clients"),
    ],
)
def test_wrong_input_is_one_line(run, line, words):
    assert words in run.refuses(*line.split())
