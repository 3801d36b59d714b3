"""The processor's name, which belongs to every measured time."""

import platform
from pathlib import Path


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """As Linux names its model in this file, else as Python's `platform` does."""
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
