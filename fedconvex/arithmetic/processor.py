"""The processor's name, to be reported with every measured time."""

import platform
from pathlib import Path


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model name, from this file on Linux, otherwise from Python's `platform`."""
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
