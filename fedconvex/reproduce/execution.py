"""The runs of an experiment: sweeps of convex problems, or `fedconvex.deep` for networks and held-out test sets.

Finished runs are stored beside the results until all are complete, so that an interrupted experiment resumes.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.atomic_files import remove_leftovers, write_atomically
from fedconvex.errors import PlainAverage
from fedconvex.fingerprints import fingerprint
from fedconvex.optional import require_library, version_of
from fedconvex.progress import with_progress_bar
from fedconvex.reproduce.inputs import problem_of, setting_of, task_of
from fedconvex.reproduce.specification import Experiment
from fedconvex.runs.checkpoints import libraries_of
from fedconvex.sweeps import sweep
from fedconvex.sweeps.local_processes import in_processes
from fedconvex.sweeps.part_files import DIGITS, PartFiles
from fedconvex.sweeps.tables import finished, merged, table_to_parquet, to_parquet

if TYPE_CHECKING:
    import pandas

ROUNDS_BETWEEN_CHECKPOINTS = 25
OF_FIGURES = ("line", "panel")  # a method's keys that change the figure, and not the runs


@final
@dataclass(frozen=True)
class DeepCell:
    """One deep run, with everything that a worker process needs to compute it."""

    key: str
    method: str
    problem: str
    seed: int
    experiment: Experiment
    data_dir: Path | None
    checkpoint: Path

    def is_answered(self, record: Mapping[str, Any]) -> bool:
        """Whether the run can end after this round: its `run.until` has reached the highest level of its data."""
        goal = goal_of(self.experiment, self.problem)
        return goal is not None and bool(record[self.experiment.run["until"]] >= goal)


def run(experiment: Experiment, folder: Path, data_dir: Path | None, jobs: int | None = None) -> "pandas.DataFrame":
    """Run the experiment: one table with columns method, problem, seed, round and the measurements.

    Finished sweeps are stored in `folder`/runs/….parquet, and read instead of run again if nothing that they depend on
    has changed. Raises InvalidInput, SweepFailed, and MissingLibrary without pyarrow.
    """
    require_library("pyarrow", experiment.id)
    import pandas

    place = folder / "runs"
    place.mkdir(parents=True, exist_ok=True)
    remove_leftovers(place)
    tables = _sweeps(experiment, place, jobs) if experiment.runner == "sweep" else iter(
        [_deep(experiment, place, data_dir, jobs)]
    )  # fmt: skip
    return pandas.concat(tables, ignore_index=True)


def fingerprint_of(experiment: Experiment, *more: Any) -> str:
    """A fingerprint of everything that the runs depend on, library versions included; claims and figures are not."""
    arithmetic = "torch" if experiment.runner == "deep" else "float"
    versions = {library: version_of(library) for library in libraries_of(arithmetic)}
    methods = {
        label: {key: value for key, value in entry.items() if key not in OF_FIGURES}
        for label, entry in experiment.methods.items()
    }
    content = {"run": experiment.run, "data": experiment.data, "methods": methods}
    return fingerprint(json.dumps([content, versions, *more], sort_keys=True, default=str))


def seeds(experiment: Experiment) -> range:
    """The random seeds: for each, one draw of the data and one run of every method."""
    return range(experiment.run.get("seeds", 1))


def rounds_of(experiment: Experiment, method: str) -> int:
    """The number of rounds T of a method: its own, or that of the experiment."""
    return int(experiment.methods[method].get("rounds", experiment.run["rounds"]))


def goal_of(experiment: Experiment, data: str) -> float | None:
    """The highest level of these data if runs end there (`run.until`), else None."""
    return max(experiment.figure["levels"][data]) if "until" in experiment.run else None


def _sweeps(experiment: Experiment, place: Path, jobs: int | None) -> Iterator["pandas.DataFrame"]:
    """A table for each problem, seed and number of rounds: formulas in the methods' parameters differ by problem."""
    lengths = sorted({rounds_of(experiment, label) for label in experiment.methods})
    for seed in seeds(experiment):
        for label in experiment.data:
            problem = problem_of(experiment, label, seed)
            for rounds in lengths:
                chosen = [name for name in experiment.methods if rounds_of(experiment, name) == rounds]
                settings = {name: setting_of(experiment, name, problem) for name in chosen}
                out = place / f"{fingerprint_of(experiment, label, seed, rounds)[:16]}.parquet"
                yield sweep(settings, {label: problem}, (seed,), rounds=rounds, out=out, jobs=jobs)


