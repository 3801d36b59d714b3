"""What everybody waits for, each in a fresh process: imports, a first use (names load late), and `--help`.

python benchmarks/import_time.py
"""

import statistics
import subprocess
import sys
from functools import partial

from run import interleaved, median_ratio, record, row

from fedconvex.commands.main import COMMANDS

PROGRAM = "import time; begun = time.perf_counter(); {}; print(time.perf_counter() - begun)"
STATEMENTS = {
    "fedconvex": "import fedconvex",
    "numpy": "import numpy",
    "first use": "import fedconvex; fedconvex.LeastSquares(A=[[[1]]], b=[[1]])",
}
HELP = "import sys; sys.argv = ['fedconvex', {!r}, '--help']; from fedconvex.commands.main import main; main()"
REPETITIONS = 11


def process(program: str) -> None:
    """A program in a new process, from its start to its end."""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def slowest_help() -> dict[str, object]:
    """`COMMAND --help` of the slowest command, beside Python alone."""
    programs = {name: HELP.format(name) for name in COMMANDS} | {"python": "pass"}
    times = interleaved({name: partial(process, program) for name, program in programs.items()}, REPETITIONS)
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
    record("import_time", [*rows, slowest_help()])


if __name__ == "__main__":
    main()
