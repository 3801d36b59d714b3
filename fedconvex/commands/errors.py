"""How the command line ends: errors are one line on standard error, and `--traceback` shows where they come from."""

import os
import sys
import traceback
from typing import Any

import typer

from fedconvex.errors import FedconvexError, InvalidInput

TRACEBACK = "--traceback"
NO_ANSWER, WRONG_INPUT, UNFINISHED = 1, 2, 3
ClickError: Any = typer.BadParameter.__mro__[2]  # ClickException of click, or of the copy of it that typer brings


def run(app: typer.Typer, words: list[str]) -> int:
    """Runs a command and returns its exit status.

    0 what was asked holds, 1 it does not or there is no answer, 2 wrong input, 3 it could not be finished (a disk that
    is full, a fault of ours). `--traceback` may stand anywhere.
    """
    detailed = TRACEBACK in words
    try:
        status = app([word for word in words if word != TRACEBACK], prog_name="fedconvex", standalone_mode=False)
    except ClickError as error:
        return _usage(error, detailed)
    except FedconvexError as error:
        wrong_input = isinstance(error, InvalidInput)
        if not (wrong_input and os.environ.get("RANK", "0") != "0"):  # several processes find the same: said once
            _say(str(error), detailed)
        return WRONG_INPUT if wrong_input else NO_ANSWER
    except typer.Abort:
        _say("stopped", detailed)
        return UNFINISHED
    except Exception as error:
        _say(_unexpected(error, detailed), detailed)
        return UNFINISHED
    return status if isinstance(status, int) else 0


def _usage(error: Any, detailed: bool) -> int:
    """An option that there is not, a value that is no number; a group of commands without any shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.ctx.get_help()  # prints it
        return WRONG_INPUT
    command = error.ctx.command_path if error.ctx is not None else "fedconvex"
    _say(f"{error.format_message().rstrip('.')}; see {command} --help", detailed)
    return WRONG_INPUT


def _unexpected(error: Exception, detailed: bool) -> str:
    if isinstance(error, OSError):
        return str(error)
    cure = "" if detailed else f"; please run it again with {TRACEBACK}, and report what that prints"
    return f"{type(error).__name__}: {error}; this is a fault of fedconvex{cure}"


def _say(message: str, detailed: bool) -> None:
    if detailed:
        traceback.print_exc()
    typer.echo(f"fedconvex: {' '.join(message.split())}", err=True)


def main(app: typer.Typer) -> None:
    """Runs what the command line says, and ends the program."""
    sys.exit(run(app, sys.argv[1:]))
