"""One HTML page that loads nothing: every statement with its verdict and evidence, and the figures run again."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedconvex.proofs_checks.reporting.records import Record
    from fedconvex.proofs_checks.reporting.results import Origin
    from fedconvex.report.markup import Html
    from fedconvex.statements.statement import Statement


def report(
    names: Iterable[str] = (),
    *,
    results: Path | str | None = None,
    audits: Iterable[Path | str] = (),
    fresh: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[str, list[str]]:
    """The page, and what is not as it was recorded, in words.

    Args:
        names: papers and statements; without any, every statement of the catalogue.
        results: the folder that `fedconvex reproduce` wrote; without it, the results that are part of the package.
        audits: files or folders that `fedconvex audit` wrote.
        fresh: whether every proof is run and every worst case computed anew, instead of taking verdicts that are kept
            or recorded.
        say: is told what is being done.

    Raises:
        InvalidInput: for a name that is unknown, and for files that are no results, before any work.
    """
    from fedconvex.progress import track
    from fedconvex.proofs_checks.reporting import results as known
    from fedconvex.proofs_checks.verification import papers_with_proofs
    from fedconvex.report import audited, reproduced
    from fedconvex.theory import papers

    folder = None if results is None else Path(results)
    rerun = reproduced.section(reproduced.load(folder), folder)
    audit_sections = [audited.section(Path(path)) for path in audits]
    with_proofs = papers_with_proofs()
    statements = known.chosen(list(names) or [*with_proofs, *(name for name in papers() if name not in with_proofs)])
    say(f"{len(statements)} statements: verdicts")
    found = known.results(statements, kept=not fresh, records=not fresh)
    verdicts = [(of, *next(found)) for of in track(statements, "verdicts")]
    say("bounds against exact runs and exact worst cases")
    return page_of(verdicts, kept=not fresh, reproduced=rerun, audited=audit_sections or None)


def page_of(
    verdicts: "list[tuple[Statement, Record, Origin]]",
    kept: bool = True,
    reproduced: "Sequence[Html] | None" = None,
    audited: "Sequence[Html] | None" = None,
) -> tuple[str, list[str]]:
    """The page of these verdicts, and what is not as it was recorded."""
    from fedconvex.proofs_checks.reporting.recorded import differences
    from fedconvex.proofs_checks.reporting.results import Origin
    from fedconvex.report.contents import entries
    from fedconvex.report.environment import environment
    from fedconvex.report.page import Sections, page

    changed = differences(record for _, record, origin in verdicts if origin is not Origin.NONE)
    return page(list(entries(verdicts, kept)), Sections(environment(), changed, reproduced, audited)), changed
