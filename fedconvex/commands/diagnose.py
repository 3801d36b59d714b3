"""`fedconvex diagnose`: why a run does not reach a tolerance, from the losses that it left."""

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from fedconvex.commands.data_options import problem_from, with_data_options
from fedconvex.json_files import to_json

DIAGNOSE_HELP = """Why is a run stuck? From the losses of any framework's run, one for each round.

[bold]fedconvex diagnose diabetes losses.csv --method fedprox:mu=2[/bold]
[bold]fedconvex diagnose measurements.csv losses.csv --client-column hospital --method fedgd:stepsize=1/20[/bold]
[bold]fedconvex diagnose diabetes losses.csv --method feddyn:alpha=3 --participation 2[/bold]

The file has a column loss (of the same objective) or gradient_norm, and a row for each round, the first before round \
1; empty cells are rounds without a loss. The answer is a bias floor, slow contraction, divergence by stepsize, \
sampling noise, an inexact local solver, stale memory, or losses that are not this method's, with its number, the \
evidence and the cure. Exit status: 0 the run reached the tolerance, 1 it did not, 2 wrong input."""


def diagnose(
    data: Annotated[
        str, typer.Argument(help="diabetes, breast_cancer, digits, or a CSV, Parquet, NPZ or LIBSVM file.")
    ],
    losses: Annotated[Path, typer.Argument(help="CSV file with a column loss or gradient_norm.")],
    method: Annotated[str, typer.Option(help="The run's method: fedprox:mu=2, fedgd:stepsize=1/20,local_steps=10, …")],
    tolerance: Annotated[
        float, typer.Option(help="Relative suboptimality (f(x) − f*) / (f(x_0) − f*) to reach.")
    ] = 1e-6,
    solver_steps: Annotated[
        int | None,
        typer.Option(help="Gradient steps of a client on its subproblem (default: the method's own local solution)."),
    ] = None,
    solver_stepsize: Annotated[float | None, typer.Option(help="Their stepsize.")] = None,
    participation: Annotated[
        int | None, typer.Option(help="The number of clients sampled in each round of the run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    **options: Any,
) -> None:
    """Runs `fedconvex.diagnose` on the losses and prints its result."""
    from fedconvex.audit.methods import read_parameters
    from fedconvex.audit.run_series import read_losses
    from fedconvex.audit.stuck_runs import diagnose as diagnosed
    from fedconvex.commands.terminal import say
    from fedconvex.errors import InvalidInput
    from fedconvex.local_solvers import GradientDescent
    from fedconvex.participation import Uniform

    kind, given = read_parameters(method)
    try:
        made = kind(**{name: int(v) if v.denominator == 1 else v for name, v in given.items()})
    except TypeError:
        name = re.split("[:(]", method)[0].strip()
        lacking = [f.name for f in fields(kind) if f.default is MISSING and f.name not in given]  # type: ignore[arg-type]
        cure = f"write {name}:{','.join(f'{parameter}=NUMBER' for parameter in lacking)}"
        raise InvalidInput("method", method, f"lacks {' and '.join(lacking) or 'a parameter'}", cure) from None
    if (solver_steps is None) != (solver_stepsize is None):
        cure = "give both --solver-steps and --solver-stepsize"
        raise InvalidInput("solver_steps", solver_steps, f"comes with solver_stepsize = {solver_stepsize}", cure)
    numbers, column = read_losses(losses)
    _, problem = problem_from([data], options)
    found = diagnosed(
        numbers,
        made,
        problem,
        tolerance=tolerance,
        kind=column,
        local_solver=None if solver_steps is None else GradientDescent(steps=solver_steps, stepsize=solver_stepsize),
        participation=None if participation is None else Uniform(participation),
    )
    say(to_json(found.to_dictionary(), ascii_only=True) if as_json else str(found))
    if found.cause != "not stuck":
        raise typer.Exit(1)


command = with_data_options(diagnose)
