"""The runs of an experiment: sweeps for convex problems, `fedconvex.deep` where a test set is tried or a network run.

Finished runs are kept beside the results until all are there: what was stopped, even killed, goes on.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.atomic_files import write_atomically
from fedconvex.fingerprints import fingerprint
from fedconvex.reproduce.inputs import problem_of, setting_of, task_of
from fedconvex.reproduce.specification import Experiment
from fedconvex.runs.checkpoints import libraries_of
from fedconvex.sweeps import sweep
from fedconvex.sweeps.local_processes import SECONDS_OF_IDLENESS
from fedconvex.sweeps.part_files import DIGITS, PartFiles
from fedconvex.sweeps.progress_bar import with_progress_bar
from fedconvex.sweeps.tables import GRID, from_parquet, merged, table_to_parquet, to_parquet

if TYPE_CHECKING:
    import pandas

ROUNDS_BETWEEN_CHECKPOINTS = 25
OF_FIGURES = ("line", "panel")


@final
@dataclass(frozen=True)
class DeepCell:
    """One deep run, with all that another process needs to know of it."""

    key: str
    method: str
    problem: str
    seed: int
    experiment: Experiment
    data_dir: Path | None
    checkpoint: Path

    def is_answered(self, record: Mapping[str, Any]) -> bool:
        """Whether the run needs no further round: `run.until` has reached the highest level of its data."""
        goal = goal_of(self.experiment, self.problem)
        return goal is not None and bool(record[self.experiment.run["until"]] >= goal)


def run(experiment: Experiment, folder: Path, data_dir: Path | None, jobs: int | None = None) -> "pandas.DataFrame":
    """All runs in one table: method, problem, seed, round and what was measured. Raises InvalidInput, SweepFailed.

    folder: gets runs/….parquet, each a finished sweep; those that are there already are read.
    """
    import pandas

    place = folder / "runs"
    place.mkdir(parents=True, exist_ok=True)
    tables = _sweeps(experiment, place, jobs) if experiment.runner == "sweep" else iter(
        [_deep(experiment, place, data_dir, jobs)]
    )  # fmt: skip
    return pandas.concat(tables, ignore_index=True)


def mark(experiment: Experiment, *more: Any) -> str:
    """What the runs depend on, as a fingerprint: claims, figures and how lines are named do not count."""
    arithmetic = "torch" if experiment.runner == "deep" else "float"
    versions = {library: version(library) for library in libraries_of(arithmetic)}
    methods = {
        label: {key: value for key, value in entry.items() if key not in OF_FIGURES}
        for label, entry in experiment.methods.items()
    }
    content = {"run": experiment.run, "data": experiment.data, "methods": methods}
    return fingerprint(json.dumps([content, versions, *more], sort_keys=True, default=str))


def seeds(experiment: Experiment) -> range:
    """One set of data, and one run of every method, for each."""
    return range(experiment.run.get("seeds", 1))


def rounds_of(experiment: Experiment, method: str) -> int:
    """T, the method's own or that of the whole experiment."""
    return int(experiment.methods[method].get("rounds", experiment.run["rounds"]))


def goal_of(experiment: Experiment, data: str) -> float | None:
    """The highest of the levels that are asked for with these data, where runs end there: `run.until` is given."""
    return max(experiment.figure["levels"][data]) if "until" in experiment.run else None


def _sweeps(experiment: Experiment, place: Path, jobs: int | None) -> Iterator["pandas.DataFrame"]:
    lengths = sorted({rounds_of(experiment, label) for label in experiment.methods})
    for seed in seeds(experiment):
        for label in experiment.data:
            problem = problem_of(experiment, label, seed)
            for rounds in lengths:
                chosen = [name for name in experiment.methods if rounds_of(experiment, name) == rounds]
                settings = {name: setting_of(experiment, name, problem) for name in chosen}
                out = place / f"{mark(experiment, label, seed, rounds)[:16]}.parquet"
                yield sweep(settings, {label: problem}, (seed,), rounds=rounds, out=out, jobs=jobs)


