"""`import fedconvex` in a fresh process, beside `import numpy`; names load late, so a first use is measured too.

python benchmarks/import_time.py
"""

import statistics
import subprocess
import sys

from run import median_ratio, record, row

PROGRAM = "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun)"
STATEMENTS = {
    "fedconvex": "import fedconvex",
    "numpy": "import numpy",
    "first use": "import fedconvex; fedconvex.LeastSquares(A=[[[1]]], b=[[1]])",
}
REPETITIONS = 11


def fresh(statement: str) -> float:
    """Seconds that the statement takes in a new process, the interpreter's own start not counted."""
    command = [sys.executable, "-c", PROGRAM.format(statement)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure and record."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for i in range(REPETITIONS + 1):
        for name, statement in STATEMENTS.items():
            taken = fresh(statement)
            if i:  # the first of each fills the disk's cache
                times[name].append(taken)
    rows = [
        row(
            what,
            statistics.median(times[name]),
            0.3,
            "s",
            peer="import numpy",
            peer_value=statistics.median(times["numpy"]),
            ratio=median_ratio(times[name], times["numpy"]),
            best=min(times[name]),
            repetitions=REPETITIONS,
        )
        for name, what in (("fedconvex", "import fedconvex"), ("first use", "import and a first problem"))
    ]
    record("import_time", rows)


if __name__ == "__main__":
    main()
