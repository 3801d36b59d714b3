"""Results of functions that run in processes of their own."""

import os
from concurrent.futures import BrokenExecutor
from contextlib import closing

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
