"""The whole page: one self-contained HTML file, without any request to the network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import final

from fedconvex.display.html import Html, html, joined, table, tag
from fedconvex.proofs_checks.evidence import Role
from fedconvex.proofs_checks.reporting.records import summary, totals
from fedconvex.proofs_checks.reporting.results import Origin
from fedconvex.report.contents import StatementEntry
from fedconvex.report.plots import Point, Series, plot, short
from fedconvex.report.statements import looseness_table, statement, what_fails
from fedconvex.verdicts import Verdict

# The page needs no network; the policy makes sure that nothing in its data can use it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
TITLE = "What the papers promise, and what holds"
COLUMNS = {"place": "statement", "kind": "kind", "verdict": "verdict", "steps": "lines", "used": "used",
           "loose": "loose"}  # fmt: skip
MEANINGS = (
    "Used: the largest part of a bound that an exact run was found to use; 1 is all of it. Loose: the bound divided by "
    "the exact worst case, at the numbers of the table below where it is loosest."
)


@final
@dataclass(frozen=True)
class Sections:
    """The page's other sections; None leaves a section out."""

    environment: Mapping[str, str]
    changed: Sequence[str] = ()  # a sentence for each verdict that differs from the recorded one
    reproduced: Sequence[Html] | None = None
    audited: Sequence[Html] | None = None


def page(entries: list[StatementEntry], sections: Sections) -> str:
    """The HTML document. Apart from doctype, style and script it is well-formed XML, so that tests can parse it."""
    on_page = frozenset(entry.record.identifier for entry in entries)
    parts: list[tuple[str, str, Sequence[Html] | None]] = [
        ("fails", "What fails", [html(what_fails(entries), on_page) or tag("p", "Nothing.")]),
        ("statements", "The statements", [_controls(entries), *_list(entries, on_page)]),
        ("looseness", "How loose the bounds are", _looseness(entries, on_page)),
        ("reproduced", "The papers' figures, run again", sections.reproduced),
        ("audited", "On your data", sections.audited),
        ("environment", "How this page was made", [_environment(entries, sections.environment)]),
    ]
    shown = [(name, title, children) for name, title, children in parts if children is not None]
    places = [tag("a", title, href=f"#{name}") for name, title, _ in shown]
    body = [
        tag(
            "header", tag("h1", TITLE), _summary(entries, sections.changed), tag("nav", *places, aria_label="Sections")
        ),
        tag("main", *(tag("section", tag("h2", title, id=name), *children) for name, title, children in shown)),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("title", TITLE),
        tag("style", _file("page.css")),
    ]
    script = tag("script", _file("page.js"))
    document = tag("html", tag("head", *head), tag("body", *body, script), lang="en")
    return f"<!DOCTYPE html>\n{document}\n"


def _file(name: str) -> Html:
    """A style sheet or script of the package. `</` would close the element that contains it."""
    text = files("fedconvex.report").joinpath(name).read_text("utf-8")
    assert "</" not in text, name
    return Html(text)


def _summary(entries: list[StatementEntry], changed: Sequence[str]) -> Html:
    records = [e.record for e in entries if e.origin is not Origin.NONE]
    sums = totals(records)
    counts = [
        tag("li", tag("b", str(n)), " ", tag("span", verdict, class_=f"verdict {verdict}"))
        for verdict, n in sums["statements"].items() if n or verdict in ("proved", "refuted")
    ]  # fmt: skip
    # listed, but not counted, since nothing here proves them
    earlier = len(entries) - len(records)
    said = f"{len(records)} statements of {len({r.source.partition(',')[0] for r in records})} papers. "
    said += f"{summary(records)}. "
    said += f"{earlier} more have no proof here. " if earlier else ""
    parts = [tag("ul", *counts, class_="counts"), tag("p", said), tag("p", *_origins(entries), class_="small")]
    if changed:
        items = [tag("li", line) for line in changed]
        parts.append(
            tag("div", tag("p", tag("b", "Not as recorded:")), tag("ul", *items), class_="refuted", role="alert")
        )
    return joined(parts)


def _origins(entries: list[StatementEntry]) -> list[Html | str]:
    found = {origin: sum(e.origin is origin for e in entries) for origin in Origin if origin is not Origin.NONE}
    said = "Verdicts: " + "; ".join(f"{n} {origin.value}" for origin, n in found.items() if n) + "."
    return [said, *([" ", tag("code", "fedconvex report --fresh"), " checks all."] if found[Origin.RECORDED] else [])]


