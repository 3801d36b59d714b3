"""Benchmarks run also where their hardware is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
def test_the_gpu_benchmark_can_be_rehearsed() -> None:
    done = subprocess.run(
        [sys.executable, "deep_gpu.py", "--rehearse"], cwd=BENCHMARKS, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rehearsed:")
