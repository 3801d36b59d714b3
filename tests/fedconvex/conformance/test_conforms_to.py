"""The decorator, in a pytest run of its own: green for right code, red with the report for wrong code."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import fedconvex as fc
from fedconvex.conformance import DoesNotConform, conforms_to
from fedconvex.errors import InvalidInput

pytestmark = pytest.mark.beyond_core  # starts processes

SUITE = """
import numpy as np
import pytest
import fedconvex as fc
from fedconvex.conformance import conforms_to

class Ours:
    sign = 1

    def init(problem, x0):
        return x0.copy()

    @classmethod
    def round(cls, problem, x, active):
        weights = problem.weights[active] / problem.weights[active].sum()
        solve = lambda A, b: np.linalg.solve(A.T @ A + cls.sign * np.eye(2), A.T @ b + cls.sign * x)
        return weights @ np.stack([solve(problem.A[k], problem.b[k]) for k in active])

    def server_model(x):
        return x

class Theirs(Ours):
    sign = -1

@pytest.fixture
def implementation():
    return Ours

@conforms_to(fc.FedProx(mu=1))
def test_ours(implementation):
    return implementation

@conforms_to(fc.FedProx(mu=1))
def test_theirs():
    return Theirs
"""


@pytest.mark.slow
def test_in_a_suite(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE, "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--rootdir", str(tmp_path), "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "the proximal gradient has the wrong sign" in done.stdout
    assert "FedProx(mu=1): the implementation differs from the method" in done.stdout


IMPORTS = "import sys, fedconvex.conformance; print({'torch', 'hypothesis', 'pytest', 'matplotlib'} & set(sys.modules))"


def test_the_import_loads_no_framework() -> None:
    assert subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True).stdout.strip() == "set()"


def still(problem, x, active):
    return x


def test_forms_of_an_implementation() -> None:
    """A dict, an object or a single function; the failure carries the report."""
    functions = {"init": lambda problem, x0: x0, "round": still, "server_model": lambda x: x}
    for given in (functions, SimpleNamespace(**functions)):
        with pytest.raises(DoesNotConform, match="never changes") as failed:
            conforms_to(fc.FedGD(stepsize=0.1))(lambda given=given: given)()
        assert not failed.value.report.passed
    with pytest.raises(DoesNotConform):
        conforms_to(fc.FedGD(stepsize=0.1))(lambda: lambda model, data, global_model, state: None)()


def test_what_is_no_implementation_is_refused() -> None:
    with pytest.raises(InvalidInput, match="none of the functions"):
        conforms_to(fc.FedGD(stepsize=0.1))(lambda: 3)()
    with pytest.raises(InvalidInput, match="is no option"):
        conforms_to(fc.FedGD(stepsize=0.1), tolerance=1)
