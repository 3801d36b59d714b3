"""One statement on one screen: what it says, its verdict, what the verdict says of the printed words, what fails."""

from collections.abc import Iterator
from textwrap import wrap

from fedconvex.proofs_checks.proof import Role
from fedconvex.proofs_checks.reporting.mathematics import from_latex, mixed
from fedconvex.proofs_checks.reporting.records import Record, StepRecord
from fedconvex.verdicts import Verdict

LINES, WIDTH = 40, 110
LABEL = 12  # columns of the labels
PROGRAM = 20  # lines of a counterexample, which `engines.witnesses` allows


def screen(record: Record) -> str:
    """The text, of at most 40 lines; where something is left out, the last line says where all of it is."""
    lines = [f"{record.identifier} ({record.source}; {record.claim}) is {record.verdict.upper()}"]
    for label, text in _sections(record):
        lines += _wrapped(label, text)
    if len(lines) > LINES:
        lines = [
            *lines[: LINES - 1],
            f"… {len(lines) - LINES + 1} more lines: fedconvex verify {record.identifier} --json -",
        ]
    return "\n".join(lines)


def _sections(record: Record) -> Iterator[tuple[str, str]]:
    yield "as printed", record.as_printed
    yield "holds", record.holds
    yield "says", record.words
    yield "formula", from_latex(record.formula)
    if record.conclusion:
        yield "then", from_latex(record.conclusion)
    if record.assumptions:
        yield "assumes", "; ".join(map(mixed, record.assumptions))
    if record.verdict in (Verdict.UNKNOWN.value, Verdict.ASSUMED.value):
        yield "open", mixed(record.reason)
    else:
        yield "proof", _counts(record)
    if record.kernel:
        yield "kernel", f"replays a proof of the claim from: {'; '.join(map(mixed, record.kernel))}"
    if record.other_reading:
        yield "fails", record.other_reading
    for step in _failing(record):
        yield "fails", f"{step.place}: " * bool(step.place) + f"{from_latex(step.shown)}   [{mixed(step.because)}]"
        for other in _corrected(step, record):
            yield "corrected", from_latex(other.shown)
    if record.witness:
        yield "fails", f"{record.witness['shows']}: {record.witness['found']}"
    if record.corrected:
        yield "corrected", f"{record.corrected['identifier']}: {record.corrected['words']}"
        yield "", from_latex(record.corrected["formula"])
    if record.tightness:
        how = f": {mixed(record.tightness['how'])}" if record.tightness["how"] else ""
        yield (
            "tightness",
            f"{record.tightness['exact'] or format(record.tightness['quotient'], '.4g')} of the bound{how}",
        )
    for label, text in (("note", record.notes), ("vacuous", record.vacuous), ("in addition", record.extra)):
        if text:
            yield label, mixed(text)
    if record.witness:
        yield "program", record.witness["program"]


def _counts(record: Record) -> str:
    proved, failing = record.count(Verdict.PROVED), len(_failing(record))
    lines = f"; {failing} printed line{'s' * (failing > 1)} fail{'s' * (failing == 1)}" if failing else ""
    return f"{proved} of {len(record.steps)} steps are proved{lines}   (--step N shows one)"


def _failing(record: Record) -> list[StepRecord]:
    return [s for s in record.steps if (s.role, s.verdict) == (Role.PRINTED.value, Verdict.REFUTED.value)]


def _corrected(failing: StepRecord, record: Record) -> list[StepRecord]:
    """The proved lines at the place of the one that fails."""
    wanted = (Role.PROOF.value, Verdict.PROVED.value, failing.place)
    return [s for s in record.steps if failing.place and (s.role, s.verdict, s.place) == wanted]


def _wrapped(label: str, text: str) -> list[str]:
    lines = text.splitlines()[:PROGRAM] if label == "program" else wrap(text, WIDTH - LABEL, break_on_hyphens=False)
    return [f"{'' if number else label:<{LABEL}}{line}" for number, line in enumerate(lines)]
