"""The proofs as an appendix for a paper, with the check beside each step. Plain LaTeX with amsmath and amssymb."""

import re
from functools import cache
from textwrap import wrap
from typing import Any

from fedconvex.proofs_checks.evidence import EvidenceLine
from fedconvex.proofs_checks.reporting.line_breaks import in_lines
from fedconvex.proofs_checks.reporting.prose import prose
from fedconvex.proofs_checks.reporting.records import Record, summary, totals
from fedconvex.symbols import GREEK

HEAD = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb,amsthm,bm,textcomp,url,verbatim}
\usepackage[margin=25mm]{geometry}
\allowdisplaybreaks
\emergencystretch=4em
\newcommand{\checkedby}[1]{\hfill\textsf{\footnotesize[#1]}}
\begin{document}
\appendix
\section{Every statement, checked by machine}
"""
CONTINUED = "\\\\\n"
COMBINING = {"\u0303": r"\tilde", "\u0304": r"\bar", "\u0305": r"\bar", "\u0302": r"\hat"}


def appendix(records: list[Record]) -> str:
    """A LaTeX document that compiles on its own; its body can be included in another."""
    sums = totals(records)
    counts = ", ".join(f"{n} {verdict}" for verdict, n in sums["statements"].items() if n)
    counted = f"{len(records)} statements: {counts}. {summary(records)}."
    return "\n".join([HEAD + plain(counted), "", *(_statement(record) for record in records), r"\end{document}", ""])


def heading(source: str, identifier: str, verdict: str) -> str:
    """Of a statement. An identifier is never cut: it may begin a line that a ragged margin leaves room for."""
    return rf"\subsection*{{\raggedright {plain(source)} (\texttt{{{plain(identifier)}}}): {verdict}}}"


def _statement(record: Record) -> str:
    lines = [heading(record.source, record.identifier, record.verdict)]
    lines += [words(record.words), displayed(record.formula)]
    lines += [f"Then {displayed(record.conclusion)}"] if record.conclusion else []
    if record.printed:
        lines += ["The paper prints, with the difference underlined:", displayed(record.printed[0])]
        lines += ["and here stands:", displayed(record.printed[1])]
    lines.append(f"As printed: {words(record.as_printed)}. Holds: {words(record.holds)}.")
    lines += [f"A counterexample to the other reading: {words(record.other_reading)}."] if record.other_reading else []
    if record.assumptions:
        lines.append("Assumes: " + "; ".join(mixed(a) for a in record.assumptions) + ".")
    if record.kernel:
        lines.append("Proved from: " + "; ".join(mixed(a) for a in record.kernel) + ".")
    if record.evidence:
        lines += [r"\begin{enumerate}", *map(_step, record.evidence), r"\end{enumerate}"]
    lines += [words(record.reason) + "."] if not record.evidence or record.witness else []
    if record.witness:
        lines += [r"{\scriptsize\begin{verbatim}", _ascii(record.witness["program"]), r"\end{verbatim}}"]
    if record.corrected:
        lines += [
            f"What holds (\\texttt{{{plain(record.corrected['identifier'])}}}): {words(record.corrected['words'])}",
            displayed(record.corrected["formula"]),
        ]
    for label, text in (("Note", record.notes), ("Guarantees nothing", record.vacuous)):
        lines += [f"{label}: {words(text)}"] if text else []
    if record.tightness:
        how = f" ({words(record.tightness['how'])})" if record.tightness["how"] else ""
        lines.append(f"Largest part of the bound that was found to be used: {record.tightness['quotient']:.4g}{how}.")
    return "\n\n".join([*lines, ""])


def _step(line: EvidenceLine) -> str:
    place = f"{plain(line.place)}; " if line.place else ""
    mark = {"proved": r"$\checkmark$", "compared": r"$\approx$", "refuted": r"$\times$"}.get(line.verdict, "?")
    because = " ".join(mixed(line.because).split()) if "$" in line.because else words(line.because)
    return (
        rf"\item {mark} \checkedby{{{place}{plain(line.engine)}}}"
        f"{displayed(line.shown)}"
        f" {because.removesuffix('.')}. {words(line.detail)}."
    )


def words(text: str) -> str:
    """English with formulas in Unicode, which become mathematics."""
    return prose(text, plain)


def displayed(formula: str) -> str:
    """A display of its own; a long formula goes on in further lines."""
    return rf"\begin{{gather*}}{CONTINUED.join(in_lines(formula))}\end{{gather*}}"


def mixed(text: str) -> str:
    """A text with formulas between dollars: the formulas stay, the rest is English with formulas in Unicode."""
    pieces = text.split("$")
    return "".join(f"${piece}$" if i % 2 else _spaced(piece) for i, piece in enumerate(pieces))


def _spaced(piece: str) -> str:
    """The words, with the spaces around them."""
    return f"{' ' * piece.startswith(' ')}{words(piece)}{' ' * piece.endswith(' ')}" if piece.strip() else piece


def plain(text: str) -> str:
    """A text in Unicode, with signs such as θ̃ and ‖, as LaTeX in ASCII."""
    return str(_encoder().unicode_to_latex(text))


def _ascii(program: str) -> str:
    """The program with its comments' signs spelled out, and long comments in further lines."""
    lines = program.translate(SPELLED_OUT).encode("ascii", "replace").decode().splitlines()
    return "\n".join(piece for line in lines for piece in _wrapped(line))


def _wrapped(line: str) -> list[str]:
    return wrap(line, PROGRAM, subsequent_indent="# ") if line.startswith("#") and len(line) > PROGRAM else [line]


@cache
def _encoder() -> Any:
    from pylatexenc.latexencode import (
        RULE_DICT,
        RULE_REGEX,
        UnicodeToLatexConversionRule,
        UnicodeToLatexEncoder,
    )

    def accented(match: re.Match[str]) -> str:
        letter, accent = match.group(1), COMBINING[match.group(2)]
        return rf"\ensuremath{{{accent}{{{plain(letter)}}}}}"

    # The first rule that fits wins: an accented letter before the letter, our signs before the library's.
    rules = [
        UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(f"(.)([{''.join(COMBINING)}])"), accented)]),
        UnicodeToLatexConversionRule(RULE_DICT, {ord(c): rf"\ensuremath{{{latex}}}" for c, latex in SYMBOLS.items()}),
        "defaults",
    ]
    return UnicodeToLatexEncoder(
        conversion_rules=rules,
        unknown_char_policy=lambda c: rf"\texttt{{U+{ord(c):04X}}}",
        replacement_latex_protection="braces-after-macro",  # "μ is" must not become "\mu is", which eats the space
    )


