"""A statement on the page: a row of the list that opens to its formula, verdict, evidence and plots."""

from collections.abc import Iterable, Mapping
from typing import Any

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.proofs_checks.proof import Role
from fedconvex.proofs_checks.reporting.records import Record, StepRecord
from fedconvex.proofs_checks.reporting.results import Origin
from fedconvex.proofs_checks.worst_cases.looseness.table import symbol
from fedconvex.report.contents import Loose, StatementEntry
from fedconvex.report.markup import Html, joined, math, mixed, table, tag
from fedconvex.report.plots import Point, Series, list_of, plot, short
from fedconvex.verdicts import Verdict


def badge(verdict: str) -> Html:
    """The verdict as a coloured label."""
    return tag("span", verdict, class_=f"verdict {verdict}")


def link(identifier: str) -> Html:
    """A link to a statement on the page; the line may break after the dot of its name."""
    paper, dot, number = identifier.partition(".")
    return tag("a", tag("code", paper + dot, tag("wbr"), number), href=f"#{identifier}")


def unit(words: str) -> Html:
    """The unit of a number; where columns have headings, only screen readers read it."""
    return tag("span", f" {words}", class_="unit")


def statement(entry: StatementEntry, place: int, on_page: frozenset[str]) -> Html:
    """The statement's row with its details; `place` is its position in the papers' order."""
    record = entry.record
    used = None if record.tightness is None else record.tightness["quotient"]
    loose = max((one.lower for one in entry.looseness), default=None)
    line = tag(
        "summary",
        tag("span", tag("b", record.source), " ", tag("code", record.identifier), class_="name"),
        tag("span", record.claim, class_="kind"),
        badge(record.verdict),
        tag("span", *_steps(record), class_="number steps"),
        tag("span", *_used(used), class_="number used"),
        tag("span", *([] if loose is None else [_rounded_down(loose, 4), unit("times loose")]), class_="number loose"),
    )
    return tag(
        "details", line, tag("div", *_inside(entry, on_page)),
        # page.js sorts and filters by the data attributes
        id=record.identifier, class_="statement", data_place=place, data_paper=entry.paper, data_kind=record.claim,
        data_verdict=record.verdict, data_misprinted=bool(misprinted(record)), data_steps=len(record.steps),
        data_used="" if used is None else used, data_loose="" if loose is None else loose,
    )  # fmt: skip


def misprinted(record: Record) -> list[StepRecord]:
    """The displayed lines of the paper that are false as printed, although the statement is proved another way."""
    fails = (Role.PRINTED.value, Verdict.REFUTED.value)
    return [step for step in record.steps if step.place and (step.role, step.verdict) == fails]


def _steps(record: Record) -> list[Html | str]:
    return [f"{record.count(Verdict.PROVED)} of {len(record.steps)}", unit("steps")] if record.steps else []


def _used(used: float | None) -> list[Html | str]:
    """The used part of the bound, rounded down, with a bar."""
    if used is None:
        return []
    width = f"width:{100 * min(max(used, 0), 1):.1f}%"
    return [
        _rounded_down(used, 3),
        unit("used"),
        tag("span", tag("span", style=width), class_="bar", aria_hidden="true"),
    ]


def _rounded_down(value: float, digits: int) -> str:
    return to_text(value, digits, Rounding.FLOOR)


def _inside(entry: StatementEntry, on_page: frozenset[str]) -> list[Html]:
    record = entry.record
    parts = [tag("p", mixed(record.words)), _formula(record.formula)]
    if record.assumptions:
        assumed = [tag("li", tag("p", mixed(assumption))) for assumption in record.assumptions]
        parts.append(tag("div", tag("h3", "Assumes"), tag("ul", *assumed)))
    parts += _verdict(entry)
    if record.witness:
        parts.append(tag("h3", "A counterexample, as a program"))
        parts.append(tag("pre", tag("code", record.witness["program"]), tabindex=0))
        parts.append(tag("p", f"It finds: {record.witness['found']}.", class_="small"))
    if record.corrected:
        other = record.corrected["identifier"]
        name = link(other) if other in on_page else tag("code", other)
        parts.append(tag("h3", "What holds instead: ", name))
        parts += [tag("p", mixed(record.corrected["words"])), _formula(record.corrected["formula"])]
    for label, text in (("Note", record.notes), ("Promises nothing", record.vacuous), ("In addition", record.extra)):
        parts += [tag("p", tag("b", f"{label}: "), mixed(text))] if text else []
    parts += _tightness(entry)
    parts += _steps_in_full(record)
    return parts


def _formula(latex: str) -> Html:
    return tag("div", math(latex, block=True), class_="formula")


def _verdict(entry: StatementEntry) -> list[Html]:
    record = entry.record
    if entry.origin is Origin.NONE:
        return [tag("p", badge(record.verdict), f" This comes {Origin.NONE.value}.")]
    said = "" if record.verdict == Verdict.PROVED.value else f" {record.reason}."
    certified = sum(step.certified for step in record.steps)
    counted = f" {certified} of {len(record.steps)} steps have a certificate." if certified else ""
    origin = tag("span", f" ({entry.origin.value.capitalize()}.)", class_="small")
    return [tag("p", badge(record.verdict), joined([said, counted, origin]))]


def _tightness(entry: StatementEntry) -> list[Html]:
    record, parts = entry.record, []
    if record.tightness is None and not entry.looseness:
        return []
    if record.tightness is not None:
        how = f": {record.tightness['how']}" if record.tightness["how"] else ""
        used = _rounded_down(record.tightness["quotient"], 4)
        found = f"On the worst instance that was found, {used} of it is used{how}."
        parts.append(tag("p", mixed(found)))
    if entry.looseness:
        parts.append(looseness_table([entry], named=False))
    return [tag("h3", "How much of the bound is used"), *parts, list_of([_runs(entry), _worst_cases(entry)])]


