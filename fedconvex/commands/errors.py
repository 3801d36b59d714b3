"""Errors of the command line: a line (a table's problems: a line each) and an exit status; `--traceback` shows more."""

import os
import re
import signal
import sys
import threading
import time
import traceback
from typing import Any

import typer

from fedconvex.commands.terminal import say
from fedconvex.errors import FedconvexError, InvalidInput, UntidyTable
from fedconvex.memory import CURE
from fedconvex.names import nearest
from fedconvex.safe_text import one_line

TRACEBACK = "--traceback"
LONGEST_MESSAGE = 5000  # characters of an error, which may name things from files
PATIENCE = 30  # seconds in which the first of several processes finds what another has found
NO_ANSWER, WRONG_INPUT, UNFINISHED = 1, 2, 3
# ClickException: newer releases of typer contain their own copy of click, and raise that copy's exceptions
ClickError: Any = typer.BadParameter.__mro__[2]


def run(app: typer.Typer, words: list[str]) -> int:
    """Run a command and return its exit status.

    0: done, and what was checked holds; 1: it does not hold, or there is no answer; 2: wrong input; 3: not finished (a
    full disk, a closed pipe, a bug). `--traceback` may stand anywhere among the words.
    """
    detailed = TRACEBACK in words
    try:
        status = app([word for word in words if word != TRACEBACK], prog_name="fedconvex", standalone_mode=False)
    except ClickError as error:
        _let_the_first_report()
        return _usage(error, detailed)
    except UntidyTable as error:
        _let_the_first_report()
        _report_lines(error, detailed)
        return WRONG_INPUT
    except FedconvexError as error:
        wrong_input = isinstance(error, InvalidInput)
        if wrong_input:
            _let_the_first_report()
        _report(str(error), detailed)
        return WRONG_INPUT if wrong_input else NO_ANSWER
    except typer.Abort:
        _report("stopped", detailed)
        return UNFINISHED
    except Exception as error:
        _report(_unexpected(error, detailed), detailed)
        return UNFINISHED
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer and rich end with 1, which here is a verdict
            return UNFINISHED
        raise
    return status if isinstance(status, int) else 0


def _let_the_first_report() -> None:
    """Of several processes that find the same wrong input, let the first report it alone.

    Their launcher ends all once one has ended, so that an earlier end of this one could keep the first from reporting.
    It waits to be ended; who is not is the only one that has found something, and goes on to report it.
    """
    if os.environ.get("RANK", "0") == "0":
        return
    if threading.current_thread() is threading.main_thread():  # Python allows signal handlers only there
        for ended in (signal.SIGTERM, signal.SIGINT):
            signal.signal(ended, signal.SIG_DFL)  # without a word
    time.sleep(PATIENCE)


def _usage(error: Any, detailed: bool) -> int:
    """Report an unknown option or a value of the wrong type; a group without a command shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.ctx.get_help()  # typer prints it there
        return WRONG_INPUT
    command = error.ctx.command_path if error.ctx is not None else "fedconvex"
    message = error.format_message().rstrip(".").replace("Value error, ", "")
    _report(f"{message}{_nearest_choice(message)}; see {command} --help", detailed)
    return WRONG_INPUT


def _nearest_choice(message: str) -> str:
    """`; did you mean gap?` for a message such as `'gapp' is not one of 'gap', 'distance'`."""
    given, found, choices = message.partition(" is not one of ")
    words = re.findall(r"'([^']*)'", choices)
    near = nearest(given.rpartition(" '")[2].rstrip("'"), words) if found else []
    return f"; did you mean {near[0]}?" if near else ""


def _unexpected(error: Exception, detailed: bool) -> str:
    if isinstance(error, OSError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"memory ran out{f' ({error})' if str(error) else ''}; {CURE}"
    cure = "" if detailed else f"; please run it again with {TRACEBACK}, and report what that prints"
    return f"{type(error).__name__}: {error}; this is a fault of fedconvex{cure}"


def _report(message: str, detailed: bool) -> None:
    if detailed:
        say(traceback.format_exc(), err=True, nl=False)
    say(f"fedconvex: {one_line(' '.join(message.split()), LONGEST_MESSAGE)}", err=True)


def _report_lines(error: UntidyTable, detailed: bool) -> None:
    """Report a table's problems, one a line: the message is safe text, and its end, the options, is never cut off."""
    if detailed:
        say(traceback.format_exc(), err=True, nl=False)
    say(f"fedconvex: {error}", err=True)


def main(app: typer.Typer) -> None:
    """Run the command in `sys.argv`, and exit with its status; `UNFINISHED` where nobody has read its output."""
    try:
        status = run(app, sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        status = UNFINISHED
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes what is left when it ends
    sys.exit(status)
