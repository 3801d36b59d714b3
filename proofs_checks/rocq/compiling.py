"""Rocq, where it is installed: its version, and the check of an exported folder."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import final

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.rocq.files import LIBRARY, Exported

OLDEST = (8, 16)
LONGEST = 600.0  # seconds for one theorem
CURE = "install it (Debian: apt install coq; elsewhere: opam install rocq-prover), or write the files with --rocq alone"


@final
@dataclass(frozen=True)
class Rocq:
    """A compiler of Rocq's or Coq's theories."""

    command: tuple[str, ...]
    version: str

    def compile(self, folder: Path, name: str) -> "Checked":
        """Checks one file of a folder that `write_theories` has written."""
        begun = perf_counter()
        paths = ["-R", "FedConvex", "FedConvex", "-R", "Statements", "Statements"]
        try:
            run = subprocess.run(
                [*self.command, "-q", *paths, f"{name}.v"], cwd=folder, capture_output=True, text=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return Checked(name, False, perf_counter() - begun, f"more than {LONGEST:.0f} seconds")
        problem = "" if run.returncode == 0 else run.stderr.strip() or f"exit status {run.returncode}"
        return Checked(name, run.returncode == 0, perf_counter() - begun, problem)

    def printed(self, folder: Path, name: str) -> str:
        """What a file prints while it is checked, such as the assumptions. Raises InvalidInput where it is refused."""
        paths = ["-R", "FedConvex", "FedConvex", "-R", "Statements", "Statements"]
        run = subprocess.run([*self.command, "-q", *paths, f"{name}.v"], cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            raise InvalidInput("--kernel", f"rocq {self.version}", f"it refuses {name}: {run.stderr[:300]}", CURE)
        return run.stdout


@final
@dataclass(frozen=True)
class Checked:
    """Whether Rocq accepts a file, and its message where not."""

    name: str
    accepted: bool
    seconds: float
    problem: str = ""


def find_rocq() -> Rocq:
    """The compiler on the path. Raises InvalidInput where there is none, or an old one."""
    for command in (("coqc",), ("rocq", "compile")):
        if (path := shutil.which(command[0])) is None:
            continue
        run = subprocess.run([path, *command[1:], "--version"], capture_output=True, text=True, timeout=60)
        found = re.search(r"version (\d+)\.(\d+)(\.\d+)?", run.stdout)
        if found is None:
            raise InvalidInput("--kernel", "rocq", f"{path} does not report its version", CURE)
        if (int(found[1]), int(found[2])) < OLDEST:
            raise InvalidInput("--kernel", "rocq", f"{path} is version {found[0][8:]}; 8.16 is the oldest", CURE)
        return Rocq((path, *command[1:]), found[0][8:])
    raise InvalidInput("--kernel", "rocq", "neither coqc nor rocq is on the path", CURE)


def check_folder(rocq: Rocq, folder: Path, theorems: Iterable[Exported], jobs: int = 2) -> Iterator[Checked]:
    """Checks the library, then the theorems, some at a time. Raises InvalidInput where the library is refused."""
    for name in LIBRARY:
        found = rocq.compile(folder, f"FedConvex/{name}")
        if not found.accepted:
            raise InvalidInput(
                "--kernel", f"rocq {rocq.version}", f"it refuses the library: {found.problem[:300]}", CURE
            )
    waiting: dict[str, Future[Checked]] = {}

    def check(one: Exported) -> Checked:
        for identifier in one.cited:  # earlier in the list, so it has begun
            waiting[identifier].result()
        return rocq.compile(folder, f"Statements/{one.module}")

    with ThreadPoolExecutor(jobs) as pool:
        for one in theorems:
            if one.text:
                waiting[one.identifier] = pool.submit(check, one)
        for found_one in waiting.values():
            yield found_one.result()
