"""The table of contents of the command line: every command of `fedconvex`, in the order of its help."""

import atexit
import gc
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fedconvex.commands import errors
from fedconvex.commands.terminal import say
from fedconvex.errors import PictureFailed

HELP_WORDS = ("-h", "--help")


class CommandLine(TyperGroup):
    """The group of all commands, which answers `COMMAND --help` from the command's description alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help where the words are a command's name and `--help`; parse all others."""
        if args and args[-1] in HELP_WORDS and (chosen := _context_of(ctx, args[:-1])) is not None:
            say(chosen.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def _context_of(context: Any, names: list[str]) -> Any:
    """The context of the command with these names, group by group; None where there is no such command."""
    for name in names:
        command = context.command.get_command(context, name) if isinstance(context.command, TyperGroup) else None
        if command is None:
            return None
        context = command.context_class(command, info_name=name, parent=context, **command.context_settings)
    return context


# Of these commands the imports and results stay, and no cycle holds much memory; in others, a cycle may hold a network.
RARELY = ("audit", "recommend", "diagnose", "verify")


def collect_little(command: str | None) -> None:
    """Spares a command the collections that free nothing, a fifth of a short command's time.

    The interpreter looks for cycles among all objects twice more before it ends, although the system takes back the
    process's memory; frozen objects are not looked at. While one of the commands `RARELY` runs, it looks rarely.
    """
    atexit.register(gc.freeze)
    if command in RARELY:
        gc.set_threshold(100_000, 50, 50)


HELP = """What federated-optimization papers promise, computed and checked on your data.

[bold]fedconvex audit diabetes[/bold]                   audit a bundled data set: start here
[bold]fedconvex audit FILE --client-column NAME[/bold]  audit your data
[bold]fedconvex bounds fedprox.theorem4[/bold]          show a theorem, and compute its bound
[bold]fedconvex verify fedsplit[/bold]                  check the proofs of a paper's statements
[bold]fedconvex worst-case fedprox:mu=2 --L 1[/bold]    compute a method's exact worst case

Every number is labelled exact, enclosed (in an interval, with proof) or numeric. Exit status: 0 done, and what was \
checked holds; 1 it does not, or there is no answer; 2 wrong input; 3 not finished. An error is \
one line; the problems of a table are one line each."""
DATA_PANEL, PAPERS_PANEL = "On your data, models and code", "On the papers"


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"fedconvex {version('fedconvex')}")
        raise typer.Exit


def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option(errors.TRACEBACK, help="Show where an error comes from; anywhere in the command.")
    ] = False,
) -> None:
    """Options of every command. `errors.run` removes --traceback before typer sees it; here it is only documented."""


def _command(name: str, panel: str, function: str = "") -> Callable[[typer.Typer], None]:
    """Adds the command of that name: a function with a help text, in a module that loads only then."""
    own = name.replace("-", "_")

    def add(app: typer.Typer) -> None:
        home = import_module(f"fedconvex.commands.{own}")
        help_text = getattr(home, f"{own.upper()}_HELP")
        app.command(name, help=help_text, rich_help_panel=panel)(getattr(home, function or own))

    return add


def _bounds(app: typer.Typer) -> None:
    from fedconvex.commands.bounds.command import BOUNDS_HELP, BoundsCommand, bounds

    settings = {"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]}
    decorate = app.command(help=BOUNDS_HELP, rich_help_panel=PAPERS_PANEL, cls=BoundsCommand, context_settings=settings)
    decorate(bounds)


def _deep(app: typer.Typer) -> None:
    from fedconvex.commands import deep

    app.add_typer(deep.app, name="deep", rich_help_panel=DATA_PANEL)


COMMANDS: dict[str, Callable[[typer.Typer], None]] = {
    "audit": _command("audit", DATA_PANEL),
    "recommend": _command("recommend", DATA_PANEL, function="command"),
    "diagnose": _command("diagnose", DATA_PANEL, function="command"),
    "conform": _command("conform", DATA_PANEL),
    "bounds": _bounds,
    "verify": _command("verify", PAPERS_PANEL),
    "landscape": _command("landscape", PAPERS_PANEL),
    "worst-case": _command("worst-case", PAPERS_PANEL),
    "design": _command("design", PAPERS_PANEL),
    "reproduce": _command("reproduce", PAPERS_PANEL),
    "report": _command("report", PAPERS_PANEL),
    "deep": _deep,
}


def command_line(words: list[str]) -> typer.Typer:
    """The command that the words name, alone, since the others need not be imported; all commands where they name none.

    >>> len(command_line(["audit", "--help"]).registered_commands)
    1
    """
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=HELP,
        cls=CommandLine,
    )
    app.callback()(options)
    first = _command_in(words)
    for name, add in COMMANDS.items():
        if first == name or first not in COMMANDS:
            add(app)
    return app


def _command_in(words: list[str]) -> str | None:
    return next((word for word in words if not word.startswith("-")), None)


def __getattr__(name: str) -> Any:
    if name == "app":  # with every command, for callers in Python
        return command_line([])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # a terminal or file in another encoding gets \u03b3 for γ
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    collect_little(_command_in(sys.argv[1:]))
    warnings.simplefilter("ignore")  # libraries' warnings: commands check their results and report problems themselves
    warnings.simplefilter("always", PictureFailed)
    warnings.showwarning = lambda message, *_: say(f"fedconvex: {message}", err=True)
    errors.main(command_line(sys.argv[1:]))
