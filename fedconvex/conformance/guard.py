"""Call somebody else's code: hangs end at a time limit, it cannot end the process with status 0, prints go to the
standard error, random draws are noticed.
"""

import ctypes
import faulthandler
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from fedconvex.errors import InvalidInput, short_text
from fedconvex.validation import positive

SECONDS = 60.0  # the time limit where none is given
GRACE = 10.0  # seconds from the time limit to the end of a process that code which cannot be ended may not keep
AGAIN = 0.1  # seconds after which code that swallowed the time limit's exception meets it again
LONGEST_SECONDS = 1e6  # what the systems' timers take
OURS = str(PurePath(__file__).parent / "x")[:-1]  # this folder, with the separator


class TimeIsUp(BaseException):
    """Raised in the code that hangs; no `Exception`, so that its own `except Exception` does not swallow it."""


_ENDS_PROCESS: ContextVar[bool] = ContextVar("ends_process", default=False)


@contextmanager
def ending_the_process() -> Iterator[None]:
    """Where code in the block cannot be ended at its time limit, ends the process with status 1 and a traceback.

    For commands: no exception reaches code that waits in a native call, or that catches every exception for ever.
    """
    before = _ENDS_PROCESS.set(True)
    try:
        yield
    finally:
        _ENDS_PROCESS.reset(before)


@dataclass(eq=False)
class Guard:
    """What the implementation's calls have in common over one check.

    `seconds` limits one run of one problem. After a run that took longer no other begins: the next would hang as well.
    """

    seconds: float | None
    printed: list[str] = field(default_factory=list)  # the first line that the implementation printed
    drawn_from: set[str] = field(default_factory=set)  # the global random generators that its calls advanced
    expired: bool = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Runs the block, which calls the implementation; raises `TimeIsUp` where it takes too long."""
        before = _generators()
        try:
            with redirect_stdout(_Tee(self.printed)), _limited(self.seconds), no_exit():
                yield
        except TimeIsUp:
            self.expired = True
            raise
        finally:
            self.drawn_from |= {name for name, state in _generators().items() if before.get(name, state) != state}


def seconds_of(time_limit: Any) -> float | None:
    """The time limit as a float, after checking it."""
    if time_limit is None:
        return None
    positive(time_limit, "time_limit")
    if not time_limit <= LONGEST_SECONDS:
        raise InvalidInput("time_limit", time_limit, "is more seconds than timers count", "give None for no limit")
    return float(time_limit)


def last_line(error: BaseException) -> str:
    """The traceback's last line, and the line of the implementation where the error arose."""
    try:
        message = str(error)
    except Exception:  # an error whose text cannot be made
        message = "(its text cannot be shown)"
    text = f"{type(error).__name__}: {short_text(message, 160)}" if message else type(error).__name__
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(OURS)]
    if not frames:
        return text
    return f"{text}; {short_text(PurePath(frames[-1].filename).name)}, line {frames[-1].lineno}"


class _Tee:
    """A standard output that passes everything on to the standard error, and keeps the first line."""

    def __init__(self, first: list[str]) -> None:
        self.first, self.other = first, sys.stderr

    def write(self, text: str) -> int:
        line = str(text).strip()
        if line and not self.first:
            self.first.append(short_text(line.splitlines()[0], 80))
        return len(text) if self.other is None else self.other.write(text)  # None: a program without a console

    def flush(self) -> None:
        if self.other is not None:
            self.other.flush()

    def __getattr__(self, name: str) -> Any:  # isatty, encoding, … of the stream that is written to
        return getattr(self.other, name)


@contextmanager
def no_exit() -> Iterator[None]:
    """Lets `os._exit` raise SystemExit in this process: with status 0 it would pass for a check that has passed."""
    leave, here = os._exit, os.getpid()

    def stay(status: int) -> NoReturn:
        if os.getpid() != here:  # a forked process of the implementation's
            leave(status)
        raise SystemExit(status)

    os._exit = stay
    try:
        yield
    finally:
        os._exit = leave


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raises `TimeIsUp` in the block after so many seconds."""
    if seconds is None:
        yield
        return
    main = threading.current_thread() is threading.main_thread()
    with _at_last(seconds + GRACE), (_by_signal if main and hasattr(signal, "setitimer") else _by_thread)(seconds):
        yield


@contextmanager
def _at_last(seconds: float) -> Iterator[None]:
    """Ends the process after so many seconds, where that is wanted: from outside of Python, which may be stuck."""
    error = sys.__stderr__
    if not _ENDS_PROCESS.get() or error is None:
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=error)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    """By an alarm, which also ends waiting for a lock, a socket or a sleep; possible in Unix's main thread."""
    remaining, interval = signal.getitimer(signal.ITIMER_REAL)
    if 0 < remaining < seconds:  # somebody else's alarm, such as a test suite's limit, comes first
        yield
        return
    began, other = time.monotonic(), signal.signal(signal.SIGALRM, _time_is_up)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if other is None else other)  # None: it was not set from Python
        if remaining > 0:
            signal.setitimer(signal.ITIMER_REAL, max(remaining - (time.monotonic() - began), 1e-3), interval)


def _time_is_up(number: int, frame: Any) -> None:
    raise TimeIsUp


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    """By an exception that another thread raises here, between two of Python's instructions."""
    raise_in: Callable[..., int] = ctypes.pythonapi.PyThreadState_SetAsyncExc
    here = ctypes.c_ulong(threading.get_ident())
    timer = threading.Timer(seconds, raise_in, (here, ctypes.py_object(TimeIsUp)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        raise_in(here, None)  # what came too late must not arise later


def _generators() -> dict[str, Any]:
    """The states of the global random generators; torch's only where torch is loaded."""
    legacy: Any = np.random.get_state()  # noqa: NPY002 - the legacy generator is the one to look at
    states: dict[str, Any] = {"random": random.getstate(), "numpy.random": (legacy[1].tobytes(), legacy[2])}
    torch: Any = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):  # absent while torch's import has failed half-way
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    return states
