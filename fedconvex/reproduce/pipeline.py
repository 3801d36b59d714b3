"""An experiment from its specification to its summary and its figure."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.locks import locked_folder
from fedconvex.reproduce.execution import run
from fedconvex.reproduce.figure import draw
from fedconvex.reproduce.inputs import missing, setting_of, task_of
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.specification import Experiment
from fedconvex.reproduce.summary import check, save, summarise

if TYPE_CHECKING:
    import pandas


def run_experiment(
    experiment: Experiment, out: Path, data_dir: Path | None = None, jobs: int | None = None
) -> tuple[dict[str, Any], list[Path]]:
    """Run an experiment, or read its finished runs, and write its results to the folder `out`/ID.

    Returns the summary and the files written. `fedconvex reproduce` calls it for each experiment that it is given.

    Raises:
        InvalidInput: data files are missing, the file has a formula that cannot be read, or another process runs the
            experiment in that folder.
        SweepFailed: a run failed.
    """
    if (reason := missing(experiment, data_dir)) is not None:
        raise InvalidInput("experiment", experiment.id, reason, "download the files, or choose another experiment")
    # All that can be wrong with the file is found before the runs, which may take hours.
    check(experiment, ExperimentMetrics(experiment, pandas.DataFrame()))
    if experiment.runner in ("deep", "partition") and find_spec("torch") is None:
        raise MissingLibrary("torch", experiment.id, "deep")
    if experiment.runner == "deep":
        for method in experiment.methods:
            setting_of(experiment, method)
    folder = out / experiment.id
    with locked_folder(folder, "out"):
        measured = None
        if experiment.runner == "partition":
            measured = ExperimentMetrics(experiment, class_counts(experiment, data_dir), data_dir)
        elif experiment.runner != "none":
            measured = ExperimentMetrics(experiment, run(experiment, folder, data_dir, jobs), data_dir)
        summary = summarise(measured, experiment)
        saved = save(summary, folder)
        return summary, [saved, *([] if measured is None else draw(measured, folder))]


SHARES = (0.4, 0.6, 0.8)


def class_counts(experiment: Experiment, data_dir: Path | None) -> "pandas.DataFrame":
    """How concentrated the clients' labels are: a table with columns problem, share, classes, clients.

    A row counts the `clients` that need their `classes` most frequent classes for a `share` of their samples. Every
    row repeats the number of clients (devices), of samples, their mean and deviation over clients, and of samples that
    are held out (tested).
    """
    import pandas

    rows = []
    for label in experiment.data:
        task = task_of(experiment, label, 0, data_dir)
        sizes = np.array([len(labels) for _, labels in task.clients])
        about = {
            "devices": len(sizes), "samples": int(sizes.sum()), "mean": sizes.mean(), "deviation": sizes.std(),
            "tested": 0 if task.test is None else len(task.test[1]),
        }  # fmt: skip
        for share in SHARES:
            needed = [classes_for(np.asarray(labels), share) for _, labels in task.clients]
            for classes, clients in zip(*np.unique(needed, return_counts=True), strict=True):
                rows.append({"problem": label, "method": "", "seed": 0, "round": 0, "share": share,
                             "classes": int(classes), "clients": int(clients), **about})  # fmt: skip
    return pandas.DataFrame(rows)


def classes_for(labels: np.ndarray, share: float) -> int:
    """The least number of classes that together hold at least this share of the labels."""
    counts = np.sort(np.unique(labels, return_counts=True)[1])[::-1]
    return int(np.argmax(np.cumsum(counts) >= share * len(labels) - 1e-9)) + 1  # 1e-9: rounding in share · n
