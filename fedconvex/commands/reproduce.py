"""The command line: `fedconvex reproduce …`, the papers' figures and tables, run again."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.errors import FedconvexError, InvalidInput

if TYPE_CHECKING:
    from fedconvex.reproduce import Experiment

REPRODUCE_HELP = """Run the figures and tables of the papers again, and compare: published, ours, the theory's.

[bold]fedconvex reproduce list[/bold]               what there is, needs, takes
[bold]fedconvex reproduce fedsplit.figure1[/bold]   one, several, or a paper: fedsplit
[bold]fedconvex reproduce all --quick[/bold]        reduced: minutes for what needs no data files, else hours
[bold]fedconvex reproduce claims[/bold]             what holds of the papers' claims
[bold]fedconvex reproduce table[/bold]              numbers, claims, choices: Markdown

Each gets a folder with runs/*.parquet, figure.png, figure.svg and summary.json. Started again, it goes on where it \
was stopped, and reads what is finished. Exit status: 0 done, 1 what was asked for by its id lacks its data files, or \
runs failed, 2 wrong input. A claim that is contradicted is a result, not a failure."""


def reproduce(
    what: Annotated[
        list[str], typer.Argument(metavar="list | claims | table | ID… | PAPER… | all", show_default=False)
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A reduced version, in OUT/quick: fewer rounds, small data.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("reproduced"),
    data_dir: Annotated[
        Path | None,
        typer.Option(
            envvar="FEDCONVEX_DATA", help="Folder with mnist/, cifar10/, fedprox_logs/, … where you have them."
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes (default: one per core).")] = None,
) -> None:
    """Chooses, runs, saves, prints."""
    from fedconvex.commands.output_files import require_writable
    from fedconvex.reproduce.specification import choose, experiments
    from fedconvex.reproduce.summary import last_results, markdown

    known = experiments(quick=quick)
    if len(what) == 1 and what[0] in ("list", "claims", "table"):
        if what[0] == "list":
            _print_list(known, data_dir)
        elif what[0] == "claims":
            _print_claims(last_results(known, out))
        else:
            typer.echo(markdown(last_results(known, out)))
        return
    chosen = choose(what, known)
    if data_dir is not None and not data_dir.is_dir():
        raise InvalidInput("--data-dir", str(data_dir), "is no folder", "give the folder that holds mnist/ and others")
    if jobs is not None and jobs < 1:
        raise InvalidInput("--jobs", jobs, "must be at least 1", "leave it out for one per core")
    require_writable(out)
    lacking = [e.id for e in chosen if not _reproduce(e, out / "quick" if quick else out, data_dir, jobs, e.id in what)]
    if lacking:
        raise typer.Exit(1)


def _reproduce(experiment: "Experiment", out: Path, data_dir: Path | None, jobs: int | None, by_id: bool) -> bool:
    """One experiment from its runs to its tables; whether all went as it was asked for."""
    from rich.console import Console

    from fedconvex.reproduce.inputs import missing
    from fedconvex.reproduce.pipeline import run_experiment

    console = (
        Console(highlight=False) if typer.get_text_stream("stdout").isatty() else Console(width=132, highlight=False)
    )
    console.print(f"[bold]{experiment.id}[/bold]  {experiment.title}", soft_wrap=True)
    reason = missing(experiment, data_dir)
    if reason is not None:
        console.print(f"  not run: {reason}", soft_wrap=True, markup=False)
        return not by_id
    begun = time.perf_counter()
    try:
        summary, files = run_experiment(experiment, out, data_dir, jobs)
    except FedconvexError as error:  # the others go on
        console.print(f"  failed: {error}", soft_wrap=True, markup=False)
        return False
    if summary["note"]:
        console.print(f"  quick: {summary['note']}", soft_wrap=True, markup=False)
    _print_numbers(summary, console)
    _print_rows(summary["claims"], console)
    saved = ", ".join(str(file) for file in files)
    console.print(f"  {time.perf_counter() - begun:.0f} s; saved {saved}\n", soft_wrap=True, markup=False)
    return True


def _print_numbers(summary: Mapping[str, Any], console: Any) -> None:
    from rich.table import Table

    from fedconvex.reproduce.summary import COLUMNS, shown

    if not summary["numbers"]:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2))
    for name in ("", "published", "released code", "ours", "theory", ""):
        table.add_column(name, justify="left" if not name else "right")
    for row in summary["numbers"]:
        verdict = {None: "", True: "agrees", False: f"differs: {row['why']}"}[row["agrees"]]
        table.add_row(row["what"], *(shown(row[name]) for name in COLUMNS), verdict)
    console.print(table)


def _print_rows(claims: list[dict[str, Any]], console: Any) -> None:
    colours = {"reproduced": "green", "contradicted": "red", "not testable here": "yellow"}
    for claim in claims:
        console.print(f"  [{colours[claim['verdict']]}]{claim['verdict']}[/]: {claim['claim']} ({claim['source']})")
        console.print(f"    {claim['number']}", markup=False)
        if claim["note"]:
            console.print(f"    {claim['note']}", markup=False)


def _print_claims(results: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.console import Console

    console = (
        Console(highlight=False) if typer.get_text_stream("stdout").isatty() else Console(width=132, highlight=False)
    )
    if not results:
        raise InvalidInput("claims", "", "there are no results yet", "run fedconvex reproduce all --quick first")
    counts: dict[str, dict[str, int]] = {}
    for key, result in results.items():
        if not result["claims"]:
            continue
        kind = "quick runs, not conclusive" if result["quick"] else "full runs"
        console.print(f"[bold]{key}[/bold]  {kind.replace('runs', 'run')}, {result['date'][:10]}")
        _print_rows(result["claims"], console)
        for claim in result["claims"]:
            of_kind = counts.setdefault(kind, {})
            of_kind[claim["verdict"]] = of_kind.get(claim["verdict"], 0) + 1
    for kind, of_kind in counts.items():
        console.print(f"\n{kind}: " + ", ".join(f"{number} {verdict}" for verdict, number in of_kind.items()))


def _print_list(known: "Mapping[str, Experiment]", data_dir: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    from fedconvex.reproduce.inputs import missing

    table = Table(box=None, pad_edge=False)
    for name, justify in (
        ("id", "left"),
        ("title", "left"),
        ("needs", "left"),
        ("full", "right"),
        ("--quick", "right"),
    ):
        table.add_column(name, justify=justify, no_wrap=name == "id")  # type: ignore[arg-type]
    for key, experiment in known.items():
        needs = ", ".join(experiment.needs)
        if needs:
            needs += " (not found)" if missing(experiment, data_dir) else " (found)"
        table.add_row(key, experiment.title, needs, _time(experiment.seconds), _time(experiment.quick_seconds))
    console = Console() if typer.get_text_stream("stdout").isatty() else Console(width=132)
    console.print(table)


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.0f} h"
    )
