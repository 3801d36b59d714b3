"""Provenance of a page: versions, machine, commit and date."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from fedconvex.arithmetic.processor import processor
from fedconvex.proofs_checks.reporting.cache import LIBRARIES


def environment() -> dict[str, str]:
    """Label -> text, in the order of the page; the commit only if the package runs from a checkout."""
    found = {
        "fedconvex": version("fedconvex"),
        "commit": commit(),
        "made": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "Python": platform.python_version(),
        **{name: version(name) for name in sorted({*LIBRARIES, "cvxpy", "clarabel", "scipy"})},
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": f"{processor()}, {os.cpu_count()} cores",
    }
    return {label: words for label, words in found.items() if words}


def commit(root: Path | None = None) -> str:
    """The commit of the package's checkout, with a remark if files have changed since; empty without a checkout."""
    root = Path(__file__).resolve().parents[2] if root is None else root
    if not (root / ".git").exists():
        return ""
    try:
        head, changes = (
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True, timeout=20)
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return head.stdout.strip()[:12] + (", with changes that are not committed" if changes.stdout.strip() else "")
