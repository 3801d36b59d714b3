"""Results that are still valid: nothing that decides them has changed since. Never trusted where it matters (CI)."""

import hashlib
import json
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from sys import version_info
from typing import Any

from fedconvex.atomic_files import write_atomically
from fedconvex.proofs_checks.reporting.records import Record

LIBRARIES = ("numpy", "python-flint", "sympy", "z3-solver")
ENVIRONMENT_VARIABLE = "FEDCONVEX_CACHE"


def folder() -> Path:
    """Where results are kept: $FEDCONVEX_CACHE, or the user's cache folder. It can be deleted at any time."""
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(home) / "fedconvex" / "verify"


@cache
def fingerprint() -> str:
    """Of everything that decides a result: statements, proofs, engines, the core that runs, and the libraries."""
    digest = hashlib.sha256()
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    digest.update(f"python {version_info[:3]}\n".encode())
    for path in sorted(_sources()):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _sources() -> list[Path]:
    """The package's files with proofs_checks and theory, without deep, which proves nothing."""
    import fedconvex
    import fedconvex.proofs_checks
    import fedconvex.theory

    roots = [Path(fedconvex.__path__[0]), *(Path(p.__path__[0]) for p in (fedconvex.theory, fedconvex.proofs_checks))]
    found = ((path, path.relative_to(root)) for root in roots for path in root.rglob("*.py"))
    return list({path.resolve() for path, below in found if below.parts[0] != "deep"})


def load(identifier: str) -> Record | None:
    """The kept result, or None where there is none that is whole and still valid."""
    try:
        found = load_content(identifier)
        return None if found is None else Record.from_dictionary(found)
    except (ValueError, TypeError, KeyError):
        return None


def store(record: Record) -> None:
    """Keeps a result; a folder that cannot be written to keeps nothing."""
    store_content(record.identifier, record.to_dictionary())


def load_content(name: str) -> Any:
    """What JSON can hold and was kept by this name; None where there is nothing that is whole and still valid."""
    try:
        kept = json.loads((folder() / f"{name}.json").read_text("utf-8"))
        if kept["fingerprint"] != fingerprint() or kept["digest"] != _digest(kept["content"]):
            return None
        return kept["content"]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def store_content(name: str, content: Any) -> None:
    """Keeps what JSON can hold; a folder that cannot be written to keeps nothing."""
    content = json.loads(json.dumps(content))
    kept = {"fingerprint": fingerprint(), "digest": _digest(content), "content": content}
    try:
        folder().mkdir(parents=True, exist_ok=True)
        write_atomically(folder() / f"{name}.json", json.dumps(kept, ensure_ascii=False).encode())
    except OSError:
        return


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
