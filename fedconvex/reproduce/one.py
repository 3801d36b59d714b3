"""One experiment from its runs to its summary and its picture."""

import time
from pathlib import Path
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.reproduce.building import missing
from fedconvex.reproduce.figure import draw
from fedconvex.reproduce.measuring import Measured
from fedconvex.reproduce.partitions import class_counts
from fedconvex.reproduce.running import run
from fedconvex.reproduce.spec import Experiment
from fedconvex.reproduce.summary import save, summarise


def run_one(
    experiment: Experiment, out: Path, data_dir: Path | None = None, jobs: int | None = None
) -> tuple[dict[str, Any], list[Path]]:
    """The summary, and the files that were written to the folder `out`/ID.

    Raises InvalidInput where data files are missing, and what the runs raise.
    """
    if (reason := missing(experiment, data_dir)) is not None:
        raise InvalidInput("experiment", experiment.id, reason, "get the files, or choose another one")
    folder, begun = out / experiment.id, time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    measured = None
    if experiment.runner == "partition":
        measured = Measured(experiment, class_counts(experiment, data_dir), data_dir)
    elif experiment.runner != "none":
        measured = Measured(experiment, run(experiment, folder, data_dir, jobs), data_dir)
    summary = summarise(measured, experiment, time.perf_counter() - begun)
    pictures = [] if measured is None else draw(measured, folder)
    return summary, [save(summary, folder), *pictures]
