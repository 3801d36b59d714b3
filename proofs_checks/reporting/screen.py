"""One statement on one screen: what it says, its verdict, what the verdict says of the printed words, what fails."""

from collections.abc import Iterator
from textwrap import wrap

from fedconvex.claims.display.plain_text import from_latex, mixed
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.reporting.records import Record
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.shown import on_screen
from fedconvex.verdicts import Verdict

WIDTH = 100
LABEL = 12  # columns of the labels
PROGRAM = 20  # lines of a counterexample, which `witnesses` allows


def screen(record: Record) -> str:
    """The text; where its lines are too many for a screen, the last one says where all of them are."""
    lines = [f"{record.identifier} ({record.source}; {record.claim}) is {record.verdict.upper()}"]
    for label, text in _sections(record):
        lines += _wrapped(label, text)
    return on_screen("\n".join(lines), f"fedconvex verify {record.identifier} --json -")


def _sections(record: Record) -> Iterator[tuple[str, str]]:
    yield "as printed", record.as_printed
    yield "holds", record.holds
    yield "says", record.words
    yield "formula", from_latex(record.formula)
    if record.conclusion:
        yield "then", from_latex(record.conclusion)
    if record.printed:
        yield "paper", record.printed_plainly[0]
        yield "here", record.printed_plainly[1]
    if record.assumptions:
        yield "assumes", "; ".join(map(mixed, record.assumptions))
    if record.verdict in (Verdict.UNKNOWN.value, Verdict.ASSUMED.value):
        yield "open", mixed(record.reason)
    else:
        yield "proof", _counts(record)
    if record.kernel:
        yield "proved from", "; ".join(map(mixed, record.kernel))
    if record.other_reading:
        yield "fails", record.other_reading
    for line in record.failing:
        yield "fails", f"{line.place}: " * bool(line.place) + f"{from_latex(line.shown)}   [{mixed(line.because)}]"
        for other in _corrected(line, record):
            yield "corrected", from_latex(other.shown)
    if record.witness:
        yield "fails", record.reason
    if record.corrected:
        yield "corrected", f"{record.corrected['identifier']}: {record.corrected['words']}"
        yield "", from_latex(record.corrected["formula"])
    if record.tightness:
        how = f": {mixed(record.tightness['how'])}" if record.tightness["how"] else ""
        yield (
            "tightness",
            f"{record.tightness['exact'] or format(record.tightness['quotient'], '.4g')} of the bound{how}",
        )
    for label, text in (("note", record.notes), ("vacuous", record.vacuous)):
        if text:
            yield label, mixed(text)
    if record.witness:
        yield "program", record.witness["program"]


def _counts(record: Record) -> str:
    """What was replayed, compared and found to fail."""
    counted = (
        (len(record.lines(Role.PROOF)), "line{} replayed by the kernel"),
        (len(record.lines(Role.COMPARED)), "comparison{} with the running code"),
        (len(record.failing), "printed line{} that fail{}"),
    )
    words = [f"{n} {what.format('s' * (n > 1), 's' * (n == 1))}" for n, what in counted if n]
    if version := checked_by(record.identifier, record.content):
        words.append(f"checked by Rocq {version} too")
    return f"{'; '.join(words)}   (--step N shows one)" if words else record.reason


def _corrected(failing: EvidenceLine, record: Record) -> list[EvidenceLine]:
    """The lines that hold at the place of the one that fails."""
    return [s for s in record.evidence if s.place == failing.place and s.place and s.role == Role.COMPARED.value]


def _wrapped(label: str, text: str) -> list[str]:
    lines = text.splitlines()[:PROGRAM] if label == "program" else wrap(text, WIDTH - LABEL, break_on_hyphens=False)
    return [f"{'' if number else label:<{LABEL}}{line}" for number, line in enumerate(lines)]
