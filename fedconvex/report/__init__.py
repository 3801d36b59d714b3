"""One self-contained HTML page: every statement with its verdict and evidence, and the papers' figures run again."""

import datetime
import os
import platform
import subprocess
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from fedconvex.arithmetic.processor import processor
from fedconvex.optional import require_library

if TYPE_CHECKING:
    from fedconvex.display.html import Html
    from fedconvex.proofs_checks.reporting.records import Record
    from fedconvex.proofs_checks.reporting.results import Origin
    from fedconvex.statements.statement import Statement


def report(
    names: Iterable[str] = (),
    *,
    results: Path | str | None = None,
    audits: Iterable[Path | str] = (),
    fresh: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[str, list[str]]:
    """The HTML page, and a sentence for each verdict that differs from the recorded one.

    Use it to show or archive the state of all statements in one file; for a verdict that a program works with, call
    `fedconvex.proofs_checks.verify`.

    Args:
        names: papers and statements; none: every statement of the catalogue.
        results: the folder that `fedconvex reproduce` wrote; None: the results that the package ships.
        audits: files or folders that `fedconvex audit` wrote.
        fresh: run every proof and compute every worst case anew, instead of using cached and recorded results.
        say: gets one line of progress at a time.

    Raises:
        InvalidInput: for an unknown name, and for files that hold no results, before any work.
        MissingLibrary: latex2mathml, which makes formulas of LaTeX, is not installed.
    """
    require_library("latex2mathml", "the report")
    from fedconvex.progress import track
    from fedconvex.proofs_checks.reporting import results as known
    from fedconvex.proofs_checks.verification import papers_with_proofs
    from fedconvex.report import audits as audit_sections
    from fedconvex.report import experiments
    from fedconvex.theory import papers

    folder = None if results is None else Path(results)
    # The sections of files come first: wrong input is refused before the proofs, which take minutes.
    reproduced = experiments.section(experiments.load(folder), folder)
    audited = [audit_sections.section(Path(path)) for path in audits]
    with_proofs = papers_with_proofs()
    statements = known.chosen(list(names) or [*with_proofs, *(name for name in papers() if name not in with_proofs)])
    say(f"{len(statements)} statements: verdicts")
    found = known.results(statements, kept=not fresh, records=not fresh)
    verdicts = [(statement, *next(found)) for statement in track(statements, "verdicts")]
    say("bounds against exact runs and exact worst cases")
    return page_of(verdicts, use_cache=not fresh, reproduced=reproduced, audited=audited or None)


def page_of(
    verdicts: "list[tuple[Statement, Record, Origin]]",
    use_cache: bool = True,
    reproduced: "Sequence[Html] | None" = None,
    audited: "Sequence[Html] | None" = None,
) -> tuple[str, list[str]]:
    """The page of these verdicts, and a sentence for each that differs from the recorded one.

    Args:
        use_cache: reuse cached runs and worst cases, and cache new ones.
        reproduced, audited: further sections; None leaves the section out.
    """
    from fedconvex.proofs_checks.reporting.recorded import differences
    from fedconvex.proofs_checks.reporting.results import Origin
    from fedconvex.report.contents import entries
    from fedconvex.report.page import Sections, page

    changed = differences(record for _, record, origin in verdicts if origin is not Origin.NONE)
    return page(list(entries(verdicts, use_cache)), Sections(environment(), changed, reproduced, audited)), changed


def environment() -> dict[str, str]:
    """Label -> text, in the order of the page; the commit only if the package runs from a checkout."""
    from fedconvex.proofs_checks.reporting.cache import LIBRARIES

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
