"""Rocq, where it is installed: its version, and the check of an exported folder."""

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import final

from fedconvex.atomic_files import write_atomically
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.rocq.files import LIBRARY, Exported

OLDEST = (8, 16)
LONGEST = 600.0  # seconds for one theorem
# What the real numbers of Rocq's standard library rest on, and the functions that families of vectors are.
STANDARD_AXIOMS = frozenset(
    (
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    )
)
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
    before: bool = False  # the same text was accepted before, and its compiled file is taken


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


def check_folder(
    rocq: Rocq, folder: Path, theorems: Iterable[Exported], jobs: int = 2, kept: Path | None = None
) -> Iterator[Checked]:
    """Checks the library, then the theorems, some at a time. Raises InvalidInput where the library is refused.

    What was compiled before is taken from the folder `kept`, and what is compiled now is put there: a check that was
    interrupted goes on, and no text is compiled twice.
    """
    store = None if kept is None else CompiledFiles(kept / _digest(rocq.version, *_texts(folder)))
    _check_library(rocq, folder, store)
    waiting: dict[str, Future[Checked]] = {}
    digests: dict[str, str] = {}

    def check(one: Exported, digest: str) -> Checked:
        for identifier in one.cited:  # earlier in the list, so it has begun
            waiting[identifier].result()
        name, known = f"Statements/{one.module}", f"{one.module}-{digest}"
        if store is not None and store.take(known, folder / f"{name}.vo"):
            return Checked(name, True, 0.0, before=True)
        found = rocq.compile(folder, name)
        if store is not None and found.accepted:
            store.keep(folder / f"{name}.vo", known)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for one in theorems:
                if one.text:
                    digests[one.identifier] = _digest(one.text, *(digests[name] for name in one.cited))
                    waiting[one.identifier] = pool.submit(check, one, digests[one.identifier])
            for found_one in waiting.values():
                yield found_one.result()
        finally:  # an interrupted check does not begin with what is left
            pool.shutdown(wait=True, cancel_futures=True)


def _check_library(rocq: Rocq, folder: Path, store: "CompiledFiles | None") -> None:
    names = [f"FedConvex/{name}" for name in LIBRARY]
    if store is not None and all(store.take(name.replace("/", "."), folder / f"{name}.vo") for name in names):
        return
    for name in names:
        found = rocq.compile(folder, name)
        if not found.accepted:
            raise InvalidInput(
                "--kernel", f"rocq {rocq.version}", f"it refuses the library: {found.problem[:300]}", CURE
            )
    if store is not None:
        for name in names:
            store.keep(folder / f"{name}.vo", name.replace("/", "."))


def _texts(folder: Path) -> list[str]:
    return [(folder / "FedConvex" / f"{name}.v").read_text("utf-8") for name in LIBRARY]


def _digest(*texts: str) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(f"{len(text)} {text}".encode())
    return digest.hexdigest()[:32]


@final
@dataclass(frozen=True)
class CompiledFiles:
    """Compiled files by the digest of their texts, in a folder that can be deleted at any time."""

    folder: Path

    def take(self, name: str, to: Path) -> bool:
        """Puts the compiled file of that name in its place; False where there is none."""
        try:
            write_atomically(to, (self.folder / f"{name}.vo").read_bytes())
        except OSError:
            return False
        return True

    def keep(self, compiled: Path, name: str) -> None:
        """Keeps a compiled file; does nothing where the folder cannot be written to."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{name}.vo", compiled.read_bytes())
        except OSError:
            return


def axioms_of(rocq: Rocq, folder: Path, accepted: Iterable[Exported]) -> frozenset[str]:
    """The axioms that any of these theorems rests on, as Rocq prints them. They have been compiled in the folder."""
    modules = [one.module for one in accepted]
    lines = [f"From Statements Require {module}." for module in modules]
    # one term, so that Rocq walks through the library once
    every = ", ".join(f"{module}.{module}" for module in modules)
    lines += [f"Definition every := ({every}).", "Print Assumptions every."]
    write_atomically(folder / "Axioms.v", "\n".join([*lines, ""]).encode())
    lines = rocq.printed(folder, "Axioms").splitlines()
    names = {
        line.split()[0].rstrip(":") for line in lines if line[:1].isalpha() and not line.startswith("Closed under")
    }
    return frozenset(names - {"Axioms"})


def granted(axioms: Iterable[str]) -> list[str]:
    """The axioms among these that are not those of Rocq's real numbers."""
    return sorted(set(axioms) - STANDARD_AXIOMS)
