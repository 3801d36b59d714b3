"""Documents as LaTeX, plain with amsmath and amssymb: an appendix that compiles on its own, or is part of a paper."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from textwrap import wrap
from typing import Any

from fedconvex.claims.display.plain_text import SIGNS
from fedconvex.display.documents import (
    INLINE,
    CodeBlock,
    DocumentBlock,
    FormulaBlock,
    Heading,
    ItemList,
    Paragraph,
    Verbatim,
    lead_of,
)
from fedconvex.display.line_breaks import in_lines
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
MARKS = {"proved": r"$\checkmark$", "compared": r"$\approx$", "refuted": r"$\times$"}


def document(blocks: Iterable[DocumentBlock]) -> str:
    """A LaTeX document that compiles on its own; its body can be included in another."""
    return "\n\n".join([HEAD, *map(block_as_latex, blocks), r"\end{document}", ""])


def block_as_latex(block: DocumentBlock) -> str:
    """The block as a part of a document."""
    match block:
        case Heading():
            # an identifier is never cut: it may begin a line that a ragged margin leaves room for
            return rf"\subsection*{{\raggedright {mixed(block.text)}}}"
        case FormulaBlock():
            return f"{lead_of(block) if block.lead is not None else ''}\n{displayed(block.latex)}".lstrip()
        case CodeBlock():
            return "\n".join([r"{\scriptsize\begin{verbatim}", _ascii(block.text), r"\end{verbatim}}"])
        case Paragraph():
            mark = MARKS.get(block.verdict, "?") if block.verdict else ""
            remark = rf"\checkedby{{{plain(block.remark)}}}" if block.verdict and block.remark else mixed(block.remark)
            return " ".join(filter(None, (mark, plain(lead_of(block)), mixed(block.text), remark)))
        case ItemList(numbered=True):
            made = (mixed(one) if isinstance(one, str) else "".join(map(block_as_latex, one)) for one in block.items)
            items = (rf"\item {item}" for item in made)
            return "\n".join([r"\begin{enumerate}", *items, r"\end{enumerate}"])
        case ItemList():
            return f"{lead_of(block)} {'; '.join(mixed(str(one)) for one in block.items)}."
    raise NotImplementedError(type(block).__name__)


def words(text: str) -> str:
    """English with formulas in Unicode, which become mathematics."""
    return prose(text, plain)


def displayed(formula: str) -> str:
    """A display of its own; a long formula goes on in further lines."""
    return rf"\begin{{gather*}}{CONTINUED.join(in_lines(formula))}\end{{gather*}}"


def mixed(text: str) -> str:
    """Running text: formulas between dollars stay, the rest is English with formulas in Unicode."""
    if isinstance(text, Verbatim):
        return plain(text)
    parts, end = list[str](), 0
    for found in INLINE.finditer(text):
        latex, name = found.groups()
        parts += [_spaced(text[end : found.start()]), f"${latex}$" if name is None else rf"\texttt{{{plain(name)}}}"]
        end = found.end()
    return "".join([*parts, _spaced(text[end:])])


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


# English with formulas in Unicode, as docstrings and proofs have it, as LaTeX: runs of mathematics become $…$.
# What is no word is mathematics: `for α ≥ 25L, the gap` becomes `for $\alpha\ge25L$, the gap`. What cannot be read as
# mathematics for certain is printed sign by sign, as `plain` does.

WORD = re.compile(r"[A-Za-zÀ-ÿ][A-Za-zÀ-ÿ’'-]+|\d+(?:st|nd|rd|th|['’]s)")
EITHER = re.compile(r"[aAI]|\d+|[A-Z]{2,3}|max|min")  # mathematics beside an operator, as in a > 0, else words
FUNCTIONS = {"max", "min", "log", "exp", "sf", "prox", "mean"}
OPERATORS = set("+−=<>≤≥≈≲∈·→⇒≠≪") | {">=", "<="}
NAME = re.compile(r"[A-Za-z]{2,}\w*_[a-z]{2,}|[A-Za-z]_[a-z]{3,}")  # of an argument, such as num_active or L_minus
HYPHEN = re.compile(r"(\S*[^\sA-Za-z]\S*|\b[A-Za-zα-ω])-(?=(?:inexact|smooth|strong|weighted|dissimilar))")
GLUE = "\x00"  # where a token is cut, as in γ|-inexact
ACCENTS = {"\u0303": r"\tilde", "\u0304": r"\bar", "\u0302": r"\hat"}
LETTERS = {sign.strip(): "\\" + name for name, sign in reversed(SIGNS.items()) if name.isalpha()}
LETTERS = {sign: name for sign, name in LETTERS.items() if len(sign) == 1 and not sign.isascii()} | {
    "ε": r"\epsilon", "φ": r"\phi", "ζ": r"\zeta", "ξ": r"\xi", "ν": r"\nu", "π": r"\pi", "τ": r"\tau", "−": "-",
    "‖": r"\|", "×": r"\times", "⇒": r"\Rightarrow", "≠": r"\ne", "½": r"\tfrac12", "¼": r"\tfrac14", "Σ": r"\sum",
    "∑": r"\sum", "≼": r"\preceq", "≽": r"\succeq", "⟂": r"\perp", "⊥": r"\perp", "⌈": r"\lceil", "⌉": r"\rceil",
    "∇": r"\nabla", "…": r"\dots", "≪": r"\ll", "±": r"\pm", "Γ": r"\Gamma", "ᵀ": r"^{\top}",
    "⁺": "^{+}", "₋": "_{-}", "ᵗ": "^{t}", "ȳ": r"\bar{y}",
    **{c: f"_{n}" for n, c in enumerate("₀₁₂₃₄₅₆₇₈₉")}, **{c: f"^{n}" for n, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}  # fmt: skip
READABLE = re.compile(r"[A-Za-z0-9+\-=<>()\[\]{}^_*/|,.:;'! \\&]*")


def prose(text: str, plain: Callable[[str], str]) -> str:
    """The text as LaTeX; `plain` encodes what is no mathematics."""
    tokens = HYPHEN.sub(rf"\1 {GLUE}-", text).split()
    return " ".join(_pieces(tokens, plain)).replace(f" {GLUE}", "")


def _pieces(tokens: list[str], plain: Callable[[str], str]) -> Iterator[str]:
    run: list[str] = []
    for before, token, behind in zip(["", *tokens], tokens, [*tokens[1:], ""], strict=False):
        inside = bool(run) and _depth(" ".join(run)) > 0
        if not token.startswith(("`", GLUE)) and (inside or _is_mathematics(before, token, behind)):
            run.append(token)
            if token[-1] in ".,;:" and _depth(" ".join(run)) <= 0:
                yield _formula(" ".join(run), plain)
                run = []
            continue
        if run:
            yield _formula(" ".join(run), plain)
            run = []
        name = re.fullmatch(r"`([^`]*)`(.*)", token)
        yield GLUE * token.startswith(GLUE) + (
            rf"\texttt{{{plain(name[1])}}}{plain(name[2])}" if name else plain(token.strip(GLUE))
        )
    if run:
        yield _formula(" ".join(run), plain)


def _is_mathematics(before: str, token: str, behind: str) -> bool:
    core = token.strip("(.,;:)?!\"'“”")
    if token in OPERATORS or core in OPERATORS:
        return True
    if "`" in token or "**" in token or not core or NAME.search(core):
        return False
    if EITHER.fullmatch(core):
        return before in OPERATORS or (behind in OPERATORS and token[-1] not in ".,;:")
    if WORD.fullmatch(core):
        return False
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[^}]*\}", "", core))
    if not all(word in FUNCTIONS or word.isupper() or len(word) < 4 for word in words):
        return False
    return not core.isascii() or len(core) == 1 or bool(re.search(r"[_^=+/*<>(\[]|^\d|^[A-Z]\d$", core))


def _formula(text: str, plain: Callable[[str], str]) -> str:
    """A run of mathematics between dollars, with the punctuation of the sentence outside."""
    end = re.search(r"[.,;:]*$", text)
    inside, behind = (text[: end.start()], end[0]) if end else (text, "")
    while inside.startswith("(") and _depth(inside) > 0:
        return "(" + _formula(inside[1:] + behind, plain)
    closing = ""
    while inside.endswith(")") and _depth(inside) < 0:
        inside, closing = inside[:-1], closing + ")"
    made = mathematics(inside)
    return (plain(inside) if made is None else f"${made}$") + closing + plain(behind)


def mathematics(text: str) -> str | None:
    """A formula in Unicode as LaTeX; None where it cannot be read for certain."""
    text = re.sub(r"(?<![\^_])\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}", r"\\{\1\\}", text).replace("⁻¹", "^{-1}")
    for mark, command in ACCENTS.items():
        text = re.sub(f"(.){mark}", lambda m, c=command: rf"{c}{{{m[1]}}}", text)  # type: ignore[misc]
    text = re.sub(r"√(\(([^()]*(?:\([^()]*\)[^()]*)*)\)|[^\W_](?:_\w)?)", lambda m: rf"\sqrt{{{m[2] or m[1]}}}", text)
    text = re.sub(r"([\^_])(\([^()]*\))", r"\1{\2}", text)
    text = re.sub(r"(?<=[A-Za-zα-ω])\*(?=[²³])", "_*", text)  # σ*² is the square of σ*
    text = re.sub(r"(?<=[A-Za-z0-9_α-ω])\*(?![A-Za-z0-9*(])", "^*", text).replace("_^*", "_*").replace("^^*", "^*")
    text = re.sub(r"\b(max|min|log|exp)\b", r"\\\1", text)
    text = re.sub(r"\bprox(?=[_(])|\bmean(?=[_(‖⟨∇])", r"\\mathrm{\g<0>}", text)
    text = text.replace(">=", "≥").replace("<=", "≤")
    text = "".join(f"{LETTERS[c]} " if c in LETTERS and LETTERS[c][-1].isalpha() else LETTERS.get(c, c) for c in text)
    text = re.sub(r" +", " ", re.sub(r"(\\[a-zA-Z]+) +(?![A-Za-z0-9])", r"\1", text))
    text = re.sub(r"\b([A-Z])(\d)\b", r"\1_\2", text)
    doubled = re.search(r"([\^_])(?:\w|\\\w+ ?|\*|\{[^{}]*\})\1", text.replace(" ", ""))
    wrong = text.count("{") != text.count("}") or doubled or not READABLE.fullmatch(text) or text[-1:] in "^_"
    return None if wrong else text.strip()


def _depth(text: str) -> int:
    return sum(c in "([{⟨" for c in text) - sum(c in ")]}⟩" for c in text)
