"""Statements as theorems of Rocq: `fedconvex verify --rocq FOLDER`, and their check with `--kernel rocq`."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from fedconvex.commands.terminal import say
from fedconvex.safe_text import one_line

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.compiling import Rocq
    from fedconvex.proofs_checks.rocq.files import Exported
    from fedconvex.statements.statement import Statement


def write_and_check(
    folder: Path | None,
    statements: "list[Statement]",
    compiled: bool,
    recorded: bool = False,
    changed: bool = False,
) -> None:
    """Writes the theorems, and lets Rocq check them where that is wanted. Exit status 1 where it refuses one.

    recorded: the accepted ones are recorded as such; changed: only those are checked whose texts are not recorded.
    """
    from fedconvex.proofs_checks.rocq.compiling import find_rocq
    from fedconvex.proofs_checks.rocq.files import require_empty

    if folder is not None:
        require_empty(folder)
    rocq = find_rocq() if compiled else None  # before any work
    if folder is not None:
        refused = _write(folder, statements, rocq, recorded, changed)
    else:
        with TemporaryDirectory(prefix="fedconvex-rocq-") as place:
            refused = _write(Path(place), statements, rocq, recorded, changed)
    if folder is not None:
        say(f"saved {one_line(str(folder))}")
    if refused:
        raise typer.Exit(1)


def _write(folder: Path, statements: "list[Statement]", rocq: "Rocq | None", recorded: bool, changed: bool) -> int:
    """The number of theorems that Rocq refuses, and of axioms that are none of its own."""
    from fedconvex.proofs_checks.reporting.cache import folder as cache_folder
    from fedconvex.proofs_checks.rocq.compiling import check_folder
    from fedconvex.proofs_checks.rocq.files import write_theories

    found = write_theories(folder, statements)
    written = [one for one in found if one.text]
    for one in found:
        if one.missing:
            say(f"{one.identifier}: not exported: {one.missing}")
    say(f"{len(written)} of {len(found)} statements exported as theorems of Rocq")
    if rocq is None:
        return 0
    if changed:
        from fedconvex.proofs_checks.rocq.recording import unrecorded

        every, written = written, unrecorded(rocq.version, written)
        say(f"{len(every) - len(written)} of them were checked by Rocq {rocq.version} before, as recorded")
    accepted = []
    for place, (one, checked) in enumerate(
        zip(written, check_folder(rocq, folder, written, kept=cache_folder() / "rocq"), strict=True), 1
    ):
        if checked.accepted:
            accepted.append(one)
            took = "before, the same text" if checked.before else f"{checked.seconds:.1f} s"
            say(f"[{place}/{len(written)}] {one.identifier}: checked by Rocq {rocq.version} ({took})")
        else:
            say(f"[{place}/{len(written)}] {one.identifier}: refused by Rocq ({checked.seconds:.1f} s)")
            say(f"  {one_line(checked.problem)[:300]}")
    say(f"{len(accepted)} of {len(written)} theorems checked by Rocq {rocq.version}")
    own = _say_axioms(rocq, folder, accepted)
    if recorded and not own:
        from fedconvex.proofs_checks.rocq.accepted import PATH
        from fedconvex.proofs_checks.rocq.recording import record_accepted

        record_accepted(rocq.version, accepted, [one for one in written if one not in accepted])
        say(f"recorded in {one_line(str(PATH))}")
    return own + len(written) - len(accepted)


def _say_axioms(rocq: "Rocq", folder: Path, accepted: "list[Exported]") -> int:
    """Prints what the theorems rest on. The number of axioms that are not those of Rocq's real numbers."""
    from fedconvex.proofs_checks.rocq.compiling import axioms_of, granted

    if not accepted:
        return 0
    axioms = axioms_of(rocq, folder, accepted)
    say(f"they rest on {', '.join(sorted(axioms)) or 'no axioms'}")
    own = granted(axioms)
    if own:
        say(f"REFUSED: {', '.join(own)} is no axiom of Rocq's real numbers")
    return len(own)
