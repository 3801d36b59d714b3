"""The tests of test_gpu*.py on a stand-in device, in their own process: torch counts devices once."""

import re
from pathlib import Path

import pytest
from processes import python, require

pytestmark = pytest.mark.beyond_core  # starts processes


@pytest.mark.slow  # minutes
def test_gpu_runs_on_the_stand_in() -> None:
    here = Path(__file__).parent
    words = (
        "-m",
        "pytest",
        "-n0",
        "-q",
        "-p",
        "no:cacheprovider",
        "emulated_gpu_checks.py",
        *here.glob("test_gpu*.py"),
    )
    shown = require(python(*words, cwd=here, seconds=900, FEDCONVEX_STAND_IN="1"))
    passed = re.search(r"(\d+) passed, 27 skipped", shown)  # those of a GPU's own
    assert passed, shown
    assert int(passed[1]) > 50
