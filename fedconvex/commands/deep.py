"""The command `fedconvex deep`: run a method on a PyTorch model, and compare the run with the theorems' bounds."""

import os
import time
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.commands.terminal import say
from fedconvex.errors import MissingLibrary
from fedconvex.json_files import to_json

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
every = 4                      # evaluate the model before every fourth round
measure = "all"                # or some of heterogeneity, curvature, decrease, memory, inexactness, drift
"""
RUN_HELP = """Run a method on a PyTorch model, measure the theorems' constants, and compare their bounds with the run.

[bold]fedconvex deep example > run.toml[/bold]
[bold]fedconvex deep run run.toml[/bold]
[bold]fedconvex deep run run.toml --rounds 200 --device cuda --out results/first[/bold]

The folder gets run.csv (one row per round, written during the run), run.safetensors (the state, from which the same \
command resumes), model.safetensors (the trained parameters), and, if constants were measured, bounds.csv (each \
statement's bound in each round, or the assumption that fails) and run.png. Exit status: 0 done, 1 stopped early (the \
model was no longer finite), 2 wrong input."""

DOWNLOAD_HELP = """Download the files of a data set. No other command, and no import, downloads anything.

[bold]fedconvex deep download mnist --data-dir data/mnist[/bold]

Every file is checked against its published checksum before it gets its name; correct files are not downloaded again. \
For data sets without a stable address the command prints where to get them."""


@app.callback()
def deep() -> None:
    """Run methods on PyTorch models."""


@app.command(help="Print an example of a configuration file, with comments.")
def example() -> None:
    """Print the example of a configuration file."""
    say(EXAMPLE, nl=False)


@app.command(help=RUN_HELP)
def run(
    config: Annotated[Path, typer.Argument(help="A TOML file; see fedconvex deep example.")],
    rounds: Annotated[int | None, typer.Option(help="The number of rounds, instead of the file's.")] = None,
    seed: Annotated[int | None, typer.Option(help="The random seed of the run, instead of the file's.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda or auto, instead of the file's.")] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder or file of the data set (mnist, cifar10, …), instead of the file's.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results (default run-NAME here).")] = None,
    exactly: Annotated[
        bool, typer.Option("--exactly", help="Refuse to resume on a processor that may round otherwise.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the last row and the statements' bounds as JSON.")
    ] = False,
) -> None:
    """Run the configuration, save its results and print them."""
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
        exactly=exactly,
        watch=_RoundLines(ready.options["rounds"]).say,
        before=lambda footprint: say(f"memory: {footprint} beside Python and its libraries", err=True),
    )
    if os.environ.get("RANK", "0") != "0":  # of several processes, the first saves and prints
        return
    files = _save(result, folder)
    promises = _sentences(result)
    if as_json:
        last = {name: value if isfinite(value) else None for name, value in result.to_frame().iloc[-1].items()}
        about = {"last": last, "statements": promises, "seconds": result.seconds, "stopped": result.stopped}
        say(to_json(about, ascii_only=True))
    else:
        _print(result, promises, files)
    if result.stopped is not None:
        raise typer.Exit(1)


@app.command(help=DOWNLOAD_HELP)
def download(
    name: Annotated[str, typer.Argument(help="mnist, cifar10, cifar100 or shakespeare.")],
    data_dir: Annotated[Path, typer.Option(help="Folder for the files; created if it does not exist.")],
    mirror: Annotated[
        str | None, typer.Option(help="Address of a folder with the same files, instead of the default one.")
    ] = None,
) -> None:
    """Download and check the files of a data set, and print a line for each."""
    from fedconvex.deep.datasets.downloading import download as fetch

    for line in fetch(name, data_dir, mirror, _ByteLines().say):
        say(line)


class _ByteLines:
    """Progress of a download: a line every few seconds, on standard error."""

    SECONDS = 2.0

    def __init__(self) -> None:
        self.said = 0.0

    def say(self, name: str, done: int, size: int | None) -> None:
        """Print the received and the total size: at the start, at the end, and if the last line is old enough."""
        now = time.monotonic()
        if done and done != size and now - self.said < self.SECONDS:
            return
        self.said = now
        of = f" of {size / 1e6:.1f}" if size is not None else ""
        say(f"{name}: {done / 1e6:.1f}{of} MB", err=True)