def _deep(experiment: Experiment, place: Path, data_dir: Path | None, jobs: int | None) -> "pandas.DataFrame":
    """One table of all deep runs, from its file or from the runs that are not stored yet."""
    goals = [(label, goal_of(experiment, label)) for label in experiment.data if "until" in experiment.run]
    key = fingerprint_of(experiment, *goals)  # goals are in the figure's section, but end runs
    out = place / f"{key[:16]}.parquet"
    cells = [
        DeepCell(cell_key := fingerprint_of(experiment, label, method, seed, *goals), method, label, seed, experiment,
             data_dir, PartFiles.beside(out).folder / f".{cell_key[:DIGITS]}.safetensors")
        for label in experiment.data for seed in seeds(experiment)
        for method, entry in experiment.methods.items() if label in entry.get("only", [label])
    ]  # fmt: skip
    parts, keys = PartFiles.beside(out), [cell.key for cell in cells]
    if not out.exists():
        contents = [*parts.load(keys).items()]
        done = {found for found, _ in contents}
        waiting = [cell for cell in cells if cell.key not in done]
        parts.folder.mkdir(exist_ok=True)
        for cell_key, content in with_progress_bar(_on_cores(waiting, jobs), "runs", len(contents), len(cells)):
            parts.add(cell_key, content)
            contents.append((cell_key, content))
        write_atomically(out, table_to_parquet(merged(cells, contents, key)))  # type: ignore[arg-type]
    parts.remove(keys)  # also where the table is there: a process may have been killed after it had written it
    # read also after running: a first and a later call return the same types
    frame: pandas.DataFrame = finished(out, key).to_pandas()
    return frame


def _on_cores(cells: Sequence[DeepCell], jobs: int | None) -> Iterator[tuple[str, bytes]]:
    import joblib

    jobs = min(joblib.cpu_count() if jobs is None else jobs, max(len(cells), 1))
    if jobs == 1:
        yield from map(_run_deep, cells)
        return
    with closing(in_processes(_run_deep, ((cell,) for cell in cells), jobs)) as outcomes:
        yield from outcomes


def _run_deep(cell: DeepCell) -> tuple[str, bytes]:
    import torch

    from fedconvex.deep import run as run_deep

    experiment, options = cell.experiment, cell.experiment.run
    task = task_of(experiment, cell.problem, cell.seed, cell.data_dir)
    setting = setting_of(experiment, cell.method)
    rounds = rounds_of(experiment, cell.method)
    defaults = {
        "weights": "samples", "measure": None, "ridge": 0.0, "loss": "cross_entropy", "every": 1, "evaluate": "all",
        "device": "cpu",
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlainAverage)  # the papers' own schemes
        result = run_deep(
            setting.method, task.model, task.clients, rounds=rounds, **setting.options, seed=cell.seed, test=task.test,
            **{name: options.get(name, value) for name, value in defaults.items()},
            dtype=getattr(torch, options.get("dtype", "float64")), checkpoint=cell.checkpoint,
            checkpoint_every=ROUNDS_BETWEEN_CHECKPOINTS, progress=False,
            until=cell.is_answered,
        )  # fmt: skip
    if cell.is_answered(result.records[-1]):
        rounds = len(result.records) - 1  # the rounds after the goal were not run
    frame = result.to_frame().set_index("round").reindex(range(rounds + 1))
    if options.get("evaluate") == "test":
        frame = frame.drop(columns=["value", "accuracy"])
    # NaN stands for a round that was not evaluated (`every`), and for a diverged one: only the latter counts as worst
    evaluated = (frame.index % options.get("every", 1) == 0) | (frame.index == rounds)
    for column in frame:
        worst = 0.0 if "accuracy" in str(column) else np.inf
        frame[column] = frame[column].mask(evaluated & frame[column].isna() & (frame.index > 0), worst)
    frame = frame.reset_index()
    frame.insert(0, "method", cell.method)
    frame.insert(1, "problem", cell.problem)
    frame.insert(2, "seed", cell.seed)
    return cell.key, to_parquet(frame)