PROGRAM = 120  # characters of a program's line that fit on a page
SPELLED_OUT = str.maketrans({
    **{letter: name.removeprefix("var") for name, letter in GREEK.items()},
    "²": "^2", "³": "^3", "−": "-", "√": "sqrt", "½": "1/2", "≤": "<=", "≥": ">=", "→": "->", "∇": "grad ", "‖": "||",
})  # fmt: skip
SYMBOLS = {
    "‖": r"\|", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "∇": r"\nabla", "Σ": r"\sum", "√": r"\sqrt{\,}",
    "⟨": r"\langle", "⟩": r"\rangle", "∞": r"\infty", "→": r"\to", "⇒": r"\Rightarrow", "≼": r"\preceq",
    "≽": r"\succeq", "∈": r"\in", "·": r"\cdot", "−": "-", "×": r"\times", "½": r"\tfrac12", "⅓": r"\tfrac13",
    "≈": r"\approx", "≲": r"\lesssim", "ℓ": r"\ell", "⌈": r"\lceil", "⌉": r"\rceil", "⊂": r"\subset",
    "⊥": r"\perp", "∑": r"\sum", "≡": r"\equiv", "♯": r"\sharp", "⁺": "^+", "⁻": "^-", "ᵀ": r"^{\top}",
    "₋": "_-", "₊": "_+", "ᵗ": "^t", "ᵏ": "^k", "ⁿ": "^n", "ⱼ": "_j", "ₖ": "_k", "ₜ": "_t", "ₘ": "_m", "ȳ": r"\bar{y}",
    **{c: f"_{n}" for n, c in enumerate("₀₁₂₃₄₅₆₇₈₉")}, **{c: f"^{n}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}  # fmt: skip
