"""The guide's tables of verdicts, with what to know of each statement that is not simply proved."""

from collections.abc import Iterator
from itertools import chain, groupby

from fedconvex.display.documents import DocumentBlock, Heading, Paragraph, TableBlock
from fedconvex.display.markdown import markdown
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.reporting import views
from fedconvex.proofs_checks.reporting.records import Record
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.verdicts import Verdict

HEADINGS = ("statement", "verdict", "Rocq", "as printed", "holds", "lines", "used", "says")


def as_markdown(records: list[Record]) -> str:
    """The counts, then for each paper a table and remarks."""
    return markdown(_blocks(records))


def _blocks(records: list[Record]) -> Iterator[DocumentBlock]:
    yield Paragraph(views.counts(records))
    for paper, some in groupby(records, key=lambda r: r.source.partition(",")[0]):
        of_paper = list(some)
        yield Heading(paper, 2)
        yield TableBlock(HEADINGS, [_cells(r) for r in of_paper])
        yield from chain.from_iterable(map(_remarks, of_paper))


def _cells(r: Record) -> tuple[str, ...]:
    proof = str(len(r.lines(Role.PROOF)) or "")
    used = "" if r.tightness is None else str(r.tightness["exact"] or f"{r.tightness['quotient']:.4g}")
    checked = checked_by(r.identifier, r.content)
    return f"`{r.identifier}`", r.verdict, checked, r.as_printed, r.holds, proof, used, r.words


def _remarks(record: Record) -> Iterator[DocumentBlock]:
    """Counterexample, corrected statement, misprinted lines and notes; nothing for a plain "proved"."""
    decided = record.verdict in (Verdict.PROVED.value, Verdict.COMPARED.value)
    if decided and not (record.failing or record.notes or record.vacuous):
        return
    yield Heading(f"`{record.identifier}`: {record.verdict}")
    if not decided:
        yield Paragraph(f"{record.reason}.")
    yield from chain(views.program(record), views.instead(record))
    if record.other_reading:
        yield Paragraph(record.other_reading, lead="A counterexample to the other reading:")
    for step in record.failing:
        yield Paragraph(f"As printed at {step.place} it fails: $ {step.shown} $")
    yield from views.notes(record)