def _deep(experiment: Experiment, place: Path, data_dir: Path | None, jobs: int | None) -> "pandas.DataFrame":
    goals = [(label, goal_of(experiment, label)) for label in experiment.data if "until" in experiment.run]
    key = mark(experiment, *goals)
    out = place / f"{key[:16]}.parquet"
    cells = [
        DeepCell(cell_key := mark(experiment, label, method, seed, *goals), method, label, seed, experiment, data_dir,
             PartFiles.beside(out).folder / f".{cell_key[:DIGITS]}.safetensors")
        for label in experiment.data for seed in seeds(experiment)
        for method, entry in experiment.methods.items() if label in entry.get("only", [label])
    ]  # fmt: skip
    if not out.exists():
        parts, keys = PartFiles.beside(out), [cell.key for cell in cells]
        contents = [*parts.load(keys).items()]
        done = {found for found, _ in contents}
        waiting = [cell for cell in cells if cell.key not in done]
        parts.folder.mkdir(exist_ok=True)
        for cell_key, content in with_progress_bar(_on_cores(waiting, jobs), "runs", len(contents), len(cells)):
            parts.add(cell_key, content)
            contents.append((cell_key, content))
        write_atomically(out, table_to_parquet(merged(cells, contents, key)))  # type: ignore[arg-type]
        parts.remove(keys)
    table = from_parquet(out.read_bytes())
    assert table.schema.metadata[GRID] == key.encode()
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def _on_cores(cells: Sequence[DeepCell], jobs: int | None) -> Iterator[tuple[str, bytes]]:
    import joblib

    jobs = min(joblib.cpu_count() if jobs is None else jobs, max(len(cells), 1))
    if jobs == 1:
        yield from map(_run_deep, cells)
        return
    processes = joblib.Parallel(
        n_jobs=jobs, return_as="generator_unordered", batch_size=1, idle_worker_timeout=SECONDS_OF_IDLENESS
    )
    outcomes = processes(joblib.delayed(_run_deep)(cell) for cell in cells)
    try:
        yield from outcomes
    finally:
        with warnings.catch_warnings():  # where the caller has had enough, what still runs is ended on purpose
            warnings.simplefilter("ignore")
            outcomes.close()


def _run_deep(cell: DeepCell) -> tuple[str, bytes]:
    import torch

    from fedconvex.deep import run as run_deep

    experiment, options = cell.experiment, cell.experiment.run
    task = task_of(experiment, cell.problem, cell.seed, cell.data_dir)
    setting = setting_of(experiment, cell.method)
    rounds = rounds_of(experiment, cell.method)
    usual = {
        "weights": "samples", "measure": None, "ridge": 0.0, "loss": "cross_entropy", "every": 1, "evaluate": "all",
        "device": "cpu",
    }  # fmt: skip
    result = run_deep(
        setting.method, task.model, task.clients, rounds=rounds, **setting.options, seed=cell.seed, test=task.test,
        **{name: options.get(name, value) for name, value in usual.items()},
        dtype=getattr(torch, options.get("dtype", "float64")), checkpoint=cell.checkpoint,
        checkpoint_every=ROUNDS_BETWEEN_CHECKPOINTS, progress=False,
        until=cell.is_answered,
    )  # fmt: skip
    if cell.is_answered(result.records[-1]):
        rounds = len(result.records) - 1  # what would have followed is not known
    frame = result.to_frame().set_index("round").reindex(range(rounds + 1))
    if options.get("evaluate") == "test":
        frame = frame.drop(columns=["value", "accuracy"])
    looked_at = (frame.index % options.get("every", 1) == 0) | (frame.index == rounds)
    for column in frame:  # a loss or a model that is not finite: the worst there is
        worst = 0.0 if "accuracy" in str(column) else np.inf
        frame[column] = frame[column].mask(looked_at & frame[column].isna() & (frame.index > 0), worst)
    frame = frame.reset_index()
    frame.insert(0, "method", cell.method)
    frame.insert(1, "problem", cell.problem)
    frame.insert(2, "seed", cell.seed)
    return cell.key, to_parquet(frame)
