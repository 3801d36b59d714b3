"""The core layer: which tests `pytest -m core` runs, and the guard that fails a core test that breaks the promise.

A test is in the core unless it uses Hypothesis or carries one of the marks `BEYOND_CORE`, on itself or on its file
(`pytestmark = pytest.mark.beyond_core`). While a core test and its fixtures run, starting a process or a thread, or
running Hypothesis, is an error, and so are more than `MOST_ROUNDS` rounds of a method: the error is raised where it
happens, and the test fails even if the code swallows it.
"""

import re
import sys
import threading
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test
from hypothesis.internal.conjecture.engine import ConjectureRunner

from fedconvex.runs.rounds import Rounds

BEYOND_CORE = ("beyond_core", "slow", "exhaustive", "gpu", "browser")
WHOLE_FILE = re.compile(rf"^pytestmark = pytest\.mark\.({'|'.join(BEYOND_CORE)})\b", re.MULTILINE)

# Python announces these to audit hooks, whichever library does them.
STARTS_A_PROCESS = {"os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"}


# Work is bounded by a count that is the same on every machine, not by seconds.
MOST_ROUNDS = 2_000


class BreaksThePromise(pytest.fail.Exception):
    """Like a call of `pytest.fail`: no `Exception`, so that the code under test hardly ever swallows it."""


class Guard:
    """Notes and refuses what a core test may not do, while one runs."""

    def __init__(self) -> None:
        self.watching = False
        self.broken: list[str] = []
        self.rounds = 0
        self.most_rounds = MOST_ROUNDS

    def start(self, watching: bool) -> None:
        """A new test begins."""
        self.watching = watching
        self.broken.clear()
        self.rounds = 0

    def refuse(self, what: str) -> None:
        if self.watching:
            self.broken.append(what)
            raise BreaksThePromise(f"a core test may not {what}: mark it beyond_core, or use no such thing in it")

    def hear(self, event: str, _: tuple[Any, ...]) -> None:
        """Python's audit hook; it stays for the whole session, because an audit hook cannot be taken back."""
        if self.watching and event in STARTS_A_PROCESS:
            self.refuse(f"start a process ({event})")

    def count_round(self) -> None:
        self.rounds += 1
        if self.rounds > self.most_rounds:
            self.refuse(f"play more than {self.most_rounds} rounds")


GUARD = Guard()
sys.addaudithook(GUARD.hear)


def watch(owner: type, method: str, what: str) -> None:
    """Refuses `what` when this method is called while a core test runs."""
    original = getattr(owner, method)

    def watched(self: Any) -> None:
        GUARD.refuse(what)
        original(self)

    setattr(owner, method, watched)


# Threads of compiled code (BLAS, OpenMP, torch) are not Python's and pass: they change no result.
watch(threading.Thread, "start", "start a thread")
watch(ConjectureRunner, "run", "run Hypothesis")

_play = Rounds.play


@wraps(_play)
def _counted(*arguments: Any, **options: Any) -> Any:
    GUARD.count_round()
    return _play(*arguments, **options)


Rounds.play = _counted  # type: ignore[method-assign]


def in_core(item: pytest.Item) -> bool:
    drawn = is_hypothesis_test(getattr(item, "obj", None))
    return not drawn and not any(item.get_closest_marker(name) for name in BEYOND_CORE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m core`, a file that is marked as a whole is not even imported: importing all takes half a minute."""
    if config.option.markexpr == "core" and collection_path.suffix == ".py":
        return WHOLE_FILE.search(collection_path.read_text("utf-8")) is not None or None
    return None


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if in_core(item):
            item.add_marker("core")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    GUARD.start(watching=item.get_closest_marker("core") is not None)
    try:
        return (yield)
    finally:
        GUARD.watching = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[Any]:
    """Fails the test also where the code under test swallowed the refusal."""
    result = yield
    if GUARD.broken:
        pytest.fail(f"a core test may not {GUARD.broken[0]}, and what it tests swallowed the error")
    return result
