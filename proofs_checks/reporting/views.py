"""A statement with its result as blocks of a document: on one screen, in a notebook, on the report and in an appendix.

Each part is written once. A screen has the counts of the proof's lines, the other documents have the lines.
"""

from collections.abc import Iterator
from itertools import chain

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.display.documents import CodeBlock, DocumentBlock, FormulaBlock, Heading, ItemList, Paragraph
from fedconvex.display.html import html, tag
from fedconvex.display.text import text
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.reporting.records import Record, summary, totals
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.shown import on_screen
from fedconvex.verdicts import Verdict

OPEN = (Verdict.UNKNOWN.value, Verdict.ASSUMED.value)
COUNTED = (
    (Role.PROOF, "line{} replayed by the kernel"), (Role.COMPARED, "comparison{} with the running code"),
    (Role.PRINTED, "printed line{} that fail{}"),
)  # fmt: skip


def screen(record: Record) -> str:
    """The text; where its lines are too many for a screen, the last one says where all of them are."""
    title = Heading(f"{record.identifier} ({record.source}; {record.claim}) is {record.verdict.upper()}")
    blocks = chain(
        [title], phrases(record), says(record), [_decided(record)], kernel(record), fails(record), instead(record),
        remarks(record), program(record),
    )  # fmt: skip
    return on_screen(text(blocks), f"fedconvex verify {record.identifier} --json -")


def details(record: Record) -> str:
    """All that the report shows of a statement, without its plots."""
    title = Paragraph(f"`{record.identifier}` · {record.claim}", lead=record.source)
    parts = (whole(record), remarks(record), proof(record))
    return str(tag("div", html([title, *chain.from_iterable(parts)]), class_="statement"))


def appendix(records: list[Record]) -> Iterator[DocumentBlock]:
    """The statements with their proofs, one after the other."""
    yield Paragraph(counts(records))
    for record in records:
        yield Heading(f"{record.source} (`{record.identifier}`): {record.verdict}")
        yield from chain(whole(record), remarks(record), proof(record))


def counts(records: list[Record]) -> str:
    """How many statements have which verdict, and what was done, in two sentences."""
    sums = totals(records)
    found = ", ".join(f"{n} {verdict}" for verdict, n in sums["statements"].items() if n)
    return f"{len(records)} statements: {found}. {summary(records)}."


def whole(record: Record, origin: str = "") -> Iterator[DocumentBlock]:
    """The statement, its verdict with the reason and where it comes from, and what holds."""
    yield from says(record)
    lines = len(record.lines(Role.PROOF))
    words = [f"{record.reason}."] * (record.verdict != Verdict.PROVED.value)
    words += [f"The kernel replayed {lines} line{'s' * (lines > 1)}."] * bool(lines)
    yield Paragraph(" ".join(words), verdict=record.verdict, remark=origin and f"{origin[0].upper()}{origin[1:]}.")
    yield from phrases(record)
    if version := checked_by(record.identifier, record.content):
        yield Paragraph(f"Checked by Rocq {version} too, from definitions.")
    if record.other_reading:
        yield Paragraph(f"{record.other_reading}.", lead="A counterexample to the other reading:")
    yield from program(record)
    if record.witness:
        yield Paragraph(f"{record.witness['found']}.", lead="It finds:")
    yield from instead(record)


def phrases(record: Record) -> Iterator[DocumentBlock]:
    """What the verdict says of the printed words, and what holds."""
    yield Paragraph(record.as_printed, "as printed")
    yield Paragraph(record.holds, "holds")


def says(record: Record) -> Iterator[DocumentBlock]:
    """The statement in words and as a formula, and what it assumes."""
    yield Paragraph(record.words, "says", lead="")
    yield FormulaBlock(record.formula, "formula")
    if record.conclusion:
        yield FormulaBlock(record.conclusion, "then", lead="Then:")
    if record.printed:
        leads = ("The paper prints, with the difference underlined:", "and here stands:")
        shown = zip(record.printed, ("paper", "here"), leads, record.printed_plainly, strict=True)
        yield from (FormulaBlock(*one) for one in shown)
    if record.assumptions:
        yield ItemList(record.assumptions, "assumes")


