"""What a command loads: the modules of a new process that has run it."""

import subprocess
import sys

PROGRAM = """
import sys
from fedconvex.commands.main import main
sys.argv = ["fedconvex", *sys.argv[1:]]
try:
    main()
except SystemExit as stop:
    print("LOADED", stop.code, *sys.modules)
"""


def loaded_by(*words: str) -> set[str]:
    """The modules that a new process has loaded when the command succeeds."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True)
    status, *modules = done.stdout.rpartition("LOADED ")[2].split()
    assert status == "0", done.stderr
    return set(modules)
