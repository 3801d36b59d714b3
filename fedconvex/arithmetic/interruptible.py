"""Long computations in one call that Ctrl-C ends at once.

Python handles Ctrl-C between its own instructions, not inside one call of a library: a rational system of some hundred
unknowns, or a linear program, is one call of minutes. Such a call runs in a process of its own, for which this one
waits; Ctrl-C, or any other exception here, ends it.
"""

import ctypes
import multiprocessing
import signal
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from fedconvex.errors import NotConverged

T = TypeVar("T")
ENDS_WITH_PARENT = 1  # Linux's PR_SET_PDEATHSIG
LONG = 10**10  # size³ · bits from which a process is worth its start: about half a second of exact linear algebra


def interruptible(compute: Callable[[], T], matrices: Iterable[Any]) -> T:
    """compute(), in a process of its own where it may take long, judged by the exact matrices that it works on."""
    return compute() if max(map(_work, matrices), default=0) < LONG else in_a_process(compute)


def in_a_process(compute: Callable[[], T]) -> T:
    """compute() in a process of its own, for which this one waits.

    The result, or the error, must be picklable. Where no process can be forked (on Windows, in a thread, in a worker
    that may start none), the call runs here.

    Raises NotConverged where the process ends without a result, as when the system ends it for lack of memory.
    """
    if not _may_fork():
        return compute()
    context = multiprocessing.get_context("fork")  # the matrices are there without being sent
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, compute), daemon=True)
    with warnings.catch_warnings():
        # of threads that a forked process lacks: this one uses none, and then ends
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        succeeded, found = receiver.recv()
    except EOFError:
        process.join()
        raise NotConverged(
            f"the computation ended without a result (exit status {process.exitcode}), perhaps for want of memory; use "
            "arithmetic='ball' or 'float' where it is exact, or a smaller problem"
        ) from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if not succeeded:
        raise found
    result: T = found
    return result


def _send(sender: Connection, compute: Callable[[], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes: the waiting one ends this one
    with suppress(Exception):  # on Linux this process ends with the one that waits, however that ends
        ctypes.CDLL(None).prctl(ENDS_WITH_PARENT, signal.SIGKILL)
    try:
        outcome = (True, compute())
    except Exception as error:
        outcome = (False, error)
    sender.send(outcome)


def _may_fork() -> bool:
    return (
        threading.current_thread() is threading.main_thread()  # Python handles Ctrl-C there alone
        and "fork" in multiprocessing.get_all_start_methods()
        and not multiprocessing.current_process().daemon
    )


def _work(matrix: Any) -> int:
    """size³ times the bits of the longest entry of an exact matrix."""
    bits = max((entry.height_bits() for entry in matrix.entries()), default=0)
    return int(max(matrix.nrows(), matrix.ncols()) ** 3 * bits)
