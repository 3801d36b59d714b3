"""The one estimate of memory: what is still available to this process, against what a computation will take.

FLINT, LAPACK and conic solvers abort the process where an allocation fails, and nothing can catch that. Whatever grows
with the data is therefore estimated before it is requested: `require` refuses it, `fits` lets the caller choose another
way (floats, products without matrices, low rank).
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path

from fedconvex.errors import TooLarge

FREE = 2**24  # bytes that are granted without a look at the system, which takes as long as filling them
SHARE = 0.8  # of the available memory; the rest is for temporary copies and other threads
NUMBER = 8  # bytes of a float64
OBJECT = 100  # bytes of a flint number as a Python object, with the list that holds it
UNLIMITED = sys.maxsize
CURE = "give less data or a machine with more memory"
CGROUPS = Path("/sys/fs/cgroup")


def require(needed: int, argument: str, value: object, purpose: str, cure: str = CURE) -> None:
    """Raises TooLarge unless so many bytes are available for `purpose`, in words ("the exact Hessian")."""
    if not fits(needed):
        raise TooLarge(argument, value, f"{purpose} takes {readable(needed)}, {readable(available())} are left", cure)


def require_numbers(sizes: Mapping[str, int]) -> None:
    """Raises TooLarge unless there is memory for an array of float64 of these sizes, by argument."""
    largest = max(sizes, key=lambda argument: sizes[argument])
    purpose = f"an array of {' × '.join(sizes)} numbers"
    require(NUMBER * prod(sizes.values()), largest, sizes[largest], purpose, f"give a smaller {largest}")


def fits(needed: int) -> bool:
    """Whether so many bytes are available."""
    return needed <= FREE or needed <= SHARE * available()


def available() -> int:
    """The bytes that this process can still allocate: the least of address space, control groups and memory."""
    return max(0, min(_address_space(), _control_groups(), _physical()))


def readable(size: float) -> str:
    """The size in MiB or GiB."""
    if size >= 2**80:  # it may be too large for a float
        return f"more than 2^{int(size).bit_length() - 1} bytes"
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


@contextmanager
def refusing(argument: str, value: object, cure: str = CURE) -> Iterator[None]:
    """Turns a MemoryError, for which nothing was left to estimate, into TooLarge."""
    try:
        yield
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        raise TooLarge(argument, value, f"takes more memory than there is{detail}", cure) from error


def _address_space() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return UNLIMITED
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return limit - _used_addresses()


def _used_addresses() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # without /proc, only the limit is known
        return 0


def _control_groups() -> int:
    """The least that the process's control groups leave, which limit containers; of version 1 or 2."""
    left = UNLIMITED
    for line in _lines(Path("/proc/self/cgroup")):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, names = CGROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = CGROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        group = root / path.lstrip("/")
        # inside a container the path may be the host's: then only the root is there
        for folder in (group, *(parent for parent in group.parents if parent.is_relative_to(root))):
            left = min(left, _group(folder, *names))
    return left


def _group(folder: Path, limit_name: str, used_name: str, reclaimable: str) -> int:
    limit, used = _number(folder / limit_name), _number(folder / used_name)
    if limit is None or used is None:
        return UNLIMITED
    cache = dict(line.split() for line in _lines(folder / "memory.stat"))
    return limit - used + int(cache.get(reclaimable, 0))  # the kernel drops cached files before it refuses memory


def _number(file: Path) -> int | None:
    text = "".join(_lines(file))
    return int(text) if text.isdigit() else None  # "max" is no limit


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []


def _physical() -> int:
    for line in _lines(Path("/proc/meminfo")):
        name, size = line.split(":", 1)
        if name == "MemAvailable":
            return int(size.split()[0]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # nothing tells: an allocation that fails will
        return UNLIMITED