class _RoundLines:
    """Progress of a run: a line with the current measurements every few seconds, on standard error."""

    SECONDS = 5.0

    def __init__(self, rounds: int) -> None:
        self.rounds, self.begun, self.said = rounds, time.monotonic(), -self.SECONDS
        self.first: int | None = None

    def say(self, record: dict[str, Any]) -> None:
        """Print round, objective, accuracy and remaining time, if the last line is old enough."""
        now, t = time.monotonic() - self.begun, record["round"]
        if self.first is None:
            self.first = t  # a resumed run does not start at 0
        if now - self.said < self.SECONDS and t != self.rounds:
            return
        self.said = now
        done = t - self.first
        left = f", {now / done * (self.rounds - t):.0f} s left" if done and t < self.rounds else ""
        values = "".join(
            f", {name.replace('_', ' ')} {record[name]:.4g}"
            for name in ("value", "accuracy", "test_accuracy")
            if name in record and record[name] == record[name]  # not NaN
        )
        say(f"round {t} of {self.rounds}{values}{left}", err=True)


def _save(result: "DeepRun", folder: Path) -> list[Path]:
    import safetensors.torch

    from fedconvex.atomic_files import write_atomically
    from fedconvex.drawing import picture_if_possible

    files = [folder / "run.csv", folder / "run.safetensors", folder / "model.safetensors"]
    parameters = {name: value.detach().cpu().contiguous() for name, value in result.model.state_dict().items()}
    write_atomically(files[-1], safetensors.torch.save(parameters))
    table = result.bounds()
    if len(table) and _measured(result):
        files.append(folder / "bounds.csv")
        write_atomically(files[-1], table.to_csv(index=False).encode())
    drawn = "fedprox.theorem4" in set(table["statement"]) and _measured(result)
    picture = picture_if_possible(result.figure, "png", dpi=150) if drawn else None
    if picture is not None:
        files.append(folder / "run.png")
        write_atomically(files[-1], picture)
    return files


def _sentences(result: "DeepRun") -> dict[str, list[str]]:
    """For each statement, sentences on the rounds in which it applies or which assumption fails."""
    from fedconvex.deep.over_the_run import when

    table = result.bounds()
    if not _measured(result):
        return {}
    return {name: when(table, name) for name in dict.fromkeys(table["statement"])}


def _measured(result: "DeepRun") -> bool:
    """Whether the run measured constants of the theorems."""
    return bool({"dissimilarity", "smoothness"} & result.records[0].keys())


def _print(result: "DeepRun", promises: dict[str, list[str]], files: list[Path]) -> None:
    from rich.table import Table

    from fedconvex.commands.output_files import saved
    from fedconvex.commands.terminal import console

    output = console()
    table = Table(title=f"{result.simulator.rounds.method}", title_justify="left")
    shown = ("round", "value", "accuracy", "test_accuracy", "dissimilarity", "smoothness")
    names: list[str] = [name for name in shown if name in result.records[0]]
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    seen = [record for record in result.records if record["value"] == record["value"]]
    for place in dict.fromkeys((0, len(seen) // 2, len(seen) - 1)):
        record = seen[place]
        table.add_row(*(f"{record[name]:.6g}" for name in names))
    output.print(table)
    for name, sentences in promises.items():
        # lemmas and equations are in the JSON output only
        chief = name.partition(".")[2].startswith(("theorem", "corollary", "proposition"))
        for sentence in sentences if chief else []:
            output.print(f"{name}: {sentence}", soft_wrap=True)
    if not _measured(result):
        output.print(
            'no constants were measured: measure = "all" below [run] shows which statements apply', soft_wrap=True
        )
    if result.seconds:  # empty if a finished run was read and not run
        spent = ", ".join(f"{name} {value:.2g} s" for name, value in result.seconds.items())
        output.print(f"time: {spent}")
    if result.stopped is not None:
        output.print(f"stopped early: {result.stopped}", style="bold")
    output.print(saved(dict.fromkeys(files, False)), soft_wrap=True)
