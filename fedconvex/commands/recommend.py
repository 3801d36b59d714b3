"""`fedconvex recommend`: which method to run on the user's data, with which parameters."""

from typing import Annotated, Any

import typer

from fedconvex.commands.data_options import problem_from, with_data_options
from fedconvex.json_files import to_json

LIMITS = "Limits of the federation"
RECOMMEND_HELP = """Which method to run on your data, with which parameters, and in how many rounds.

[bold]fedconvex recommend diabetes[/bold]
[bold]fedconvex recommend measurements.csv --client-column hospital --tolerance 1e-4[/bold]
[bold]fedconvex recommend diabetes --local-steps 5[/bold]     clients can do at most 5 gradient steps a round
[bold]fedconvex recommend diabetes --participation 3[/bold]   3 clients take part in a round
[bold]fedconvex recommend diabetes --among fedavg,fedprox[/bold]   the methods that your framework has

Each method gets the parameters that need the fewest rounds on the data, and is run with them: predicted and measured \
rounds stand side by side. Exit status: 0 a method reaches the tolerance, 1 none does within the limits, or the \
objective has no minimiser, 2 wrong input."""


def recommend(
    data: Annotated[
        list[str],
        typer.Argument(
            help="diabetes, breast_cancer, digits, or a CSV, Parquet, NPZ or LIBSVM file; several CSV or Parquet "
            "files, or a folder of them: each is a client."
        ),
    ],
    tolerance: Annotated[float, typer.Option(help="Relative suboptimality (f(x) − f*) / (f(0) − f*) to reach.")] = 1e-6,
    rounds: Annotated[int | None, typer.Option(help="At most this many rounds.", rich_help_panel=LIMITS)] = None,
    local_steps: Annotated[
        int | None,
        typer.Option(help="At most this many gradient steps of a client in a round.", rich_help_panel=LIMITS),
    ] = None,
    participation: Annotated[
        int | None, typer.Option(help="The number of clients sampled in each round.", rich_help_panel=LIMITS)
    ] = None,
    among: Annotated[
        str | None, typer.Option(help="Only these methods: fedavg,fedprox,scaffold.", rich_help_panel=LIMITS)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    **options: Any,
) -> None:
    """Runs `fedconvex.recommend` and prints its result."""
    from fedconvex.audit.recommendation import recommend as recommended
    from fedconvex.commands.terminal import say
    from fedconvex.participation import Uniform

    _, problem = problem_from(data, options)
    drawn = None if participation is None else Uniform(participation)
    names = None if among is None else among.split(",")
    found = recommended(
        problem, tolerance, rounds, local_steps, drawn, among=names, say=lambda line: say(line, err=True)
    )
    say(to_json(found.to_dictionary(), ascii_only=True) if as_json else str(found))
    best = found.best
    if not best.is_confirmed or best.predicted_rounds is best.measured_rounds is None:
        raise typer.Exit(1)


command = with_data_options(recommend)
