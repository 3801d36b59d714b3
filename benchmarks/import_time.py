"""What everybody waits for, each in a fresh process: imports, a first use (names load late), `--help`, a first audit.

python benchmarks/import_time.py
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

from run import CLOCK, interleaved, median_ratio, record, row

from fedconvex.commands.main import COMMANDS

PROGRAM = "import time; begun = time.{0}(); {1}; print(time.{0}() - begun)"
STATEMENTS = {
    "fedconvex": "import fedconvex",
    "numpy": "import numpy",
    "first use": "import fedconvex; fedconvex.LeastSquares(A=[[[1]]], b=[[1]])",
}
COMMAND = "import sys; sys.argv = ['fedconvex', *{!r}]; from fedconvex.commands.main import main; main()"
LIBRARIES = "import numpy, scipy.linalg, pandas, matplotlib.figure"
REPETITIONS, FEW = 11, 3

Calls = dict[str, Callable[[], Any]]


def compiled(folder: str) -> dict[str, str]:
    """An environment in which modules are compiled once, as installed packages are, whatever this one says."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": folder}


def process(program: str, environment: dict[str, str]) -> str:
    """What a program prints in a new process, from its start to its end."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def imports(environment: dict[str, str]) -> list[dict[str, object]]:
    """`import fedconvex` and a first problem, beside `import numpy`; the interpreter's own start is not counted."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for i in range(REPETITIONS + 1):
        for name, statement in STATEMENTS.items():
            taken = float(
                process(PROGRAM.format("perf_counter" if CLOCK == "wall" else "process_time", statement), environment)
            )
            if i:  # the first of each fills the disk's cache
                times[name].append(taken)
    return [
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


def slowest_help(environment: dict[str, str]) -> dict[str, object]:
    """`COMMAND --help` of the slowest command, beside Python alone."""
    programs = {name: COMMAND.format([name, "--help"]) for name in COMMANDS} | {"python": "pass"}
    calls: Calls = {name: partial(process, program, environment) for name, program in programs.items()}
    times = interleaved(calls, REPETITIONS)
    alone = times.pop("python")
    slowest = max(times, key=lambda name: min(times[name]))
    return row(
        f"the slowest help: fedconvex {slowest} --help",
        min(times[slowest]),
        0.25,
        "s",
        peer="python -c pass",
        peer_value=min(alone),
        ratio=median_ratio(times[slowest], alone),
        all={name: min(taken) for name, taken in times.items()},
        repetitions=REPETITIONS,
    )


def first_audit(environment: dict[str, str], folder: str) -> dict[str, object]:
    """README's first command, beside the imports of the libraries that it is made of."""
    programs = {"audit": COMMAND.format(["audit", "diabetes", "--out", folder]), "libraries": LIBRARIES}
    calls: Calls = {name: partial(process, program, environment) for name, program in programs.items()}
    times = interleaved(calls, REPETITIONS)
    ratio = min(times["audit"]) / min(times["libraries"])
    return row(
        "fedconvex audit diabetes, times its libraries' imports",
        ratio,
        1.5,
        "×",
        peer=LIBRARIES,
        peer_value=min(times["libraries"]),
        peer_unit="s",
        ratio=ratio,
        audit_seconds=min(times["audit"]),
        repetitions=REPETITIONS,
    )


def audit_of_digits(environment: dict[str, str], folder: str) -> dict[str, object]:
    """The audit of the largest bundled data set: ten classes, 650 unknowns."""
    programs = {"audit": COMMAND.format(["audit", "digits", "--out", folder]), "libraries": LIBRARIES}
    calls: Calls = {name: partial(process, program, environment) for name, program in programs.items()}
    times = interleaved(calls, FEW, warm_up=0)
    return row(
        "fedconvex audit digits",
        min(times["audit"]),
        15.0,
        "s",
        peer=LIBRARIES,
        peer_value=min(times["libraries"]),
        ratio=median_ratio(times["audit"], times["libraries"]),
        repetitions=FEW,
    )


def main() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        environment = compiled(cache)
        rows = [*imports(environment), slowest_help(environment), first_audit(environment, folder)]
        rows.append(audit_of_digits(environment, folder))
    record("import_time", rows)


if __name__ == "__main__":
    main()
