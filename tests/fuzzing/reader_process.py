"""A process that reads damaged files in little memory and time: reader_process.py FOLDER SECONDS FIRST LAST KIND …

For each kind and each seed from FIRST to LAST − 1 it prints one line before, and one after reading: the process that
started it learns from the last line which file ended this one. A file that ends it takes the others along, no result.
"""

import json
import os
import random
import resource
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faulty_readers import faulty
from file_mutations import mutated
from kinds_of_files import Kind, kinds

MEMORY = 2 * 2**30  # bytes of address space


@contextmanager
def limited_time(seconds: int) -> Iterator[None]:
    """What happens inside ends the process after so many seconds of CPU."""
    used = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.RLIM_INFINITY))
    yield
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tell(**line: Any) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def verdict(kind: Kind, place: Path, valid: Any, seconds: int) -> str:
    """`refused`, `read`, or what is wrong with the reader."""
    from fedconvex.errors import FedconvexError

    try:
        with limited_time(seconds):
            found = kind.read(place)
    except FedconvexError as error:
        str(error).encode("utf-8", "strict")
        return "refused"
    except Exception as error:
        import traceback

        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"raised {type(error).__name__}: {str(error)[:100]!a} at {Path(where.filename).name}:{where.lineno}"
    if kind.strict is None:
        return "read"
    tell(compares=kind.name)
    try:
        expected = kind.strict(place / kind.damaged)
    except Exception as error:
        # what the damage left as it was is no wrong value
        return (
            "read" if found == valid else f"took what a strict reader refuses: {type(error).__name__}: {error!s:.100}"
        )
    return "read" if found == expected else f"read other values: {found!s:.60} not {expected!s:.60}"


def attack(kind: Kind, folder: Path, seconds: int, first: int, last: int) -> None:
    place = folder / kind.name
    for seed in range(first, last):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if seed == first:
            kind.write(place)
            whole = {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
            valid = kind.read(place)
        rng = random.Random(f"{kind.name} {seed}")
        for path, content in whole.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            damaged = os.fspath(path) == kind.damaged and seed > 0  # the file 0 is the valid one
            (place / path).write_bytes(mutated(content, rng, kind.damaged) if damaged else content)
        tell(kind=kind.name, seed=seed)
        tell(verdict=verdict(kind, place, valid, seconds))


def main(folder: str, seconds: str, first: str, last: str, *names: str) -> None:
    every = {**kinds(), **faulty()}
    warnings.simplefilter("ignore")  # of libraries: a warning is no crash
    limit_memory()
    for name in names:
        attack(every[name], Path(folder), int(seconds), int(first), int(last))


if __name__ == "__main__":
    main(*sys.argv[1:])
