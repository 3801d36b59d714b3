"""Statistics of data partitions, as in FedDyn's Figure 3 and FedProx's Table 1; nothing is trained."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fedconvex.reproduce.inputs import task_of
from fedconvex.reproduce.specification import Experiment

if TYPE_CHECKING:
    import pandas

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
