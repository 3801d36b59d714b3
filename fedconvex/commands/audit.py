"""`fedconvex audit`: where methods converge to on the user's data, how far that is from the minimiser, and how fast."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fedconvex.commands.output_files import require_not_replaced, require_writable, saved
from fedconvex.json_files import to_json

if TYPE_CHECKING:
    from fedconvex.data import FederatedData

ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".npz", ".svm", ".libsvm", ".svmlight", ".txt")  # .t is the test set
DATA, COLUMNS, MODEL, METHODS, OUTPUT = "Data and clients", "Columns", "Model", "Methods", "Output"
AUDIT_HELP = """Where FedGD, FedProx and FedSplit converge on your data, how far from the minimiser, and how fast.

[bold]fedconvex audit diabetes[/bold]
[bold]fedconvex audit measurements.csv --client-column hospital[/bold]
[bold]fedconvex audit ulm.csv bonn.csv --target-column cost[/bold]   each file is a client; so is each one in a folder
[bold]fedconvex audit a9a --clients 80 --partition dirichlet:0.3 --method fedprox:mu=0.1[/bold]

Each bias is labelled: an "enclosed" one is proved to lie in the interval in audit.json, a "numeric" one is floating \
point. Exit status: 0 done, 1 the objective has no minimiser, 2 wrong input."""


class Model(StrEnum):
    """The model to fit."""

    auto = "auto"
    least_squares = "least-squares"
    logistic = "logistic"
    multinomial = "multinomial"


class TaskChoice(StrEnum):
    """What the targets are."""

    auto = "auto"
    regression = "regression"
    binary = "binary"
    multiclass = "multiclass"


class Imputation(StrEnum):
    """What missing values become."""

    median = "median"
    mean = "mean"
    most_frequent = "most_frequent"
    drop = "drop"


class Weights(StrEnum):
    """The clients' weights."""

    pooled = "pooled"
    uniform = "uniform"


