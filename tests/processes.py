"""Python in a process of its own, and what programs there begin with."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
HELPERS = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # for what imports the modules beside the tests
# The libraries that the first argument names, with spaces between them, cannot be imported.
LACKING = """
import sys
lacking = set(sys.argv[1].split())
class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in lacking:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
"""


def python(
    *words: object, cwd: Path | None = None, seconds: float | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`python WORDS …` with these variables beside those of this process, but pytest's: its status and output."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    options: dict[str, Any] = {"cwd": cwd, "timeout": seconds, "env": others | environment}
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, **options)


def require(done: subprocess.CompletedProcess[str]) -> str:
    """What it printed, where it did not fail."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
