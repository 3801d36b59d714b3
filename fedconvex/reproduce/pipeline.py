"""An experiment from its specification to its summary and its figure."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas

from fedconvex.errors import InvalidInput, MissingLibrary
from fedconvex.locks import locked_folder
from fedconvex.reproduce.execution import run
from fedconvex.reproduce.figure import draw
from fedconvex.reproduce.inputs import missing, setting_of
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.partitions import class_counts
from fedconvex.reproduce.specification import Experiment
from fedconvex.reproduce.summary import check, save, summarise


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
        pictures = [] if measured is None else draw(measured, folder)
        return summary, [save(summary, folder), *pictures]
