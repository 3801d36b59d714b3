"""The pytest plugin in pytest runs of its own: `--conform`, and calls that make a failing test's problem again."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.commands import pytest_plugin
from fedconvex.commands.pytest_plugin import SECTION

pytestmark = pytest.mark.beyond_core  # runs pytest inside its tests

FILE = Path(__file__).parents[1] / "conformance" / "wrapped_fedprox.py"
ROOT = Path(__file__).resolve().parents[3]
FAILING = """
import pytest
import fedconvex as fc
from fractions import Fraction
from fedconvex import strategies
from hypothesis import Phase, given, settings

class TestDrawn:
    @settings(database=None, derandomize=True, phases=[Phase.generate])
    @given(problem=strategies.quadratic_problems(mu=Fraction(1, 3), L=4), method=strategies.methods(kinds=fc.FedProx))
    def test_few_unknowns(self, problem, method):
        scheme = fc.participation.Uniform(1)
        assert problem.dim < 2

@pytest.mark.parametrize("problem", [fc.Logistic(A=[[[1.5]]], y=[[1]], ridge=1, weights=[2])])
def test_given(problem):
    other, count = fc.GradientDescent(steps=2, stepsize=0.5), 3
    raise ExceptionGroup("both", [made(problem), ValueError()])

def made(problem):
    return ArithmeticError()

def test_huge():
    problem = fc.LeastSquares(A=[[[1.5] * 3000]], b=[[0]])
    raise ValueError

def test_without():
    raise ValueError

def test_asserted():
    assert fc.FedProx(mu=1) == 3

def test_passes():
    problem = fc.Quadratic(H=[[[1]]], c=[[0]])
"""


@pytest.fixture
def play(pytester: pytest.Pytester) -> Any:
    """A pytest run in this process, with this plugin and not the installed one."""

    def once(*arguments: str) -> pytest.RunResult:
        options = ("-p", "no:fedconvex", "-p", "no:cacheprovider", "-p", "no:xdist")
        return pytester.runpytest_inprocess(*options, *arguments, plugins=[pytest_plugin])

    return once


def test_conform_adds_a_test_for_each(play: Any) -> None:
    result = play(f"--conform={FILE}:FedProx", f"--conform={FILE}:Repelled", f"--conform={FILE}:Static=FedProx(mu=-1)")
    result.assert_outcomes(passed=1, failed=2)
    output = result.stdout.str()
    assert "the proximal gradient has the wrong sign" in output
    assert "mu = -1: must not be negative" in output
    assert "Traceback" not in output
    assert "pytest_plugin.py" not in output  # the report, not where it was raised


def test_the_usual_options_choose_among_them(play: Any, pytester: pytest.Pytester) -> None:
    targets = (f"--conform={FILE}:FedProx", f"--conform={FILE}:Repelled")
    result = play(*targets, "-k", "not Repelled", "--junitxml=junit.xml")
    result.assert_outcomes(passed=1, deselected=1)
    assert "conform" in (pytester.path / "junit.xml").read_text("utf-8")


def test_a_failing_test_shows_calls_that_make_its_problem_again(play: Any, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING)
    result = play()
    result.assert_outcomes(failed=5, passed=1)
    output = result.stdout.str()
    sections = [part.partition("\n_")[0] for part in output.split(f" {SECTION} ")[1:]]
    programs = ["\n".join(line for line in part.splitlines()[1:] if re.match(r"from |import |\w+ = ", line))
                for part in sections]  # fmt: skip
    found = []
    for program in programs:
        names: dict[str, Any] = {}
        exec(program, names)  # noqa: S102 - the calls are there to be run
        found.append({name: value for name, value in names.items() if not name.startswith("_")})
    assert "\n@py_assert" not in output.replace("E  ", "")
    assert len(found) == 2  # nothing for tests without such objects, nor for one that is too large to paste
    drawn, given = found
    assert drawn["problem"].dim >= 2
    assert isinstance(drawn["method"], fc.FedProx)
    assert drawn["scheme"] == fc.participation.Uniform(1)
    assert repr(given["other"]) == repr(fc.GradientDescent(steps=2, stepsize=0.5))
    assert [A.tolist() for A in given["problem"].A] == [[[1.5]]]
    assert "count" not in given


def test_pytest_loads_it_by_its_entry_point_which_imports_nothing_heavy(tmp_path: Path) -> None:
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    package = tmp_path / "fedconvex_entry-0.dist-info"  # an older installation of this checkout may lack the entry
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: fedconvex-entry\nVersion: 0\n", "utf-8")
    lines = "\n".join(f"{name} = {module}" for name, module in entry.items())
    (package / "entry_points.txt").write_text(f"[pytest11]\n{lines}\n", "utf-8")
    (tmp_path / "test_loaded.py").write_text(
        "import sys\n"
        "def test_loaded(request):\n"
        "    assert request.config.getoption('conform') == []\n"
        "    assert not {'numpy', 'hypothesis', 'fedconvex.problems', 'typer'} & set(sys.modules)\n",
        "utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "HYPOTHESIS_NO_PLUGINS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
