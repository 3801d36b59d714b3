"""Results of functions that run in processes of their own."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import BrokenExecutor
from contextlib import closing
from pathlib import Path

import pytest

from fedconvex.sweeps.local_processes import in_processes

pytestmark = pytest.mark.beyond_core  # starts processes


def leaking(number: int) -> tuple[int, int]:
    """Memory is looked at after each call, and any is too much."""
    from joblib.externals.loky import process_executor

    process_executor._MEMORY_LEAK_CHECK_DELAY = 0.0
    process_executor._MAX_MEMORY_LEAK_SIZE = -(10**12)
    return number, os.getpid()


def test_a_process_that_uses_much_memory_is_replaced() -> None:
    """Where warnings are errors, as here, the results after that were waited for without end."""
    found = list(in_processes(leaking, ((number,) for number in range(8)), jobs=2))
    assert sorted(number for number, _ in found) == list(range(8))
    assert len({process for _, process in found}) > 2


def test_a_process_that_is_killed_is_an_error() -> None:
    with pytest.raises(BrokenExecutor), closing(in_processes(os._exit, ((1,) for _ in range(4)), jobs=2)) as results:
        next(results)


def test_closing_early_ends_the_calls_that_run() -> None:
    results = in_processes(abs, ((-number,) for number in range(1, 100)), jobs=2)
    assert next(results) in range(1, 100)
    results.close()
    assert list(results) == []


HOLDS = """
import os, signal, sys
from fedconvex.sweeps.local_processes import in_processes

def hold(path):
    os.write(os.open(path, os.O_WRONLY), b".")  # open until this process ends
    signal.pause()

list(in_processes(hold, [(sys.argv[1],)] * 2, jobs=2))
"""


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_the_processes_of_a_caller_that_was_ended_end(by: signal.Signals, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)

    def read() -> bytes:
        assert select.select([reader], [], [], 60)[0], "the processes hold it still"
        return os.read(reader, 2)

    with subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path / "held"]) as caller:
        held = read()
        while len(held) < 2:
            held += read()
        caller.send_signal(by)
    assert read() == b""
    os.close(reader)
