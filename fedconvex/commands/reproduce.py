"""The command `fedconvex reproduce`: run the papers' figures and tables again and compare them."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.commands.terminal import say
from fedconvex.errors import FedconvexError, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from fedconvex.reproduce import Experiment

REPRODUCE_HELP = """Recompute the papers' figures and tables; compare published numbers, ours and the theory's.

[bold]fedconvex reproduce list[/bold]               list experiments, their data files and run times
[bold]fedconvex reproduce fedsplit.figure1[/bold]   run one, several, or all of a paper: fedsplit
[bold]fedconvex reproduce all --quick[/bold]        run reduced versions: minutes without data files, else hours
[bold]fedconvex reproduce claims[/bold]             list the papers' claims with verdicts
[bold]fedconvex reproduce table[/bold]              print numbers, claims and choices as Markdown

Each experiment gets a folder with runs/*.parquet, figure.png, figure.svg and summary.json. A second call resumes \
interrupted runs and reads finished ones. Exit status: 0 done, 1 an experiment named by its id lacks its data files, \
or runs failed, 2 wrong input. A contradicted claim is a result, not a failure."""


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
            envvar="FEDCONVEX_DATA",
            help="Folder that contains mnist/, cifar10/, fedprox_logs/, … (those that you have).",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes (default: one per core).")] = None,
) -> None:
    """List, print earlier results, or run the chosen experiments."""
    from fedconvex.commands.output_files import require_writable
    from fedconvex.reproduce.specification import choose, experiments
    from fedconvex.reproduce.summary import FILES, last_results, markdown

    known = experiments(quick=quick)
    data_dir = _holding(data_dir)
    if len(what) == 1 and what[0] in ("list", "claims", "table"):
        if what[0] == "list":
            _print_list(known, data_dir)
        elif what[0] == "claims":
            _print_last_claims(last_results(known, out))
        else:
            say(markdown(last_results(known, out)))
        return
    chosen = choose(what, known)
    if data_dir is not None and not data_dir.is_dir():
        raise InvalidInput("--data-dir", str(data_dir), "is no folder", "give the folder that holds mnist/ and others")
    if jobs is not None and jobs < 1:
        raise InvalidInput("--jobs", jobs, "must be at least 1", "leave it out for one per core")
    out = out / "quick" if quick else out
    for experiment in chosen:
        require_writable(out / experiment.id, names=FILES)
    lacking = [e.id for e in chosen if not _reproduce(e, out, data_dir, jobs, e.id in what)]
    if lacking:
        raise typer.Exit(1)


def _holding(data_dir: Path | None) -> Path | None:
    """The folder that holds mnist/ and others, also where one of these was given."""
    from fedconvex.reproduce.inputs import FILES

    inside = data_dir is not None and data_dir.is_dir() and data_dir.resolve().name in FILES
    return data_dir.resolve().parent if data_dir is not None and inside else data_dir


def _reproduce(experiment: "Experiment", out: Path, data_dir: Path | None, jobs: int | None, by_id: bool) -> bool:
    """Run one experiment and print its results. False if it failed, or was named by its id and lacks data files."""
    from rich.text import Text

    from fedconvex.commands.output_files import saved
    from fedconvex.commands.terminal import console
    from fedconvex.display.text import print_table
    from fedconvex.reproduce.inputs import missing
    from fedconvex.reproduce.pipeline import run_experiment
    from fedconvex.reproduce.summary import number_table

    output = console()
    output.print(Text.assemble((experiment.id, "bold"), f"  {experiment.title}"), soft_wrap=True)
    reason = missing(experiment, data_dir)
    if reason is not None:
        output.print(f"  not run: {reason}", soft_wrap=True)
        return not by_id
    begun = time.perf_counter()
    try:
        summary, files = run_experiment(experiment, out, data_dir, jobs)
    except FedconvexError as error:  # reported here, so that the other experiments run
        output.print(f"  failed: {error}", soft_wrap=True)
        return False
    if summary["note"]:
        output.print(f"  quick: {summary['note']}", soft_wrap=True)
    if summary["numbers"]:
        print_table(number_table(summary), output)
    _print_claims(summary, output)
    output.print(f"  {time.perf_counter() - begun:.0f} s; {saved(dict.fromkeys(files, False))}\n", soft_wrap=True)
    return True


def _print_claims(summary: Mapping[str, Any], output: "Console") -> None:
    from rich.text import Text

    from fedconvex.reproduce.summary import claims

    colours = {"reproduced": "green", "contradicted": "red", "not testable here": "yellow"}
    for first, *others in claims(summary):
        output.print(Text.assemble("  ", (first.verdict, colours.get(first.verdict, "")), f": {first.text}"))
        for one in others:
            output.print(f"    {one.remark}", soft_wrap=True)


def _print_last_claims(results: Mapping[str, Mapping[str, Any]]) -> None:
    from rich.text import Text

    from fedconvex.commands.terminal import console

    output = console()
    if not results:
        raise InvalidInput("claims", "", "there are no results yet", "run fedconvex reproduce all --quick first")
    counts: dict[str, dict[str, int]] = {}
    for key, result in results.items():
        if not result["claims"]:
            continue
        kind = "quick runs, not conclusive" if result["quick"] else "full runs"
        output.print(Text.assemble((key, "bold"), f"  {kind.replace('runs', 'run')}, {result['date'][:10]}"))
        _print_claims(result, output)
        for claim in result["claims"]:
            of_kind = counts.setdefault(kind, {})
            of_kind[claim["verdict"]] = of_kind.get(claim["verdict"], 0) + 1
    for kind, of_kind in counts.items():
        output.print(f"\n{kind}: " + ", ".join(f"{number} {verdict}" for verdict, number in of_kind.items()))


def _print_list(known: "Mapping[str, Experiment]", data_dir: Path | None) -> None:
    from fedconvex.commands.terminal import console
    from fedconvex.display.documents import TableBlock
    from fedconvex.display.text import print_table
    from fedconvex.reproduce.inputs import missing

    rows = []
    for key, experiment in known.items():
        found = " (not found)" if missing(experiment, data_dir) else " (found)"
        needs = ", ".join(experiment.needs) + found * bool(experiment.needs)
        rows.append((key, experiment.title, needs, _time(experiment.seconds), _time(experiment.quick_seconds)))
    print_table(TableBlock(("id", "title", "needs", "full", "--quick"), rows, 2), console())


def _time(seconds: float) -> str:
    size, unit = (1, "s") if seconds < 100 else (60, "min") if seconds < 6000 else (3600, "h")
    return f"{seconds / size:.0f} {unit}"
