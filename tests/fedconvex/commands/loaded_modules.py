"""What a command loads: the modules of a new process that has run it."""

from program_runner import printed

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
    status, *modules = printed(PROGRAM, *words).rpartition("LOADED ")[2].split()
    assert status == "0", words
    return set(modules)
