"""When the garbage collector runs in a process that is one command."""

import atexit
import gc

# Of these commands the imports and results stay, and no cycle holds much memory; in others, a cycle may hold a network.
RARELY = ("audit", "recommend", "diagnose", "verify")


def collect_little(command: str | None) -> None:
    """Spares a command the collections that free nothing, a fifth of a short command's time.

    The interpreter looks for cycles among all objects twice more before it ends, although the system takes back the
    process's memory; frozen objects are not looked at. While one of the commands `RARELY` runs, it looks rarely.
    """
    atexit.register(gc.freeze)
    if command in RARELY:
        gc.set_threshold(100_000, 50, 50)
