"""The command line: `fedconvex deep run CONFIG.toml`, a method on a PyTorch model with the theory laid over the run."""

import json
import os
import sys
import time
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.errors import MissingLibrary

if TYPE_CHECKING:
    from fedconvex.deep.runner import DeepRun

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Run methods on PyTorch models.")

EXAMPLE = """\
# fedconvex deep run THIS_FILE

[data]
name = "digits"                # or a CSV, Parquet, NPZ or LIBSVM file, its path seen from here;
                               # or mnist, emnist, cifar10, cifar100, shakespeare, …, with data_dir = "FOLDER"
clients = 10
partition = "iid"              # dirichlet:ALPHA, by-label:D, lognormal:SIGMA, power-law-labels:D
test = 0.2

[model]
name = "fully_connected"       # logistic_regression, two_layer_cnn, character_lstm, resnet18,
                               # or sentiment_lstm with vectors = "GLOVE.txt" beside the data
sizes = [64, 20, 10]

[method]
name = "FedProx"               # FedAvg, FedDyn, Scaffold, FedNova, FedDANE, …
mu = 8

[local_solver]
name = "GradientDescent"       # SGD: epochs, batch_size, stepsize, momentum, …
steps = 30
stepsize = 0.07

[participation]
name = "Weighted"              # Uniform, UniformThenWeighted, Bernoulli, Full
K = 60

[run]
rounds = 100
weights = "samples"            # n_k/n; without it every client counts the same
every = 4                      # look at the model before every fourth round
measure = "all"                # or some of heterogeneity, curvature, decrease, memory, inexactness, drift
"""
RUN_HELP = """Run a method on a PyTorch model, measure what the theorems are about, and lay their promises over the run.

[bold]fedconvex deep example > run.toml[/bold]
[bold]fedconvex deep run run.toml[/bold]
[bold]fedconvex deep run run.toml --rounds 200 --device cuda --out results/first[/bold]

The folder gets run.csv (one row per round, written as it goes), run.safetensors (the state: the same command goes on \
from it), model.safetensors (the trained parameters), and, where the constants were measured, bounds.csv (what each \
statement promises in each round, or which assumption fails) and run.png. Exit status: 0 done, 1 stopped early (the \
model was no longer finite), 2 wrong input."""

DOWNLOAD_HELP = """Fetch the files of a data set, on request: no other command, and no import, fetches anything.

[bold]fedconvex deep download mnist --data-dir data/mnist[/bold]

Every file is compared with the published sum before it gets its name; what is there and right is left alone. \
Data sets without a stable address are to be fetched by hand, and the command says from where."""


@app.callback()
def deep() -> None:
    """Run methods on PyTorch models."""


@app.command(help="Print an example of a configuration, with comments.")
def example() -> None:
    """The example."""
    typer.echo(EXAMPLE, nl=False)


@app.command(help=RUN_HELP)
def run(
    config: Annotated[Path, typer.Argument(help="A TOML file; see fedconvex deep example.")],
    rounds: Annotated[int | None, typer.Option(help="Instead of the file's number of rounds.")] = None,
    seed: Annotated[int | None, typer.Option(help="Instead of the file's seed of the run.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda or auto, instead of the file's.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder or file of the data set (mnist, cifar10, …), instead of the file's.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default run-NAME beside here).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the last row and the sentences as JSON.")] = False,
) -> None:
    """Reads, runs, saves, prints."""
    try:
        import torch  # noqa: F401 - a clear error before any work
    except ImportError:
        raise MissingLibrary("torch", "fedconvex deep", "deep") from None
    from fedconvex.commands.output_files import require_writable
    from fedconvex.deep.config import read_config

    given = {"rounds": rounds, "seed": seed, "device": device}
    changes = {name: value for name, value in given.items() if value is not None}
    sections: dict[str, dict[str, Any]] = {"run": changes} if changes else {}
    if data_dir is not None:
        sections["data"] = {"data_dir": str(data_dir.absolute())}
    ready = read_config(config, sections)
    folder = out if out is not None else Path(f"run-{config.stem}")
    require_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result = ready.run(
        log=folder / "run.csv",
        checkpoint=folder / "run.safetensors",
        watch=_Lines(ready.options["rounds"]).say,
        before=lambda footprint: typer.echo(f"memory: {footprint} beside Python and its libraries", err=True),
    )
    if os.environ.get("RANK", "0") != "0":  # one of several processes speaks
        return
    files = _save(result, folder)
    told = _sentences(result)
    if as_json:
        last = {name: value if isfinite(value) else None for name, value in result.to_frame().iloc[-1].items()}
        about = {"last": last, "statements": told, "seconds": result.seconds, "stopped": result.stopped}
        typer.echo(json.dumps(about, indent=1, allow_nan=False))
    else:
        _print(result, told, files)
    if result.stopped is not None:
        raise typer.Exit(1)


