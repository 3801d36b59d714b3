"""A statement on the page: a row of the list that opens to its formula, verdict, evidence and plots."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.display.documents import DocumentBlock, ItemList, Paragraph, TableBlock
from fedconvex.display.html import Html, badge, html, table, tag
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.reporting.records import Record
from fedconvex.proofs_checks.reporting.results import Origin
from fedconvex.proofs_checks.reporting.views import proof, remarks, used, whole
from fedconvex.proofs_checks.worst_cases.looseness.table import symbol
from fedconvex.report.contents import Loose, StatementEntry
from fedconvex.report.plots import Point, Series, list_of, plot, short
from fedconvex.verdicts import Verdict


def unit(words: str) -> Html:
    """The unit of a number; where columns have headings, only screen readers read it."""
    return tag("span", f" {words}", class_="unit")


def statement(entry: StatementEntry, place: int, on_page: frozenset[str]) -> Html:
    """The statement's row with its details; `place` is its position in the papers' order."""
    record = entry.record
    quotient = None if record.tightness is None else record.tightness["quotient"]
    loose = max((one.lower for one in entry.looseness), default=None)
    line = tag(
        "summary",
        tag("span", tag("b", record.source), " ", tag("code", record.identifier), class_="name"),
        tag("span", record.claim, class_="kind"),
        badge(record.verdict),
        tag("span", *_steps(record), class_="number steps"),
        tag("span", *_used(quotient), class_="number used"),
        tag("span", *([] if loose is None else [_rounded_down(loose, 4), unit("times loose")]), class_="number loose"),
    )
    return tag(
        "details", line, tag("div", *_inside(entry, on_page)),
        # page.js sorts and filters by the data attributes
        id=record.identifier, class_="statement", data_place=place, data_paper=entry.paper, data_kind=record.claim,
        data_verdict=record.verdict, data_misprinted=bool(misprinted(record)), data_steps=len(record.lines(Role.PROOF)),
        data_used="" if quotient is None else quotient, data_loose="" if loose is None else loose,
    )  # fmt: skip


def misprinted(record: Record) -> list[EvidenceLine]:
    """The displayed lines of the paper that are false as printed."""
    return [line for line in record.failing if line.place]


def _steps(record: Record) -> list[Html | str]:
    proof = len(record.lines(Role.PROOF))
    return [str(proof), unit("lines")] if proof else []


def _used(quotient: float | None) -> list[Html | str]:
    """The used part of the bound, rounded down, with a bar."""
    if quotient is None:
        return []
    width = f"width:{100 * min(max(quotient, 0), 1):.1f}%"
    return [
        _rounded_down(quotient, 3),
        unit("used"),
        tag("span", tag("span", style=width), class_="bar", aria_hidden="true"),
    ]


def _rounded_down(value: float, digits: int) -> str:
    return to_text(value, digits, Rounding.FLOOR)


def _inside(entry: StatementEntry, on_page: frozenset[str]) -> list[Html]:
    record = entry.record
    origin = f"it comes {Origin.NONE.value}" if entry.origin is Origin.NONE else entry.origin.value
    notes = remarks(replace(record, tightness=None))
    return [html((*whole(record, origin), *notes), on_page), *_tightness(entry), html(proof(record))]


def _tightness(entry: StatementEntry) -> list[Html]:
    if entry.record.tightness is None and not entry.looseness:
        return []
    tables = [table(looseness_table([entry], named=False))] if entry.looseness else []
    pictures = list_of([_runs(entry), _worst_cases(entry)])
    return [tag("h3", "How much of the bound is used"), html(used(entry.record)), *tables, pictures]


def looseness_table(entries: Iterable[StatementEntry], named: bool = True) -> TableBlock:
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
            name = "" if number else f"`{entry.record.identifier}`"
            rows.append([name] * named + [one.row.at, *bounds * has_bounds, one.row.looseness])
    return TableBlock(names + numbers, rows, len(numbers))


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


def what_fails(entries: list[StatementEntry]) -> Iterator[DocumentBlock]:
    """The refuted statements with their corrected forms, then the printed lines that are false."""
    records = [entry.record for entry in entries]
    refuted = [r for r in records if r.verdict == Verdict.REFUTED.value]
    if refuted:
        rows = [(f"`{r.identifier}`", r.reason, _instead(r.corrected)) for r in refuted]
        yield TableBlock(("statement", "what fails", "what holds instead"), rows)
    if others := [(f"`{r.identifier}`", r.as_printed, r.holds) for r in records if r.is_another_reading]:
        yield Paragraph("Statements that are proved, but not as they are printed:")
        yield TableBlock(("statement", "as printed", "holds"), others)
    lines = dict.fromkeys((r.identifier, step.place) for r in records if r not in refuted for step in misprinted(r))
    if lines:
        yield Paragraph("Displayed lines that fail as printed, in proofs that another way completes:")
        yield ItemList([f"`{name}`: {place}" for name, place in lines])


def _instead(corrected: Mapping[str, str] | None) -> str:
    return "" if corrected is None else f"`{corrected['identifier']}` {corrected['words']}"
