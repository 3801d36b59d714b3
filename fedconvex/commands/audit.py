"""`fedconvex audit`: where methods converge to on the user's data, how far that is from the minimiser, and how fast."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fedconvex.commands.output_files import require_writable, saved

ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".npz", ".svm", ".libsvm", ".svmlight", ".txt")  # .t is the test set
DATA, MODEL, METHODS, OUTPUT = "Data and clients", "Model", "Methods", "Output"
AUDIT_HELP = """Where do FedGD, FedProx and FedSplit stop on your data, how far from the truth, and how fast are they?

[bold]fedconvex audit diabetes[/bold]
[bold]fedconvex audit measurements.csv --client-column hospital[/bold]
[bold]fedconvex audit a9a --clients 80 --partition dirichlet:0.3 --method fedprox:mu=0.1[/bold]

Each bias says how it is known: "enclosed" is proved to lie in the interval that audit.json gives, "numeric" is \
floating point. Exit status: 0 done, 1 the data admit no answer (no minimiser), 2 wrong input."""


class Model(StrEnum):
    """Which model is fitted."""

    auto = "auto"
    least_squares = "least-squares"
    logistic = "logistic"
    multinomial = "multinomial"


class Weights(StrEnum):
    """How clients are weighted."""

    pooled = "pooled"
    uniform = "uniform"


def audit(
    data: Annotated[
        str, typer.Argument(help="diabetes, breast_cancer, digits, or a CSV, Parquet, NPZ or LIBSVM file.")
    ],
    clients: Annotated[
        int | None, typer.Option(help="Deal the samples to this many clients.", rich_help_panel=DATA)
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            help="How to deal: iid, dirichlet:ALPHA (0.3 is skewed), by-label:D (D labels each), "
            "lognormal:SIGMA (sizes), both joined by a comma, power-law-labels:D.",
            rich_help_panel=DATA,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the deal.", rich_help_panel=DATA)] = 0,
    client_column: Annotated[
        str | None, typer.Option(help="The column that says whose sample it is.", rich_help_panel=DATA)
    ] = None,
    target_column: Annotated[
        str | None, typer.Option(help="The column to predict (default: target, label or y).", rich_help_panel=DATA)
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="csv, tsv, parquet, npz or libsvm (default: by the file's ending).", rich_help_panel=DATA),
    ] = None,
    num_features: Annotated[
        int | None, typer.Option(help="LIBSVM: the number of columns, where the last are empty.", rich_help_panel=DATA)
    ] = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Bring every feature to mean 0, variance 1.", rich_help_panel=DATA)
    ] = False,
    model: Annotated[
        Model, typer.Option(help="What is fitted (auto: by the kind of target).", rich_help_panel=MODEL)
    ] = Model.auto,
    ridge: Annotated[
        float | None, typer.Option(help="Ridge of the logistic models (default 1e-3).", rich_help_panel=MODEL)
    ] = None,
    weights: Annotated[
        Weights,
        typer.Option(help="pooled: every sample counts the same; uniform: every client does.", rich_help_panel=MODEL),
    ] = Weights.pooled,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="fedgd:stepsize=1/20,local_steps=10, fedprox:mu=2, fedsplit, feddyn:alpha=3, scaffold, …; repeatable.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Run each method for at most this many rounds.", rich_help_panel=METHODS)
    ] = 300,
    tolerance: Annotated[
        float, typer.Option(help="Rounds are counted to this part of the first gap.", rich_help_panel=METHODS)
    ] = 1e-6,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for audit.json, trajectories.parquet, audit.png (default audit-NAME).", rich_help_panel=OUTPUT
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Loads, measures, saves, prints."""
    from rich.console import Console

    from fedconvex.audit.measure import audit as audit_problem
    from fedconvex.audit.report import print_audit, save, to_dictionary
    from fedconvex.data import load

    folder = out if out is not None else Path(f"audit-{_stem(data)}")
    require_writable(folder)
    messages = Console(stderr=True)
    federated = load(
        data,
        clients=clients,
        partition=partition,
        client_column=client_column,
        target_column=target_column,
        format=format,
        num_features=num_features,
        standardize=standardize,
        seed=seed,
    )
    problem = federated.problem(model=model.value, ridge=ridge, weights=weights.value)
    with messages.status("…") as status:

        def say(line: str) -> None:
            if messages.is_terminal:
                status.update(line)
            else:
                messages.print(line, highlight=False)

        result = audit_problem(problem, method, rounds=rounds, tolerance=tolerance, source=Path(data).name, say=say)
        files = save(result, folder)
    if as_json:
        typer.echo(json.dumps(to_dictionary(result), indent=1, allow_nan=False))
    else:
        console = Console() if sys.stdout.isatty() else Console(width=132)
        print_audit(result, console)
        console.print()
        console.print(saved(files), highlight=False, markup=False)


def _stem(data: str) -> str:
    """The name of the data set or of the file, without what tells its format."""
    name = Path(data).name.removesuffix(".gz")
    return name.removesuffix(next((end for end in ENDINGS if name.endswith(end) and name != end), ""))