@app.command(help=DOWNLOAD_HELP)
def download(
    name: Annotated[str, typer.Argument(help="mnist, cifar10, cifar100 or shakespeare.")],
    data_dir: Annotated[Path, typer.Option(help="Folder for the files; made where it is not there.")],
    mirror: Annotated[
        str | None, typer.Option(help="Address of a folder that has the same files, instead of the usual one.")
    ] = None,
) -> None:
    """Fetches, compares, says what was done."""
    from fedconvex.deep.datasets.downloading import download as fetch

    for line in fetch(name, data_dir, mirror, _Bytes().say):
        typer.echo(line)


class _Bytes:
    """How much of a file has come, now and then, on standard error."""

    SECONDS = 2.0

    def __init__(self) -> None:
        self.said = 0.0

    def say(self, name: str, done: int, size: int | None) -> None:
        """The beginning, the end, and in between what has come."""
        now = time.monotonic()
        if done and done != size and now - self.said < self.SECONDS:
            return
        self.said = now
        of = f" of {size / 1e6:.1f}" if size is not None else ""
        typer.echo(f"{name}: {done / 1e6:.1f}{of} MB", err=True)


class _Lines:
    """A line of numbers now and then, on standard error."""

    SECONDS = 5.0

    def __init__(self, rounds: int) -> None:
        self.rounds, self.begun, self.said = rounds, time.monotonic(), -self.SECONDS
        self.first: int | None = None

    def say(self, record: dict[str, Any]) -> None:
        """Round, objective, accuracy, time left."""
        now, t = time.monotonic() - self.begun, record["round"]
        if self.first is None:
            self.first = t  # a run that goes on does not begin at 0
        if now - self.said < self.SECONDS and t != self.rounds:
            return
        self.said = now
        done = t - self.first
        left = f", {now / done * (self.rounds - t):.0f} s left" if done and t < self.rounds else ""
        values = "".join(
            f", {name.replace('_', ' ')} {record[name]:.4g}"
            for name in ("value", "accuracy", "test_accuracy")
            if name in record and record[name] == record[name]
        )
        typer.echo(f"round {t} of {self.rounds}{values}{left}", err=True)


def _save(result: "DeepRun", folder: Path) -> list[Path]:
    import safetensors.torch

    from fedconvex.atomic_files import write_atomically

    files = [folder / "run.csv", folder / "run.safetensors", folder / "model.safetensors"]
    parameters = {name: value.detach().cpu().contiguous() for name, value in result.model.state_dict().items()}
    write_atomically(files[-1], safetensors.torch.save(parameters))
    table = result.bounds()
    if len(table) and _measured(result):
        files.append(folder / "bounds.csv")
        write_atomically(files[-1], table.to_csv(index=False).encode())
    if "fedprox.theorem4" in set(table["statement"]) and _measured(result):
        files.append(result.draw(folder / "run.png"))
    return files


def _sentences(result: "DeepRun") -> dict[str, list[str]]:
    from fedconvex.deep.over_the_run import when

    table = result.bounds()
    if not _measured(result):
        return {}
    return {name: when(table, name) for name in dict.fromkeys(table["statement"])}


def _measured(result: "DeepRun") -> bool:
    return bool({"dissimilarity", "smoothness"} & result.records[0].keys())


def _print(result: "DeepRun", told: dict[str, list[str]], files: list[Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console() if sys.stdout.isatty() else Console(width=132)
    table = Table(title=f"{result.simulator.rounds.method}", title_justify="left")
    shown = ("round", "value", "accuracy", "test_accuracy", "dissimilarity", "smoothness")
    names: list[str] = [name for name in shown if name in result.records[0]]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    seen = [record for record in result.records if record["value"] == record["value"]]
    for place in dict.fromkeys((0, len(seen) // 2, len(seen) - 1)):
        record = seen[place]
        table.add_row(*(f"{record[name]:.6g}" for name in names))
    console.print(table)
    for name, sentences in told.items():
        chief = name.partition(".")[2].startswith(("theorem", "corollary", "proposition"))
        for sentence in sentences if chief else []:
            console.print(f"{name}: {sentence}", highlight=False, markup=False)
    if not _measured(result):
        console.print(
            'no constants were measured: measure = "all" below [run] shows which statements apply', markup=False
        )
    if result.seconds:  # none where a finished run was only read
        spent = ", ".join(f"{name} {value:.2g} s" for name, value in result.seconds.items())
        console.print(f"time: {spent}", highlight=False)
    if result.stopped is not None:
        console.print(f"stopped early: {result.stopped}", style="bold", highlight=False)
    console.print(f"saved {', '.join(map(str, files))}", highlight=False)
