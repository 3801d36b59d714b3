"""One self-contained HTML page: every statement with its verdict and evidence, and the papers' figures run again."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fedconvex.optional import require_library

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.markup import Html
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
    from fedconvex.report.environment import environment
    from fedconvex.report.page import Sections, page

    changed = differences(record for _, record, origin in verdicts if origin is not Origin.NONE)
    return page(list(entries(verdicts, use_cache)), Sections(environment(), changed, reproduced, audited)), changed
