"""A statement's result as HTML: in a notebook, and inside the report, which adds plots."""

from collections.abc import Container

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.reporting.markup import Html, joined, math, mixed, tag
from fedconvex.proofs_checks.reporting.records import Record
from fedconvex.proofs_checks.rocq.accepted import checked_by
from fedconvex.verdicts import Verdict


def details(record: Record) -> str:
    """All that the report shows of a statement, without its plots."""
    head = tag("p", tag("b", record.source), " ", tag("code", record.identifier), f" · {record.claim}")
    parts = [head, *says(record), verdict(record), *what_holds(record, ()), *remarks(record), *steps(record)]
    return str(tag("div", *parts, class_="statement"))


def badge(verdict: str) -> Html:
    """The verdict as a coloured label."""
    return tag("span", verdict, class_=f"verdict {verdict}")


def link(identifier: str) -> Html:
    """A link to a statement on the page; the line may break after the dot of its name."""
    paper, dot, number = identifier.partition(".")
    return tag("a", tag("code", paper + dot, tag("wbr"), number), href=f"#{identifier}")


def says(record: Record) -> list[Html]:
    """The statement in words and as a formula, and what it assumes."""
    parts = [tag("p", mixed(record.words)), formula(record.formula)]
    parts += [tag("p", "Then:"), formula(record.conclusion)] if record.conclusion else []
    if record.printed:
        printed, here = record.printed
        parts += [tag("p", "The paper prints, with the difference underlined:"), formula(printed)]
        parts += [tag("p", "and here stands:"), formula(here)]
    if record.assumptions:
        assumed = [tag("li", tag("p", mixed(assumption))) for assumption in record.assumptions]
        parts.append(tag("div", tag("h3", "Assumes"), tag("ul", *assumed)))
    return parts


def formula(latex: str) -> Html:
    """A displayed formula."""
    return tag("div", math(latex, block=True), class_="formula")


def verdict(record: Record, origin: str = "") -> Html:
    """The verdict, its reason, the two phrases, and where it comes from."""
    said = "" if record.verdict == Verdict.PROVED.value else f" {record.reason}."
    replayed = len(record.lines(Role.PROOF))
    counted = f" The kernel replayed {replayed} line{'s' * (replayed > 1)}." if replayed else ""
    small = tag("span", f" ({origin.capitalize()}.)", class_="small") if origin else Html("")
    return joined([tag("p", badge(record.verdict), joined([said, counted, small])), phrases(record)])


def phrases(record: Record) -> Html:
    """What the verdict says of the printed words, and what holds."""
    shown = f" A counterexample to the other reading: {record.other_reading}." if record.other_reading else ""
    version = checked_by(record.identifier, record.content)
    by = f" Checked by Rocq {version} too, from definitions." if version else ""
    return tag(
        "p", tag("b", "As printed: "), record.as_printed, ". ", tag("b", "Holds: "), record.holds, ".", by, shown
    )


def what_holds(record: Record, on_page: Container[str]) -> list[Html]:
    """The counterexample, and the corrected statement, which is a link where the page has it."""
    parts = []
    if record.witness:
        parts.append(tag("h3", "A counterexample, as a program"))
        parts.append(tag("pre", tag("code", record.witness["program"]), tabindex=0))
        parts.append(tag("p", f"It finds: {record.witness['found']}.", class_="small"))
    if record.corrected:
        other = record.corrected["identifier"]
        name = link(other) if other in on_page else tag("code", other)
        parts.append(tag("h3", "What holds instead: ", name))
        parts += [tag("p", mixed(record.corrected["words"])), formula(record.corrected["formula"])]
    return parts


def remarks(record: Record) -> list[Html]:
    """Notes, where the statement guarantees nothing, and the part of the bound that is used."""
    parts = []
    for label, text in (("Note", record.notes), ("Guarantees nothing", record.vacuous)):
        parts += [tag("p", tag("b", f"{label}: "), mixed(text))] if text else []
    return [*parts, *used(record)]


def used(record: Record) -> list[Html]:
    """How much of the bound the worst known instance uses."""
    if record.tightness is None:
        return []
    how = f": {record.tightness['how']}" if record.tightness["how"] else ""
    quotient = to_text(record.tightness["quotient"], 4, Rounding.FLOOR)
    return [tag("p", mixed(f"On the worst instance that was found, {quotient} of it is used{how}."))]


def steps(record: Record) -> list[Html]:
    """The proof, line by line, and what was compared."""
    if not record.evidence:
        return []
    proved = record.lines(Role.PROOF)
    parts = [tag("h3", "Proved from"), tag("ul", *(tag("li", mixed(x)) for x in record.kernel))] if proved else []
    return [*parts, tag("h3", "Line by line"), tag("ol", *map(_step, record.evidence), class_="proof")]


def _step(step: EvidenceLine) -> Html:
    place = f"{step.place}{' as printed' if step.role == Role.PRINTED.value else ''}"
    return tag(
        "li",
        tag("div", math(step.shown), class_="formula"),
        tag("p", badge(step.verdict), " ", mixed(step.because)),
        tag("p", f"{place} · " * bool(place), f"{step.engine}: {step.detail}", class_="small"),
    )
