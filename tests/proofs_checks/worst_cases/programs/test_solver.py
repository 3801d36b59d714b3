"""Ctrl-C while the solver of semidefinite programs begins."""

import subprocess
import sys
from pathlib import Path

import pytest

import fedconvex as fc

pytestmark = pytest.mark.beyond_core  # starts a process

# The solver loads SciPy's linear algebra from its compiled code, which ends with a panic if that import is interrupted.
PROGRAM = """
import sys
import clarabel
import numpy as np
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("scipy.linalg"):
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

assert "scipy.linalg" not in sys.modules
sys.meta_path.insert(0, Interrupts())

def solved():
    problem = Constraints()
    problem.add("PSDTriangleConeT", -np.eye(3), None, 2)
    x, _, _ = problem.least(np.array([1.0, 0.0, 1.0]))
    return abs(x).max() < 1e-6

try:
    solved()
except KeyboardInterrupt:
    print("interrupted", solved())  # and the next call works
"""


def test_ctrl_c_while_it_loads_is_no_panic() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=Path(fc.__file__).parents[1], check=False
    )
    assert (run.stdout, run.stderr, run.returncode) == ("interrupted True\n", "", 0)
