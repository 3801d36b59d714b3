"""Which process owns a file, and whether it is still running.

A process locks the files that it is writing. The operating system ends these locks with the process, however it dies,
so that no number of a process, which another one may have by now, has to be trusted. Locks do not always reach across
machines: a file therefore names its owner's host, and what another host wrote is never taken for abandoned.
"""

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import final

try:
    import fcntl
except ImportError:  # no such locks on this system: the process's number decides
    fcntl = None  # type: ignore[assignment]

BOOT = Path("/proc/sys/kernel/random/boot_id")
BUSY = (BlockingIOError, PermissionError)


@final
@dataclass(frozen=True)
class Owner:
    """A process: its number, the name of its host, and an identifier of that machine's running system."""

    process: int
    host: str
    system: str  # differs between machines and between starts of a machine; containers of one machine share it

    @staticmethod
    def this() -> "Owner":
        """This process."""
        host = platform.node()
        return Owner(os.getpid(), host, BOOT.read_text().strip() if BOOT.exists() else host)

    @property
    def mark(self) -> str:
        """Text for the name of a file, which `is_abandoned` reads."""
        return f"{_short(self.host)}-{_short(self.system)}-{self.process}"


def take(handle: int) -> bool | None:
    """Locks an open file for this process, until it is closed; False if another process has it.

    None where files cannot be locked, as on some network file systems.
    """
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BUSY:
        return False
    except OSError:
        return None
    return True


def is_abandoned(handle: int, mark: str) -> bool:
    """Whether the process with that mark, which has written this open file, has ended for certain.

    If so, this process has the file's lock until it closes it.
    """
    host, system, process = mark.split("-")
    here = Owner.this()
    if host != _short(here.host) and system != _short(here.system):
        return False
    taken = take(handle)
    return taken if taken is not None else not is_running(int(process))


def is_running(process: int) -> bool:
    """Whether this machine runs a process of that number; where that cannot be asked, it does."""
    if os.name != "posix":  # there 0 is no question but a signal
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to another user
        return True
    return True


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]