def looseness_table(entries: Iterable[StatementEntry], named: bool = True) -> Html:
    """A table of bounds and exact worst cases at given parameters; `named`: with a column of the statements' names.

    Without columns for bounds if every entry compares two quantities of a run, and has no bound of its own.
    """
    entries = list(entries)
    has_bounds = any(one.bound is not None for entry in entries for one in entry.looseness)
    names, numbers = ["statement"] * named + ["at"], ["bound", "exact worst case"] * has_bounds + ["looseness"]
    rows = []
    for entry in entries:
        for number, one in enumerate(entry.looseness):
            bounds = ["", ""] if one.bound is None else [one.row.bound, one.row.worst]
            name = tag("td", None if number else link(entry.record.identifier)) if named else None
            cells = [tag("td", cell, class_="number") for cell in (*bounds * has_bounds, one.row.looseness)]
            rows.append(tag("tr", name, tag("td", one.row.at, class_="small at"), *cells))
    return table(names, rows, numbers)


def _runs(entry: StatementEntry) -> Html:
    """A plot of the two sides of the inequality on exact runs: the promised and the observed quantity."""
    if len(entry.points) < 2:
        return Html("")
    points = [
        Point(
            larger,
            smaller,
            f"larger side {short(larger)}, smaller side {short(smaller)}: {_rounded_down(smaller / larger, 3)} used",
        )
        for larger, smaller in entry.points
    ]
    most = max(smaller / larger for larger, smaller in entry.points)
    about = (
        f"The two sides of the inequality on {len(points)} exact runs near the worst instance that was found. At best "
        f"{_rounded_down(most, 3)} of the bound is used here; on the line both sides are equal."
    )
    series = [Series("an exact run", points)]
    return plot(series, x="larger side", y="smaller side", about=about, diagonal="attained: both sides are equal")


def _worst_cases(entry: StatementEntry) -> Html:
    """A plot of the bound and the exact worst case over the parameter with most values."""
    name, some = _varied(entry.looseness)
    if len(some) < 2:
        return Html("")
    bounds, worst = [], []
    for one in some:
        x, (low, high) = _number(one.numbers[name]), one.worst or (0.0, 0.0)
        says = f"{one.row.at}: bound {one.row.bound}, exact worst case {one.row.worst}, looseness {one.row.looseness}"
        bounds.append(Point(x, one.bound or 0.0, says))
        worst.append(Point(x, low, says, top=high))
    about = f"The bound and the exact worst case for {len(some)} values of {symbol(name)}."
    series = [Series("the bound", bounds, line=True), Series("the exact worst case", worst, line=True)]
    return plot(series, x=symbol(name), y="per unit of the start", about=about)


def _varied(found: tuple[Loose, ...]) -> tuple[str, list[Loose]]:
    """The parameter with most values (then: the widest range) among cases that differ in nothing else; those cases."""
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[Loose]] = {}
    for one in (one for one in found if one.bound is not None):
        for name in (name for name, value in one.numbers.items() if _number(value) > 0):
            others = tuple((key, value) for key, value in one.numbers.items() if key != name)
            groups.setdefault((name, others), []).append(one)
    if not groups:
        return "", []

    def span(group: tuple[tuple[str, Any], list[Loose]]) -> tuple[int, float]:
        (name, _), some = group
        values = [_number(one.numbers[name]) for one in some]
        return len(some), max(values) / min(values)

    (name, _), some = max(groups.items(), key=span)
    return name, some


def _number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def _steps_in_full(record: Record) -> list[Html]:
    if not record.steps:
        return []
    return [tag("h3", "The proof, step by step"), tag("ol", *map(_step, record.steps), class_="proof")]


def _step(step: StepRecord) -> Html:
    where = f"{step.place or 'left to the reader'}{' as printed' if step.role == Role.PRINTED.value else ''}"
    certificate = " · certificate" if step.certified else ""
    return tag(
        "li",
        tag("div", math(step.shown), class_="formula"),
        tag("p", badge(step.verdict), " ", mixed(step.because)),
        tag("p", f"{where} · {step.engine}: {step.detail}{certificate}", class_="small"),
    )


def what_fails(entries: list[StatementEntry], on_page: frozenset[str]) -> list[Html]:
    """The refuted statements with their corrected forms, then the printed lines that are false."""
    parts = []
    refuted = [e.record for e in entries if e.record.verdict == Verdict.REFUTED.value]
    if refuted:
        rows = [tag("tr", tag("td", link(r.identifier)), tag("td", r.reason), tag("td", _instead(r.corrected, on_page)))
                for r in refuted]  # fmt: skip
        parts.append(table(["statement", "what fails", "what holds instead"], rows, class_="stacked"))
    holding = [e.record for e in entries if e.record.verdict != Verdict.REFUTED.value]
    lines = dict.fromkeys((record.identifier, step.place) for record in holding for step in misprinted(record))
    if lines:
        parts.append(tag("p", "Displayed lines that fail as printed, in proofs that another way completes:"))
        items = [tag("li", link(name), f": {place}") for name, place in lines]
        parts.append(tag("ul", *items, class_="columns"))
    return parts


def _instead(corrected: Mapping[str, str] | None, on_page: frozenset[str]) -> Html:
    if corrected is None:
        return Html("")
    other = corrected["identifier"]
    return joined([link(other) if other in on_page else tag("code", other), " ", mixed(corrected["words"])])
