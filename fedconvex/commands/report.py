"""The command `fedconvex report`: all statements with their verdicts on one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from fedconvex.commands.output_files import require_file, saved
from fedconvex.commands.terminal import say

REPORT_HELP = """Write one self-contained HTML page with every statement, its verdict and evidence.

[bold]fedconvex report[/bold]
[bold]fedconvex report --results reproduced[/bold]      with the results of fedconvex reproduce
[bold]fedconvex report --audit audit-diabetes[/bold]    with an audit of your data
[bold]fedconvex report --fresh[/bold]                   run every proof instead of using recorded verdicts

It has formulas, proofs step by step, counterexamples, corrected statements, plots of each bound against runs, the \
looseness of the bounds, and the versions of all libraries. Exit status: 0 all verdicts are as recorded, 1 a verdict \
has changed (the page says which), 2 wrong input."""


def report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER | STATEMENT]…",
            show_default=False,
            help="Papers (fedprox) or statements (fedprox.theorem4); without any, every statement.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")] = Path("report.html"),
    results: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Results of fedconvex reproduce; they precede the package's."),
    ] = None,
    audit: Annotated[
        list[Path] | None, typer.Option(metavar="FOLDER", help="Results of fedconvex audit; repeatable.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run every proof instead of using cached and recorded verdicts.")
    ] = False,
) -> None:
    """Make the page with `fedconvex.report.report` and write it."""
    from fedconvex.atomic_files import replaces, write_atomically
    from fedconvex.report import report as made

    require_file(out, "--out")
    page, changed = made(
        names or [], results=results, audits=audit or [], fresh=fresh, say=lambda words: say(words, err=True)
    )
    lost = {out: replaces(out, page.encode())}
    write_atomically(out, page.encode())
    for line in changed:
        say(f"changed: {line}")
    say(f"{saved(lost)} ({len(page.encode()) / 1e6:.1f} MB)")
    if changed:
        raise typer.Exit(1)