def audit(
    data: Annotated[
        list[str],
        typer.Argument(
            help="diabetes, breast_cancer, digits, or a CSV, Parquet, NPZ or LIBSVM file; several CSV or Parquet "
            "files, or a folder of them: each is a client."
        ),
    ],
    clients: Annotated[
        int | None, typer.Option(help="Partition the samples among this many clients.", rich_help_panel=DATA)
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            help="The partition: iid, dirichlet:ALPHA (0.3 is skewed), by-label:D (D labels each), "
            "lognormal:SIGMA (sizes), both joined by a comma, power-law-labels:D.",
            rich_help_panel=DATA,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the partition.", rich_help_panel=DATA)] = 0,
    client_column: Annotated[
        str | None, typer.Option(help="The column that names each sample's client.", rich_help_panel=DATA)
    ] = None,
    target_column: Annotated[
        str | None, typer.Option(help="The column to predict (default: target, label or y).", rich_help_panel=DATA)
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="csv, tsv, parquet, npz or libsvm (default: by the file's ending).", rich_help_panel=DATA),
    ] = None,
    num_features: Annotated[
        int | None,
        typer.Option(help="LIBSVM: the number of columns, if the last ones are empty.", rich_help_panel=DATA),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column that is no feature; repeatable.", rich_help_panel=COLUMNS)
    ] = None,
    one_hot: Annotated[
        list[str] | None,
        typer.Option(help="A column of categories to encode; repeatable.", rich_help_panel=COLUMNS),
    ] = None,
    impute: Annotated[
        Imputation | None,
        typer.Option(help="What missing values become; drop leaves out their rows.", rich_help_panel=COLUMNS),
    ] = None,
    decimal: Annotated[
        str | None,
        typer.Option(help="Decimal mark, . or , where a column does not show it.", rich_help_panel=COLUMNS),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(help="Words for missing values: none,-999 (default: na, nan, …).", rich_help_panel=COLUMNS),
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(help="Column in which every word is a category, also none; repeatable.", rich_help_panel=COLUMNS),
    ] = None,
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize", help="Scale every feature to mean 0, variance 1.", rich_help_panel=COLUMNS
        ),
    ] = None,
    task: Annotated[
        TaskChoice,
        typer.Option(
            help="What to predict (auto: more than 10 whole numbers are a regression).", rich_help_panel=MODEL
        ),
    ] = TaskChoice.auto,
    model: Annotated[
        Model, typer.Option(help="The model to fit (auto: from the target's values).", rich_help_panel=MODEL)
    ] = Model.auto,
    ridge: Annotated[
        float | None, typer.Option(help="Ridge of the logistic models (default 1e-3).", rich_help_panel=MODEL)
    ] = None,
    weights: Annotated[
        Weights,
        typer.Option(help="pooled: every sample has the same weight; uniform: every client.", rich_help_panel=MODEL),
    ] = Weights.pooled,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="fedgd:stepsize=1/20,local_steps=10, fedavg:epochs=5, fedprox:mu=2, fedsplit, …; repeatable.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Run each method for at most this many rounds.", rich_help_panel=METHODS)
    ] = 300,
    tolerance: Annotated[
        float, typer.Option(help="Relative suboptimality (f(x) − f*) / (f(0) − f*) to reach.", rich_help_panel=METHODS)
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
    """Runs the audit of `fedconvex.audit`, saves its results and prints them."""
    from rich.text import Text

    from fedconvex.audit.display import print_audit
    from fedconvex.audit.measure import audit as audit_problem
    from fedconvex.audit.methods import read_method
    from fedconvex.audit.recommendation import require_tolerance
    from fedconvex.audit.report import FILES, save, to_dictionary
    from fedconvex.audit.scaling import require_comparable_scales
    from fedconvex.commands.terminal import console, error_console, say
    from fedconvex.data import load
    from fedconvex.locks import locked_folder
    from fedconvex.safe_text import one_line

    folder = out if out is not None else Path(f"audit-{_stem(data[0])}{'-and-more' if data[1:] else ''}")
    require_writable(folder, names=FILES)
    for file in data:
        require_not_replaced(Path(file), folder, FILES)
    for text in method or ():  # before the data are read
        read_method(text)
    require_tolerance(tolerance)
    messages = error_console()
    federated = load(
        data if data[1:] else data[0],
        clients=clients,
        partition=partition,
        client_column=client_column,
        target_column=target_column,
        task=cast(Any, task.value),
        drop=drop or (),
        one_hot=one_hot or (),
        impute=None if impute is None else cast(Any, impute.value),
        decimal=cast(Any, decimal),
        missing=missing,
        categories=categories or (),
        standardize=standardize is True,
        format=format,
        num_features=num_features,
        seed=seed,
    )
    for note in federated.notes:
        messages.print(Text(one_line(note)))
    problem = federated.problem(model=model.value, ridge=ridge, weights=weights.value)
    chosen = model_and_reason(federated, model.value)
    if standardize is None:
        require_comparable_scales(problem, rounds, federated.feature_names)
    with locked_folder(folder, "--out"), messages.status("…") as status:

        def say_progress(line: str) -> None:
            if messages.is_terminal:
                status.update(Text(line))  # a plain string would be read as markup
            else:
                messages.print(line)

        source = named(data)
        say_progress(chosen)
        result = audit_problem(
            problem, method, rounds=rounds, tolerance=tolerance, source=source,
            coefficient_names=federated.coefficient_names(problem), feature_names=federated.feature_names,
            say=say_progress,
        )  # fmt: skip
        files = save(result, folder)
    if as_json:
        say(to_json(to_dictionary(result), ascii_only=True))
    else:
        output = console()
        output.print(Text(one_line(chosen)))
        print_audit(result, output)
        output.print()
        output.print(saved(files), soft_wrap=True)


def named(data: list[str]) -> str:
    """The data's name for people."""
    from fedconvex.safe_text import one_line

    return one_line(Path(data[0]).name) + (f" and {len(data) - 1} more" if data[1:] else "")


def model_and_reason(data: "FederatedData", model: str) -> str:
    """The kind of regression, and what it was chosen by, or who chose it."""
    return data.task_and_reason if model == "auto" else f"{model} (--model; target {data.target_name!r})"


def _stem(data: str) -> str:
    """The name of the data set, or of the file without the endings of its format."""
    name = "".join(letter for letter in Path(data).resolve().name.removesuffix(".gz") if letter not in "*?[]")
    return name.removesuffix(next((end for end in ENDINGS if name.endswith(end) and name != end), ""))
