"""Folders of exported theorems that Rocq has accepted, and the marks of tests that need Rocq."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fedconvex.proofs_checks.reporting import cache
from fedconvex.proofs_checks.rocq.compiling import Rocq, axioms_of, check_folder, granted
from fedconvex.proofs_checks.rocq.files import Exported, exported, write_theories
from fedconvex.theory import statement

WITH_ROCQ = [
    pytest.mark.slow,  # compiling the library alone takes ten seconds
    pytest.mark.skipif(
        shutil.which("coqc") is None and shutil.which("rocq") is None,
        reason="neither coqc nor rocq is on the path (Debian: apt install coq)",
    ),
]


def accepted(rocq: Rocq, place: Path, identifiers: Sequence[str]) -> list[Exported]:
    """Writes these statements' theorems to a new folder, where Rocq must accept all of them, or has before.

    As with `fedconvex verify --kernel rocq`, no text is compiled twice.
    """
    written = write_theories(place, [statement(name) for name in identifiers])
    found = list(check_folder(rocq, place, written, kept=cache.folder() / "rocq"))
    assert [(one.accepted, one.problem) for one in found] == [(True, "")] * len(written)
    return written


def on_standard_axioms(rocq: Rocq, place: Path, identifiers: Sequence[str]) -> Path:
    """The folder, where Rocq accepts the theorems on the axioms of its real numbers, and what its functions need."""
    axioms = axioms_of(rocq, place, accepted(rocq, place, identifiers))
    assert axioms
    assert granted(axioms) == []
    return place


Folders = Callable[[str], Path]  # that of a statement's theorem


def accepts(rocq: Rocq, folder: Path, text: str) -> bool:
    """Whether Rocq accepts the text in such a folder."""
    (folder / "Statements" / "mutant.v").write_text(text)
    return rocq.compile(folder, "Statements/mutant").accepted


def theorem_of(identifier: str) -> str:
    """The theorem of the statement itself, which is the last one, without its proof."""
    name = identifier.replace(".", "_")
    return exported(statement(identifier)).text.rpartition(f"Theorem {name} :")[2].partition("Proof.")[0]
