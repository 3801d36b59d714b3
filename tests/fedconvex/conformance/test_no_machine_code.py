"""Checks load no machine code: compiling it for the first time takes longer than all of a check's small runs."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes

CHECK = """
import sys
import numpy as np
import fedconvex as fc
from fedconvex.conformance import check

def train(problem, k, w):
    for order in (np.random.permutation(len(problem.b[k])) for epoch in range(2)):
        for batch in np.array_split(order, range(2, len(order), 2)):
            A, b = problem.A[k][batch], problem.b[k][batch]
            w = w - 0.1 * 2 * A.T @ (A @ w - b) / len(b)
    return w

def round(problem, w, active):
    samples = [len(problem.b[k]) for k in active]
    return np.average([train(problem, k, w) for k in active], axis=0, weights=samples)

method = fc.FedAvg(stepsize=0.1, epochs=2, batch_size=2)
report = check(method, init=lambda problem, x0: x0, round=round, server_model=lambda w: w, shuffled=True)
assert report.passed == PASSES, report.report()
report.report()
assert ("numba" in sys.modules) == LOADED
"""


@pytest.mark.parametrize("passes", [True, False])
def test_a_check_with_shuffled_batches_loads_no_compiler(passes: bool) -> None:
    program = CHECK if passes else CHECK.replace("- 0.1 *", "- 0.2 *")
    run(program.replace("PASSES", str(passes)).replace("LOADED", "False"))


def test_a_run_of_the_method_would_load_it() -> None:
    program = """
import sys
import fedconvex as fc
fc.simulate(fc.FedAvg(stepsize=0.1, epochs=1, batch_size=2), fc.LeastSquares(A=[[[1, 0], [0, 1]]], b=[[1, 2]]), 1)
assert "numba" in sys.modules
"""
    run(program)


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
