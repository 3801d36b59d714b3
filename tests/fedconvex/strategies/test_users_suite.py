"""The README's property test, run as a user's own test suite in a folder of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes

ROOT = Path(__file__).resolve().parents[3]
SECTION = ROOT.joinpath("README.md").read_text("utf-8").partition("**A property test.**")[2]
FROM_THE_README = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)[0]
BY_TYPE = """
import fedconvex as fc
from fedconvex.testing import assert_minimizer
from hypothesis import given, strategies as st


@given(st.from_type(fc.LeastSquares))
def test_ground_truth(problem):
    assert_minimizer(problem, fc.ground_truth(problem).exact_point)
"""
FAULTY = """
import fedconvex as fc
from fedconvex import strategies
from fedconvex.testing import assert_fixed_point
from hypothesis import given


@given(strategies.least_squares_problems(full_rank=True, positive_weights=True))
def test_fedprox_stops_at_the_minimiser(problem):
    assert_fixed_point(fc.FedProx(mu=1), problem, fc.ground_truth(problem).exact_point)
"""


CONFTEST = """
from hypothesis import settings

settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")
"""


def run(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")  # as docs/testing.md advises
    (folder / "test_mine.py").write_text(source, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", [FROM_THE_README, BY_TYPE], ids=["README", "by type"])
def test_it_passes(source: str, tmp_path: Path) -> None:
    done = run(tmp_path, source)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_what_is_wrong_fails_with_an_example_that_can_be_read(tmp_path: Path) -> None:
    done = run(tmp_path, FAULTY)
    assert done.returncode == 1
    assert "x is not a fixed point of FedProx(mu=1)" in done.stdout
    example = re.search(r"problem=(LeastSquares\(.*\)),", done.stdout)
    assert example is not None, done.stdout
    assert (
        example[1].count("[[") == 3
    )  # one number each in A_1, A_2, and b with two clients: A=[[[1]], [[2]]], b=[[1], [0]]
    assert "it should be" in done.stdout
