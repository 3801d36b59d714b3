"""Long exact computations give the same results in a process of their own, and end with Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

import fedconvex as fc
from fedconvex.arithmetic import interruptible as module
from fedconvex.arithmetic.interruptible import interruptible
from fedconvex.errors import NoFixedPoint, NotConverged

pytestmark = pytest.mark.beyond_core  # starts processes

LONG = flint.fmpq_mat(1, 1, [flint.fmpq(1, 3)])  # long, once the limit is 0
ENOUGH = 60  # seconds until a process that does not end is a failure; it takes a fraction of one


@pytest.fixture
def everything_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 0)


class TestInAProcessOfItsOwn:
    def test_short_work_stays_here(self) -> None:
        assert interruptible(os.getpid, [LONG]) == os.getpid()

    @pytest.mark.usefixtures("everything_is_long")
    def test_long_work_does_not(self) -> None:
        assert interruptible(os.getpid, [LONG]) != os.getpid()
        thread_found: list[int] = []
        thread = threading.Thread(target=lambda: thread_found.append(interruptible(os.getpid, [LONG])))
        thread.start()
        thread.join()
        assert thread_found == [os.getpid()]  # Ctrl-C reaches the main thread alone
        inner = interruptible(lambda: (os.getpid(), interruptible(os.getpid, [LONG])), [LONG])
        assert inner[0] == inner[1]  # no processes of processes

    @pytest.mark.usefixtures("everything_is_long")
    def test_errors_come_back(self) -> None:
        def fails() -> None:
            raise NoFixedPoint("none", witness=np.array([Fraction(1, 3)]))

        with pytest.raises(NoFixedPoint, match="none") as caught:
            interruptible(fails, [LONG])
        assert caught.value.witness == [Fraction(1, 3)]
        with pytest.raises(ZeroDivisionError):
            interruptible(lambda: 1 / 0, [LONG])

    @pytest.mark.usefixtures("everything_is_long")
    @pytest.mark.parametrize(
        "end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(3)], ids=["killed", "ended"]
    )
    def test_a_process_that_the_system_ends_is_an_error_of_its_own(self, end: Any) -> None:
        with pytest.raises(NotConverged, match=r"without a result .* memory; use arithmetic='ball'"):
            interruptible(end, [LONG])

    def test_fixed_points_are_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem = fc.LeastSquares(A=[[[1, 2], [3, 5]], [[1, 0]]], b=[[1, 2], [3]])
        methods = [fc.FedProx(mu=1), fc.Scaffold(stepsize=Fraction(1, 50), local_steps=2), fc.FedSplit(stepsize=1)]

        def facts(method: Any) -> list[Any]:
            solver = fc.GradientDescent(steps=2, stepsize=Fraction(1, 50))
            found = fc.fixed_point(method, problem, arithmetic="exact", local_solver=solver)
            return [list(found.point), found.unique, found.attracting]

        here = [facts(method) for method in methods]
        monkeypatch.setattr(module, "LONG", 0)
        assert [facts(method) for method in methods] == here


RATIONALS = """
import random
import signal
import flint
import numpy as np
from fedconvex.fixed_points import one_round

signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run in the background, it is ignored
long = one_round._conserving_fixed_state

def announced(*given):
    print("begun", flush=True)
    return long(*given)

one_round._conserving_fixed_state = announced
size, draws = 500, random.Random(1)
M = flint.fmpq_mat(size, size, [flint.fmpq(draws.getrandbits(4000), 3) for _ in range(size * size)])
q = np.array([flint.fmpq(1, i + 1) for i in range(size)], dtype=object)
one_round.OneRoundMap(M=M, q=q, start=0 * q, directions=M, dim=1).fixed_state
print("done")
"""


LINEAR_PROGRAM = """
import signal
import scipy.optimize
import numpy as np
import fedconvex as fc

signal.signal(signal.SIGINT, signal.default_int_handler)
small = fc.Logistic([[[1.0], [2.0]]], [[1, -1]])
fc.ground_truth(small)  # a linear program that runs here, before one that does not
long = scipy.optimize.linprog

def announced(*given, **named):
    print("begun", flush=True)
    return long(*given, **named)

scipy.optimize.linprog = announced
draws = np.random.default_rng(0)
A = draws.standard_normal((20_000, 300))
fc.ground_truth(fc.Logistic([A], [np.sign(A @ np.ones(300) + 30 * draws.standard_normal(20_000))]))
print("done")
"""


@pytest.mark.parametrize("program_text", [RATIONALS, LINEAR_PROGRAM], ids=["rationals", "linear program"])
def test_ctrl_c_ends_a_long_call(program_text) -> None:
    """A call that takes minutes: the process is interrupted when it has begun, and ends at once."""
    with subprocess.Popen(
        [sys.executable, "-c", program_text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=Path(fc.__file__).parents[1], start_new_session=True,
    ) as program:  # fmt: skip
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "begun\n"
            os.killpg(program.pid, signal.SIGINT)  # as a terminal does
            _, errors = program.communicate(timeout=ENOUGH)
        finally:
            program.kill()
    assert errors.strip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):  # nor does the other process stay
        os.killpg(program.pid, 0)
