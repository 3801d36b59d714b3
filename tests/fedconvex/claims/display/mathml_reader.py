"""MathML read back as LaTeX: what a browser shows of a formula, by the tree that it gets."""

import re
from xml.etree import ElementTree

from reader import FUNCTIONS, GREEK, Unreadable

NAMES = {sign: name for name, sign in re.findall(r"(\w+) (\S)", GREEK)}
SIGNS = {sign: f"\\{name} " for sign, name in NAMES.items()} | {
    "‖": r"\|", "−": "-", "ϵ": r"\epsilon ", "∑": r"\sum ", "𝔼": r"\mathbb{E}"
}  # fmt: skip
ACCENTS = {"~": r"\tilde", "˜": r"\tilde", "¯": r"\bar", "‾": r"\bar", "^": r"\hat", "ˆ": r"\hat"}


def latex_of(markup: str) -> str:
    """The LaTeX of a formula in HTML; of one that is shown as code, the code."""
    return _latex(ElementTree.fromstring(markup)).strip()


def _latex(of: ElementTree.Element) -> str:
    if len(of) > 0 and all(part.tag == "mn" or part.get("mathvariant") == "normal" for part in of) and of.tag == "mrow":
        word = "".join(part.text or "" for part in of).replace("_", r"\_")
        return rf"\mathrm{{{word}}}"
    inside = [_latex(part) for part in of]
    match of.tag, inside:
        case (("math" | "mrow" | "mstyle" | "mpadded"), _):
            return "".join(inside)
        case "code", []:
            return of.text or ""
        case (("mi" | "mo" | "mn"), []):
            text = (of.text or "").strip()
            if len(text) > 1 and not text.isdigit():
                return f"\\{text} " if text in (*FUNCTIONS, "arg") else rf"\mathrm{{{text}}}"
            return f" {''.join(SIGNS.get(c, c) for c in text)} "
        case "mtext", []:
            return rf"\text{{{(of.text or '').replace(chr(160), ' ')}}}"
        case "mspace", []:
            return r"\quad" if of.get("width") == "1em" else r"\,"
        case "mfrac", [above, below]:
            return rf"\frac{{{above}}}{{{below}}}"
        case "msqrt", _:
            return rf"\sqrt{{{''.join(inside)}}}"
        case "msup", [base, above]:
            return f"{base}^{{{above}}}"
        case (("msub" | "munder"), [base, below]):
            return f"{base}_{{{below}}}"
        case (("msubsup" | "munderover"), [base, below, above]):
            return f"{base}_{{{below}}}^{{{above}}}"
        case "mover", [base, accent] if accent.strip() in ACCENTS:
            return f"{ACCENTS[accent.strip()]} {base}"
    raise Unreadable(ElementTree.tostring(of, "unicode")[:200])