def _controls(entries: list[StatementEntry]) -> Html:
    papers = list(dict.fromkeys(entry.paper for entry in entries))
    verdicts = [v.value for v in Verdict if any(e.record.verdict == v.value for e in entries)]
    verdict_options = [*((v, v) for v in verdicts), ("misprinted", "a printed line fails")]
    return tag(
        "form",
        tag("label", "find ", tag("input", type="search", id="find", placeholder="lemma, γ, inexact …")),
        _select("paper", [(p, p) for p in papers]),
        _select("verdict", verdict_options),
        tag("button", "open all", type="button", id="open-all"),
        tag("output", f"{len(entries)} statements", id="count"),
        class_="controls", role="search",
    )  # fmt: skip


def _select(name: str, choices: Sequence[tuple[str, str]]) -> Html:
    options = [tag("option", "all", value=""), *(tag("option", words, value=value) for value, words in choices)]
    return tag("label", f"{name} ", tag("select", *options, id=name))


def _list(entries: list[StatementEntry], on_page: frozenset[str]) -> list[Html]:
    buttons = [tag("button", words, type="button", data_sort=name, class_=name, aria_pressed="false")
               for name, words in COLUMNS.items()]  # fmt: skip
    heads = tag("div", *buttons, class_="heads", role="group", aria_label="Sort by")
    lines = [statement(entry, place, on_page) for place, entry in enumerate(entries)]
    return [tag("p", MEANINGS, class_="small"), heads, tag("div", *lines, id="list")]


def _looseness(entries: list[StatementEntry], on_page: frozenset[str]) -> list[Html]:
    loose = [entry for entry in entries if entry.looseness]
    if not loose:
        return [tag("p", "There is none for these statements.")]
    about = (
        "The bound divided by the exact worst case over all clients of the class and all starts; of a promised "
        "decrease the least decrease divided by the promise. 1 is a bound that is attained. Of two numbers the first "
        "is proved, the second attained. Without a bound of its own, both sides of a step are compared."
    )
    return [tag("p", about), *_theorem4(on_page), table(looseness_table(loose), on_page)]


def _theorem4(on_page: frozenset[str]) -> list[Html]:
    """A plot of FedProx's guaranteed decrease over μ, published and sharper, if Theorem 4 is on the page."""
    if "fedprox.theorem4" not in on_page:
        return []
    from fedconvex.theory import fedprox

    # Theorem 4 promises something only for large μ: from twice L on, three decades
    stiffness = [2 * 10 ** (k / 16) for k in range(49)]
    numbers = {"L": 1, "L_minus": 0, "B": 1.5, "gamma": 0.1}
    curves = {
        **{f"Theorem 4, {K} devices": [fedprox.rho(mu=mu, K=K, **numbers) for mu in stiffness] for K in (10, 100)},
        "without the terms for sampling": [fedprox.rho_sharp(mu=mu, **numbers) for mu in stiffness],
    }
    series = [
        Series(label, [Point(mu, float(rho), f"{label}: ρ = {short(float(rho))} at μ = {short(mu)}")
                       for mu, rho in zip(stiffness, values, strict=True) if rho > 0], line=True)
        for label, values in curves.items()
    ]  # fmt: skip
    about = (
        "FedProx's promised decrease ρ over μ, for 10 and for 100 devices a round, and without the terms for sampling."
    )
    words = "FedProx's promised decrease ρ, where it is positive, for L = 1, L₋ = 0, B = 1.5 and γ = 0.1:"
    return [tag("p", words), plot(series, x="μ", y="ρ", about=about, log=(True, False))]


def _environment(entries: list[StatementEntry], found: Mapping[str, str]) -> Html:
    rows = [tag("tr", tag("th", label, scope="row"), tag("td", words)) for label, words in found.items()]
    if proved := sum(bool(entry.record.lines(Role.PROOF)) for entry in entries):
        rows.append(tag("tr", tag("th", "proofs", scope="row"),
                        tag("td", f"{proved}; fedconvex verify --certificates writes them as data")))  # fmt: skip
    return tag("table", tag("tbody", *rows))
