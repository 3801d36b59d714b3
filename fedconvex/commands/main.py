"""The table of contents of the command line: every command of `fedconvex`, in the order of its help."""

import sys
import warnings
from importlib.metadata import version
from io import TextIOWrapper
from typing import Annotated

import typer

from fedconvex.commands import deep, errors
from fedconvex.commands.audit import AUDIT_HELP, audit
from fedconvex.commands.bounds.command import BOUNDS_HELP, BoundsCommand, bounds
from fedconvex.commands.report import REPORT_HELP, report
from fedconvex.commands.reproduce import REPRODUCE_HELP, reproduce
from fedconvex.commands.terminal import say
from fedconvex.commands.verify import VERIFY_HELP, verify
from fedconvex.commands.worst_case import WORST_CASE_HELP, worst_case

HELP = """What federated-optimization papers promise, computed and checked on your data.

[bold]fedconvex audit diabetes[/bold]                   audit a bundled data set: start here
[bold]fedconvex audit FILE --client-column NAME[/bold]  audit your data
[bold]fedconvex bounds fedprox.theorem4[/bold]          show a theorem, and compute its bound
[bold]fedconvex verify fedsplit[/bold]                  check the proofs of a paper's statements
[bold]fedconvex worst-case fedprox:mu=2 --L 1[/bold]    compute a method's exact worst case

Every number is labelled exact, enclosed (in an interval, with proof) or numeric. Exit status: 0 done, and what was \
checked holds; 1 it does not, or there is no answer; 2 wrong input; 3 not finished. An error is one line."""
DATA_PANEL, PAPERS_PANEL = "On your data and models", "On the papers"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=HELP,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"fedconvex {version('fedconvex')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option(errors.TRACEBACK, help="Show where an error comes from; anywhere in the command.")
    ] = False,
) -> None:
    """Options of every command. `errors.run` removes --traceback before typer sees it; here it is only documented."""


# On your data and models
app.command(help=AUDIT_HELP, rich_help_panel=DATA_PANEL)(audit)
app.command(
    help=BOUNDS_HELP,
    rich_help_panel=PAPERS_PANEL,
    cls=BoundsCommand,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]},
)(bounds)
app.command(help=VERIFY_HELP, rich_help_panel=PAPERS_PANEL)(verify)
app.command("worst-case", help=WORST_CASE_HELP, rich_help_panel=PAPERS_PANEL)(worst_case)
app.command(help=REPRODUCE_HELP, rich_help_panel=PAPERS_PANEL)(reproduce)
app.command(help=REPORT_HELP, rich_help_panel=PAPERS_PANEL)(report)
app.add_typer(deep.app, name="deep", rich_help_panel=DATA_PANEL)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):  # a terminal or file in another encoding gets \u03b3 for γ
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.simplefilter("ignore")  # libraries' warnings: commands check their results and report problems themselves
    errors.main(app)
