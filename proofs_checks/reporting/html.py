"""One page that needs no network: the table of verdicts, and every statement with its steps and formulas (MathML)."""

import platform
from functools import cache
from html import escape
from importlib.metadata import version
from typing import Any

from fedconvex.proofs_checks.reporting.cache import LIBRARIES
from fedconvex.proofs_checks.reporting.pictures import (
    bounds_against_truth,
    parts_of_bounds_used,
    published_against_sharp,
)
from fedconvex.proofs_checks.reporting.records import Record, StepRecord, totals
from fedconvex.verdicts import Verdict

STYLE = """
:root { color-scheme: light dark; --line: #8884; --proved: #1a7f37; --refuted: #c62828; --open: #9a6700; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 0 auto; padding: 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
td, th { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number { text-align: right; white-space: nowrap; }
.proved { color: var(--proved); } .refuted { color: var(--refuted); } .unknown, .assumed { color: var(--open); }
.verdict { font-weight: 600; text-transform: uppercase; font-size: .85em; }
details { border-top: 1px solid var(--line); padding: .4rem 0; } summary { cursor: pointer; }
section > p { margin: .5rem 0; } .formula, .steps td { overflow-x: auto; } .formula { margin: .6rem 0; }
.scroll { overflow-x: auto; } .small { font-size: .85em; opacity: .8; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); }
nav button { font: inherit; margin-right: .4rem; } svg { max-width: 100%; height: auto; background: white; }
"""
SCRIPT = """
for (const button of document.querySelectorAll("nav button")) button.onclick = () => {
  for (const row of document.querySelectorAll("[data-verdict]"))
    row.hidden = button.dataset.show !== "all" && row.dataset.verdict !== button.dataset.show;
};
const unfold = () => {
  const one = document.getElementById(location.hash.slice(1));
  if (one) { one.open = true; one.scrollIntoView(); }
};
addEventListener("hashchange", unfold); unfold();
"""


def page(records: list[Record]) -> str:
    """The whole page."""
    sums = totals(records)
    counts = ", ".join(f"<span class={v}>{n} {v}</span>" for v, n in sums["statements"].items() if n)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("fedconvex", *LIBRARIES))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Verdicts on federated-optimization papers</title><style>{STYLE}</style></head><body>
<h1>Does each published statement hold?</h1>
<p>{len(records)} statements: {counts}. {_summary(sums)}</p>
<nav>{"".join(f'<button data-show="{v}">{v}</button>' for v in ("all", *sums["statements"]))}</nav>
<div class=scroll><table><thead><tr><th>statement<th>kind<th>verdict<th>steps<th>bound used</thead>
<tbody>{"".join(map(_row, records))}</tbody></table></div>
<h2>How much of each bound is used</h2>
<p>What happens divided by what is promised, on the worst instance that an exact search has found. 1: attained.</p>
{parts_of_bounds_used(records)}
<h2>Bounds against truth</h2>
<p>A dot is an exact run on the worst instance found, or near it; on the line the bound is attained.</p>
{bounds_against_truth(records)}
{published_against_sharp()}
<h2>The statements</h2>
{"".join(map(_statement, records))}
<p class=small>{escape(libraries)}; Python {platform.python_version()}; {sums["seconds"]} s.</p>
<script>{SCRIPT}</script></body></html>
"""


def _summary(sums: dict[str, Any]) -> str:
    return (
        f"{sums['displayed_steps_decided']} of {sums['displayed_steps']} displayed steps are decided by machine, "
        f"{sums['printed_lines_refuted']} printed lines fail, {sums['steps']['assumed']} steps are assumed. "
        f"{sums['certificates']} steps have a certificate that a program of 150 lines checks again."
    )


def _row(record: Record) -> str:
    used = "" if record.tightness is None else f"{record.tightness['quotient']:.3g}"
    proved, total = record.count(Verdict.PROVED), len(record.steps)
    return (
        f'<tr data-verdict={record.verdict}><td><a href="#{record.identifier}">{record.identifier}</a>'
        f"<td>{record.claim}<td class={record.verdict}>{_badge(record.verdict)}"
        f"<td class=number>{proved} of {total}<td class=number>{used}"
    )


def _badge(verdict: str) -> str:
    return f'<span class="verdict {verdict}">{verdict}</span>'


def _statement(record: Record) -> str:
    parts = [f"<p>{escape(record.words)}</p><div class=formula>{math(record.formula, block=True)}</div>"]
    if record.assumptions:
        parts.append(f"<p>Assumes: {'; '.join(map(_mixed, record.assumptions))}.</p>")
    if record.verdict != Verdict.PROVED.value:
        parts.append(f"<p class={record.verdict}>{escape(record.reason)}.</p>")
    if record.witness:
        parts.append(f"<pre>{escape(record.witness['program'])}</pre>")
    if record.corrected:
        formula = math(record.corrected["formula"], block=True)
        parts.append(
            f"<p>What holds: <a href='#{record.corrected['identifier']}'>{record.corrected['identifier']}</a>. "
            f"{escape(record.corrected['words'])}</p><div class=formula>{formula}</div>"
        )
    if record.steps:
        rows = "".join(_step(number, step) for number, step in enumerate(record.steps, start=1))
        parts.append(f"<div class=scroll><table class=steps>{rows}</table></div>")
    for label, text in (("Note", record.notes), ("Promises nothing", record.vacuous), ("Also asked", record.extra)):
        parts += [f"<p>{label}: {escape(text)}</p>"] if text else []
    if record.tightness:
        how = f"; {escape(record.tightness['how'])}" if record.tightness["how"] else ""
        parts.append(f"<p>Part of the bound that is used: {record.tightness['quotient']:.6g}{how}.</p>")
    return (
        f'<details id="{record.identifier}" data-verdict={record.verdict}><summary>{escape(record.source)} '
        f"({record.identifier}) {_badge(record.verdict)}</summary><section>{''.join(parts)}</section></details>"
    )


def _step(number: int, step: StepRecord) -> str:
    certified = " · certificate" if step.certified else ""
    role = " · as printed" if step.role == "printed" else ""
    return (
        f"<tr><td class=number>{number}<td>{math(step.shown)}<br><span class=small>{escape(step.because)}</span>"
        f"<td class=small>{escape(step.place or 'left to the reader')}{role}"
        f"<td>{_badge(step.verdict)}<br><span class=small>{step.engine}: {escape(step.detail)}{certified}</span>"
    )


def _mixed(text: str) -> str:
    pieces = text.split("$")
    return "".join(math(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces))


@cache
def math(latex: str, block: bool = False) -> str:
    """LaTeX as MathML; as it is where that does not succeed."""
    from latex2mathml.converter import convert

    try:
        return str(convert(latex, display="block" if block else "inline"))
    except Exception:  # whatever a converter raises, the reader gets the formula
        return f"<code>{escape(latex)}</code>"
