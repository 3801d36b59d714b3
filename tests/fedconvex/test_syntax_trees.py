"""Threads that read Python's source at once, each interrupted as often as can be, all get their trees."""

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event

import pytest

from fedconvex import discovery
from fedconvex.syntax_trees import expression_tree, syntax_tree

pytestmark = pytest.mark.beyond_core  # starts threads

SOURCE = "\n".join(f"def f{k}(x):\n    return [x + {k}, (x * {k}, x)]" for k in range(60))


@contextmanager
def interrupted() -> Iterator[None]:
    """Threads change every microsecond, and whenever a few objects have been made."""
    before = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(callback)
    try:
        yield
    finally:
        gc.callbacks.remove(callback)
        gc.set_threshold(*before[1])
        sys.setswitchinterval(before[0])


def callback(*_: object) -> None:
    sum(range(20))


def deeper(depth: int) -> str:
    """The trees of twenty readings from so many calls further down: CPython's count differs between the threads."""
    if depth:
        return deeper(depth - 1)
    return "".join(ast.dump(syntax_tree(SOURCE)) + ast.dump(expression_tree("1/(L + mu)")) for _ in range(20))


def test_threads_do_not_disturb_each_other() -> None:
    expected = deeper(0)
    with interrupted(), ThreadPoolExecutor(4) as threads:
        assert [*threads.map(deeper, [0, 9, 20, 31] * 3)] == [expected] * 12


def test_nor_does_a_thread_that_takes_no_lock() -> None:
    """As one that formats a traceback: CPython 3.11 then refuses some of the readings of both."""
    expected, done = deeper(0), Event()

    def other(depth: int = 9) -> None:
        if depth:
            other(depth - 1)
        while not done.is_set():
            with suppress(SystemError):
                ast.parse("a + b")

    with interrupted(), ThreadPoolExecutor(2) as threads:
        running = threads.submit(other)
        try:
            assert threads.submit(deeper, 0).result() == expected
        finally:
            done.set()
        running.result()


def test_threads_find_the_same_members() -> None:
    def methods(_: int) -> list[str]:
        return sorted(discovery.final_classes("fedconvex.methods", "Method").modules)

    expected = methods(0)
    with interrupted(), ThreadPoolExecutor(4) as threads:
        assert [*threads.map(methods, range(4))] == [expected] * 4
