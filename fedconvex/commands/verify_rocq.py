"""Statements as theorems of Rocq: `fedconvex verify --rocq FOLDER`, and their check with `--kernel rocq`."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from fedconvex.commands.terminal import say
from fedconvex.safe_text import one_line

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement


def write_and_check(folder: Path | None, statements: "list[Statement]", compiled: bool) -> None:
    """Writes the theorems, and lets Rocq check them where that is wanted. Exit status 1 where it refuses one."""
    from fedconvex.proofs_checks.rocq.compiling import find_rocq
    from fedconvex.proofs_checks.rocq.files import require_empty

    if folder is not None:
        require_empty(folder)
    rocq = find_rocq() if compiled else None  # before any work
    if folder is not None:
        refused = _write(folder, statements, rocq)
    else:
        with TemporaryDirectory(prefix="fedconvex-rocq-") as place:
            refused = _write(Path(place), statements, rocq)
    if folder is not None:
        say(f"saved {one_line(str(folder))}")
    if refused:
        raise typer.Exit(1)


def _write(folder: Path, statements: "list[Statement]", rocq: "object") -> int:
    """The number of theorems that Rocq refuses."""
    from fedconvex.proofs_checks.rocq.compiling import Rocq, check_folder
    from fedconvex.proofs_checks.rocq.files import write_theories

    found = write_theories(folder, statements)
    written = [one for one in found if one.text]
    for one in found:
        if one.missing:
            say(f"{one.identifier}: not exported: {one.missing}")
    say(f"{len(written)} of {len(found)} statements exported as theorems of Rocq")
    if not isinstance(rocq, Rocq):
        return 0
    refused = 0
    for place, (one, checked) in enumerate(zip(written, check_folder(rocq, folder, written), strict=True), 1):
        word = f"checked by Rocq {rocq.version}" if checked.accepted else "refused by Rocq"
        say(f"[{place}/{len(written)}] {one.identifier}: {word} ({checked.seconds:.1f} s)")
        if not checked.accepted:
            refused += 1
            say(f"  {one_line(checked.problem)[:300]}")
    say(f"{len(written) - refused} of {len(written)} theorems checked by Rocq {rocq.version}")
    return refused