def _decided(record: Record) -> Paragraph:
    """What was replayed, compared and found to fail; of an open statement, why it is open."""
    if record.verdict in OPEN:
        return Paragraph(record.reason, "open")
    numbers = [(record.failing if role is Role.PRINTED else record.lines(role), what) for role, what in COUNTED]
    words = [f"{len(of)} {what.format('s' * (len(of) > 1), 's' * (len(of) == 1))}" for of, what in numbers if of]
    if version := checked_by(record.identifier, record.content):
        words.append(f"checked by Rocq {version} too")
    return Paragraph("; ".join(words) or record.reason, "proof", remark="--step N shows one" if words else "")


def kernel(record: Record) -> Iterator[DocumentBlock]:
    """All that the kernel's theorem assumes."""
    if record.kernel:
        yield ItemList(record.kernel, "proved from")


def fails(record: Record) -> Iterator[DocumentBlock]:
    """The counterexample in words, and printed lines that fail, each beside the line that holds in its place."""
    if record.other_reading:
        yield Paragraph(record.other_reading, "fails")
    for line in record.failing:
        place = f"{line.place}: " * bool(line.place)
        yield Paragraph(f"{place}${line.shown}$   [{line.because}]", "fails")
        of_place = [s for s in record.lines(Role.COMPARED) if s.place == line.place and s.place]
        yield from (FormulaBlock(other.shown, "corrected") for other in of_place)
    if record.witness:
        yield Paragraph(record.reason, "fails")


def instead(record: Record) -> Iterator[DocumentBlock]:
    """The corrected statement."""
    if record.corrected:
        name, words, formula = (record.corrected[key] for key in ("identifier", "words", "formula"))
        yield Paragraph(f"`{name}`: {words}", "corrected", lead="What holds instead:")
        yield FormulaBlock(formula)


def program(record: Record) -> Iterator[DocumentBlock]:
    """The counterexample."""
    if record.witness:
        yield CodeBlock(record.witness["program"], "program", lead="A counterexample, as a program:")


def remarks(record: Record) -> Iterator[DocumentBlock]:
    """The part of the bound that is used, and the notes."""
    yield from used(record)
    yield from notes(record)


def notes(record: Record) -> Iterator[DocumentBlock]:
    """Notes, and where the statement guarantees nothing."""
    for label, lead, words in (("note", "Note:", record.notes), ("vacuous", "Guarantees nothing:", record.vacuous)):
        if words:
            yield Paragraph(words, label, lead=lead)


def used(record: Record) -> Iterator[DocumentBlock]:
    """How much of the bound the worst known instance uses."""
    if record.tightness is not None:
        how = f": {record.tightness['how']}" if record.tightness["how"] else ""
        quotient = record.tightness["exact"] or to_text(record.tightness["quotient"], 4, Rounding.FLOOR)
        yield Paragraph(f"{quotient} of the bound{how}", "tightness", lead="Used on the worst instance that was found:")


def proof(record: Record) -> Iterator[DocumentBlock]:
    """What the proof assumes, and the proof line by line, with what was compared."""
    yield from kernel(record)
    if record.evidence:
        yield ItemList([_step(line) for line in record.evidence], lead="Line by line:", numbered=True)


def _step(line: EvidenceLine) -> tuple[DocumentBlock, ...]:
    place = f"{line.place}{' as printed' if line.role == Role.PRINTED.value else ''}"
    origin = Paragraph("", verdict=line.verdict, remark=f"{place} · " * bool(place) + line.engine)
    return origin, FormulaBlock(line.shown), Paragraph(line.because, remark=f"({line.detail})")
