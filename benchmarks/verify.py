"""`fedconvex verify`: all statements of three papers, verified anew, and taken from the results that were kept.

python benchmarks/verify.py
"""

import os
import subprocess
import sys
import tempfile
import time

from run import record, row


def run(folder: str) -> float:
    """Seconds of the whole command."""
    start = time.perf_counter()
    environment = os.environ | {"FEDCONVEX_CACHE": folder}
    program = "import sys; sys.argv = ['fedconvex', 'verify']; from fedconvex.commands.main import main; main()"
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def rows() -> list[dict[str, object]]:
    """Cold, and with nothing changed since."""
    with tempfile.TemporaryDirectory() as folder:
        cold = run(folder)
        kept = min(run(folder) for _ in range(3))
    return [
        row("all statements of three papers, verified anew", cold, 90, "s", peer="kept", peer_value=kept,
            ratio=cold / kept),
        row("the same with nothing changed since", kept, 10, "s", peer="anew", peer_value=cold, ratio=kept / cold),
    ]  # fmt: skip


if __name__ == "__main__":
    record("verify", rows())
