"""The command line: `fedconvex report …`, everything on one page."""

from pathlib import Path
from typing import Annotated

import typer

from fedconvex.commands.output_files import require_file, saved

REPORT_HELP = """One HTML page with every statement, its verdict and evidence; it loads nothing, and opens on a phone.

[bold]fedconvex report[/bold]
[bold]fedconvex report --results reproduced[/bold]      with the figures that fedconvex reproduce has run
[bold]fedconvex report --audit audit-diabetes[/bold]    with an audit of your data
[bold]fedconvex report --fresh[/bold]                   every proof run now, instead of recorded verdicts

Formulas, proofs step by step, counterexamples, what holds instead, pictures of each bound against what happens that \
tell their numbers, how loose the bounds are, and with what it was made. Exit status: 0 all verdicts are as recorded, \
1 a verdict has changed (the page says which), 2 wrong input."""


def report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER | STATEMENT]…",
            show_default=False,
            help="Papers (fedprox) or statements (fedprox.theorem4); without any, every statement.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the page is written.")] = Path("report.html"),
    results: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="What fedconvex reproduce wrote; it goes before the package's results."),
    ] = None,
    audit: Annotated[
        list[Path] | None, typer.Option(metavar="FOLDER", help="What fedconvex audit wrote; repeatable.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run every proof anew, instead of taking kept and recorded verdicts.")
    ] = False,
) -> None:
    """Collects, writes, says where."""
    from fedconvex.atomic_files import replaces, write_atomically
    from fedconvex.report import report as made

    require_file(out, "--out")
    page, changed = made(
        names or [], results=results, audits=audit or [], fresh=fresh, say=lambda words: typer.echo(words, err=True)
    )
    lost = {out: replaces(out, page.encode())}
    write_atomically(out, page.encode())
    for line in changed:
        typer.echo(f"changed: {line}")
    typer.echo(f"{saved(lost)} ({len(page.encode()) / 1e6:.1f} MB)")
    if changed:
        raise typer.Exit(1)
