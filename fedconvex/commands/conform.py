"""The command `fedconvex conform`: checks an implementation in a Python file against a method."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from fedconvex.commands.terminal import redirected_descriptor, say

CONFORM_HELP = """Does an implementation do what its method's paper says? If not, which fault does it have?

[bold]fedconvex conform wrapper.py:FedDyn --method "FedDyn(alpha=0.1)"[/bold]
[bold]fedconvex conform wrapper.py:FedProx --method "FedProx(mu=1)" --local-solver "GradientDescent(steps=5, \
stepsize=0.1)"[/bold]
[bold]fedconvex conform wrapper.py:FedDyn --json conform.json --junit conform.xml --badge conform.svg[/bold]

The file is run. NAME is a class, object, dict or function in it with the functions that docs/conformance.md \
describes: init, round and server_model, or run, client, server, local_update. Where an option is left out, the \
attribute method, local_solver, loss, weights, precision or time_limit of NAME counts. The kit runs it on small \
problems whose exact trajectories are known. Exit status: 0 the implementation conforms, 1 it differs from the \
method, 2 wrong input, 3 undecided: no deviation, but not all that the method prescribes was seen."""


def conform(
    implementation: Annotated[
        str, typer.Argument(metavar="FILE.py:NAME", help="The implementation: a name in a Python file, which is run.")
    ],
    method: Annotated[
        str | None,
        typer.Option(metavar="METHOD(…)", show_default=False, help="FedDyn(alpha=0.1), Scaffold(stepsize=1/10), …"),
    ] = None,
    local_solver: Annotated[
        str | None,
        typer.Option(
            metavar="SOLVER(…)",
            show_default=False,
            help="The clients' solver where it is not the method's own: GradientDescent(steps=5, stepsize=0.1), …",
        ),
    ] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            help="The clients' loss: half_sum, sum, half_mean, mean (MSELoss) or cross_entropy (labels).",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(show_default=False, help="The server's weights: samples or equal.")
    ] = None,
    precision: Annotated[
        str | None, typer.Option(show_default=False, help="The implementation's arithmetic: float64 or float32.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", show_default=False, help="The most seconds on one problem, by default 60."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - for the terminal.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as JUnit XML, for CI.")] = None,
    issue: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a script of NumPy alone that shows the first deviation, if any."),
    ] = None,
    badge: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdict as an SVG picture.")] = None,
) -> None:
    """Loads the implementation, checks it, prints the report and writes what the options name."""
    from fedconvex.atomic_files import replaces, write_atomically
    from fedconvex.commands.output_files import require_files, saved
    from fedconvex.conformance.guard import ending_the_process
    from fedconvex.conformance.implementation_files import check_file
    from fedconvex.conformance.report_files import badge_of, json_of, junit_of

    quiet = json_file is not None and str(json_file) == "-"  # standard output is then JSON and nothing else
    outputs = {"--json": None if quiet else json_file, "--junit": junit, "--issue": issue, "--badge": badge}
    require_files(outputs, Path(implementation.rpartition(":")[0]))
    options = {"local_solver": local_solver, "loss": loss, "weights": weights, "precision": precision}
    # what the implementation prints goes to standard error
    with redirect_stdout(sys.stderr), redirected_descriptor(), ending_the_process():
        report = check_file(implementation, method, **options, time_limit=time_limit)
    files = {}
    if json_file is not None and not quiet:
        files[json_file] = json_of(report, implementation)
    if junit is not None:
        files[junit] = junit_of(report, implementation)
    if issue is not None and report.deviations:
        files[issue] = report.issue().encode()
    if badge is not None:
        files[badge] = badge_of(report)
    if quiet:
        say(json_of(report, implementation).decode())
    else:
        say(report.report())
    lost = {}
    for path, content in files.items():
        lost[path] = replaces(path, content)
        write_atomically(path, content)
    if lost and not quiet:
        say(saved(lost))
    if not report.passed:
        raise typer.Exit(1 if report.verdict == "differs" else 3)
