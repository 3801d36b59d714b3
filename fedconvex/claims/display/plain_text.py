r"""LaTeX of formulas as one line of Unicode: `\gamma^{t-1}` as γ^{t−1}, for terminals."""

import re
from collections.abc import Iterator

from fedconvex.symbols import GREEK

SIGNS = GREEK | {
    "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ", "geq": " ≥ ", "ne": " ≠ ", "lesssim": " ≲ ", "approx": " ≈ ", "in": " ∈ ",
    "sim": " ~ ", "mid": " | ", "forall": " for all ", "cdot": "·", "times": "×", "dots": "…", "ldots": "…",
    "Rightarrow": " ⇒ ", "Leftrightarrow": " ⇔ ", "iff": " ⇔ ", "to": " → ", "nabla": "∇", "ell": "ℓ", "sum": "Σ",
    "infty": "∞", "top": "ᵀ", "langle": "⟨", "rangle": "⟩", "lceil": "⌈", "rceil": "⌉", "max": " max", "min": " min",
    "inf": " inf", "perp": "⊥",
    "arg": " arg ", "log": " log ", "exp": " exp ",
    "|": "‖", "{": "{", "}": "}", "_": "_", ",": " ", ";": " ", " ": " ", "!": "",
    "quad": "   ", "qquad": "   ", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "",
    "textstyle": "", "displaystyle": "",
}  # fmt: skip
ACCENTS = {"bar": "\u0304", "tilde": "\u0303", "hat": "\u0302"}
PLAIN = ("text", "mathrm", "mathcal", "mathbf", "operatorname")
BOARD = {"E": "E", "R": "ℝ"}
RAISED = dict(zip("0123456789+-ᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ", strict=True))
LOWERED = dict(zip("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋", strict=True))
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac")
APART = "+−=<>≤≥≠≲≈,;:|⇒⇔∈~{}⟨⟩·"  # characters beside which a fraction needs no brackets
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)


def from_latex(latex: str) -> str:
    """A formula in LaTeX as one line. A command that is not known stays as it is, so that nothing is lost."""
    latex = re.sub(r"(\\text\{[^{}]* )\}", r"\1}\\quad ", latex)  # the space that ends a word
    latex = re.sub(r"\\text\{ ", r"\\quad\\text{", latex)  # the one before it
    return _spaced(_row(iter(TOKEN.findall(latex))))


def mixed(text: str) -> str:
    """Text with formulas between dollar signs."""
    return "".join(from_latex(piece) if i % 2 else piece for i, piece in enumerate(text.split("$")))


def _row(tokens: Iterator[str], until: str = "") -> str:
    pieces: list[str] = []
    fractions: set[int] = set()
    for token in tokens:
        if token == until:
            break
        if token in FRACTIONS:
            fractions.add(len(pieces))
        if made := _one(token, tokens):
            pieces.append(made)
    # Beside another factor a fraction needs brackets: (m/P)(1/α), not m/P1/α.
    for place in fractions & set(range(len(pieces))):
        before, after = "".join(pieces[:place]).rstrip(), "".join(pieces[place + 1 :]).lstrip()
        if (before and before[-1] not in APART + "(" + "[") or (after and after[0] not in APART + ")]"):
            pieces[place] = f"({pieces[place]})"
    return "".join(pieces)


def _one(token: str, tokens: Iterator[str]) -> str:
    """The text of a token and of the arguments that it takes."""
    if token == "{":
        return _row(tokens, "}")
    if token in "^_":
        return script(token, _argument(tokens))
    if not token.startswith("\\"):
        return {"-": "−", "~": " "}.get(token, token)
    name = token[1:].strip() or " "
    if token in FRACTIONS:
        top, bottom = _argument(tokens), _argument(tokens)
        return f"{_bracketed(top)}/{_bracketed(bottom, below=True)}"
    if name == "sqrt":
        inside = _argument(tokens)
        return f"√{inside}" if len(inside) == 1 else f"√({inside})"
    if name in ACCENTS:
        inside = _argument(tokens)
        return inside[:1] + ACCENTS[name] + inside[1:]
    if name == "mathbb":
        inside = _argument(tokens)
        return BOARD.get(inside, inside)
    if name in PLAIN:
        return _argument(tokens)
    if name == "not":
        return _argument(tokens).strip() + "\u0338"
    return SIGNS.get(name, token)


def _argument(tokens: Iterator[str]) -> str:
    for token in tokens:
        if not token.isspace():
            return _one(token, tokens).strip()
    return ""


def script(sign: str, text: str) -> str:
    """A superscript (sign ^) or subscript (_), with signs of its own where Unicode has them."""
    table = RAISED if sign == "^" else LOWERED
    plain = text.replace("−", "-")
    if all(c in table for c in plain):
        return "".join(table[c] for c in plain)
    return f"{sign}{text}" if len(text) == 1 else f"{sign}{{{text}}}"


def _bracketed(part: str, below: bool = False) -> str:
    """The part of a fraction, in brackets where it would otherwise be read differently."""
    depth, loose = 0, False
    for place, c in enumerate(part):
        if depth == 0 and place > 0:
            loose |= c in "/+−≤≥" or (below and (c in " ·" or _begins_factor(part, place)))
        depth += (c in "([{⟨") - (c in ")]}⟩")
    return f"({part})" if loose else part


def _begins_factor(part: str, place: int) -> bool:
    """Whether a second factor begins here, which a/bc would leave outside the denominator."""
    before = part[place - 1]
    if part[place] in (*RAISED.values(), *LOWERED.values()):
        return False
    return (part[place].isalnum() or part[place] in "∇(‖√") and before not in "^_√∇" and not (
        before.isdigit() and part[place].isdigit()
    )  # fmt: skip


def _spaced(text: str) -> str:
    text = re.sub(r"([∇Σ√]) (?=\S)", r"\1", text)
    text = re.sub(r"(?<=[^\s(\[{,:=<>≤≥^_])\s*([=<>])\s*", r" \1 ", text)
    return re.sub(r"\s+", " ", re.sub(r"\s+([,)\]])", r"\1", re.sub(r"([(\[⌈])\s+", r"\1", text))).strip()
