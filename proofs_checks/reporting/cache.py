"""A cache of verification results on disk, valid while nothing that decides them changes. CI does not use it."""

import hashlib
import json
import os
from functools import cache
from importlib.metadata import version
from pathlib import Path
from sys import version_info
from typing import Any

from fedconvex.atomic_files import remove_leftovers, write_atomically
from fedconvex.json_files import fault_in, read_json
from fedconvex.proofs_checks.reporting.records import Record

LIBRARIES = ("numpy", "python-flint", "sympy")
ENVIRONMENT_VARIABLE = "FEDCONVEX_CACHE"
SHAPE = {"fingerprint": str, "digest": str, "content": Any}


def folder() -> Path:
    """The cache's folder: $FEDCONVEX_CACHE, or one in the user's cache folder. It can be deleted at any time."""
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(home) / "fedconvex" / "verify"


@cache
def fingerprint() -> str:
    """A digest of everything that decides a result: statements, proofs, the kernel, libraries' versions."""
    digest = hashlib.sha256()
    for library in LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    digest.update(f"python {version_info[:3]}\n".encode())
    for path in sorted(_sources()):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _sources() -> list[Path]:
    """The Python files of the package, of theory and of proofs_checks; those of deep decide no verdict."""
    import fedconvex
    import fedconvex.proofs_checks
    import fedconvex.theory

    roots = [Path(fedconvex.__path__[0]), *(Path(p.__path__[0]) for p in (fedconvex.theory, fedconvex.proofs_checks))]
    found = ((path, path.relative_to(root)) for root in roots for path in root.rglob("*.py"))
    # Resolved, because the links in fedconvex/ show theory and proofs_checks a second time.
    return list({path.resolve() for path, below in found if below.parts[0] != "deep"})


def load(identifier: str) -> Record | None:
    """The cached result; None where there is none, or one that is damaged or outdated."""
    try:
        found = load_content(identifier)
        return None if found is None else Record.from_dictionary(found)
    except ValueError:
        return None


def store(record: Record) -> None:
    """Puts a result into the cache; does nothing where the folder cannot be written to."""
    store_content(record.identifier, record.to_dictionary())


def load_content(name: str) -> Any:
    """The cached JSON content of that name; None where there is none, or one that is damaged or outdated."""
    try:
        kept = read_json(folder() / f"{name}.json")
        if fault_in(kept, SHAPE) or kept["fingerprint"] != fingerprint() or kept["digest"] != _digest(kept["content"]):
            return None
        return kept["content"]
    except (OSError, ValueError, RecursionError):  # the digest of what is just not too deep to be read
        return None


def store_content(name: str, content: Any) -> None:
    """Puts JSON content into the cache under that name; does nothing where the folder cannot be written to."""
    content = json.loads(json.dumps(content))  # tuples become lists now, as on reading, so that the digest agrees
    kept = {"fingerprint": fingerprint(), "digest": _digest(content), "content": content}
    try:
        folder().mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder())
        write_atomically(folder() / f"{name}.json", json.dumps(kept, ensure_ascii=False).encode())
    except OSError:
        return


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
