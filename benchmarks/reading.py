"""Reading a CSV file of a million rows with every cell checked, beside pyarrow's reader and one AᵀA.

python benchmarks/reading.py
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from run import record, row
from threadpoolctl import threadpool_limits

import fedconvex as fc

ROWS, FEATURES, REPETITIONS = 1_000_000, 10, 5


def cpu_seconds(call: Callable[[], Any]) -> float:
    """CPU seconds of one call: a reader that waits for the disk, or for another process, looks no slower."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    """Measure and record."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        path = Path(folder) / "long.csv"
        names = ",".join([*(f"x{j}" for j in range(FEATURES)), "target"])
        line = ",".join(["%.6f"] * (FEATURES + 1)) + "\n"
        with path.open("w", encoding="ascii") as file:
            file.write(names + "\n")
            file.writelines(line % tuple(values) for values in rng.standard_normal((ROWS, FEATURES + 1)))
        found: dict[str, Any] = {}

        def ours() -> None:
            found["ours"] = np.vstack(fc.data.load(path, clients=10, partition="iid").features)

        def peer() -> None:
            options = pyarrow.csv.ReadOptions(use_threads=False)
            frame = pyarrow.csv.read_csv(path, read_options=options)
            A = np.column_stack([frame[f"x{j}"].to_numpy() for j in range(FEATURES)])
            found["gram"] = A.T @ A

        times: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(REPETITIONS):
            times["ours"].append(cpu_seconds(ours))
            times["peer"].append(cpu_seconds(peer))
    assert abs(found["ours"].T @ found["ours"] - found["gram"]).max() < 1e-6 * ROWS
    ratio = min(times["ours"]) / min(times["peer"])
    record(
        "reading",
        [
            row(
                f"CSV of {ROWS:,} rows and {FEATURES} features, every cell checked, split among ten clients",
                ratio,
                2.0,
                "×",
                peer="pyarrow's reader, one thread, and one AᵀA",
                peer_value=min(times["peer"]),
                peer_unit="s of CPU",
                ratio=ratio,
                ours_seconds=min(times["ours"]),
                repetitions=REPETITIONS,
            )
        ],
        notes=["Files in which anything is unusual are read line by line in Python, about ten times slower."],
    )


if __name__ == "__main__":
    main()
