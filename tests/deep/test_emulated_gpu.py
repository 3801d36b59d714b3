"""The tests of test_gpu*.py on a stand-in device, in their own process: torch counts devices once."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes


@pytest.mark.slow  # minutes
def test_gpu_runs_on_the_stand_in() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n0",
            "-q",
            "-p",
            "no:cacheprovider",
            "emulated_gpu_checks.py",
            *map(str, Path(__file__).parent.glob("test_gpu*.py")),
        ],
        cwd=Path(__file__).parent,
        env=environment | {"FEDCONVEX_STAND_IN": "1"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed, 27 skipped", done.stdout)  # those of a GPU's own
    assert passed, done.stdout
    assert int(passed[1]) > 50
