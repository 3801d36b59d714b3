"""`fedconvex verify`: all statements of three papers, anew and from what was kept, and the slowest statement alone.

python benchmarks/verify.py
"""

import os
import subprocess
import sys
import tempfile

from run import record, row, seconds

SLOWEST = "feddyn.theorem3sharper"
PROGRAM = "import sys; sys.argv = ['fedconvex', 'verify', *{!r}]; from fedconvex.commands.main import main; main()"
LIBRARIES = "import numpy, flint, typer, rich.table"
REPETITIONS = 5


def run(program: str, folder: str, compiled: str) -> float:
    """How long a whole process takes; its modules are compiled once, as installed packages are."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"FEDCONVEX_CACHE": folder, "PYTHONPYCACHEPREFIX": compiled}
    command = [sys.executable, "-c", program]
    return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))


def alone(compiled: str) -> float:
    """The slowest statement, with nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        return run(PROGRAM.format([SLOWEST]), folder, compiled)


def rows() -> list[dict[str, object]]:
    """One statement, all of them, and all with nothing changed since."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as compiled:
        alone(compiled)  # fills the disk's cache
        one = min(alone(compiled) for _ in range(REPETITIONS))
        libraries = min(run(LIBRARIES, folder, compiled) for _ in range(REPETITIONS))
        cold = run(PROGRAM.format([]), folder, compiled)
        kept = min(run(PROGRAM.format([]), folder, compiled) for _ in range(REPETITIONS))
    return [
        row("all statements of three papers, verified anew", cold, 20, "s", peer="kept", peer_value=kept,
            ratio=cold / kept),
        row("the same with nothing changed since", kept, 1, "s", peer="anew", peer_value=cold, ratio=kept / cold),
        row(f"the slowest statement alone, {SLOWEST}", one, 1.5, "s", peer=LIBRARIES, peer_value=libraries,
            ratio=one / libraries),
    ]  # fmt: skip


if __name__ == "__main__":
    record("verify", rows())
