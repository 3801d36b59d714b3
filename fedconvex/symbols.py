r"""The names and symbols of terms and papers: two small languages, in which nothing can pass for another formula.

A name is ASCII letters and digits, in parts between single underscores: `num_clients`, `alpha_0`. A symbol is LaTeX: a
letter with an accent, an index and a superscript, as in `\bar\mu`, `z_{\lambda,#}^*`, `C_@`. `@` is the place of the
time, which the display fills in; `@-1` is one round before it, `@-1/2` half a round. `#` is that of a client's index.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from fedconvex.errors import InvalidInput

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ", "xi": "ξ", "phi": "φ",
    "Gamma": "Γ",
}  # fmt: skip
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*")
_LETTER = rf"(?:[A-Za-z]|\\(?:{'|'.join(GREEK)}|ell)(?![A-Za-z]))"
_TIME = r"@(?:[+-]1(?:/2)?)?"
_INSIDE = rf"(?:(?:{_LETTER}|[0-9*,#])+|-|{_TIME}|\((?:{_LETTER}|[0-9]+|{_TIME})\))"
_SCRIPT = rf"(?:{_LETTER}|[0-9*@#]|\{{{_INSIDE}\}})"
SYMBOL = re.compile(rf"(?:\\(?:bar|tilde|hat)(?: (?=[A-Za-z])|(?=\\)))?{_LETTER}(?:_{_SCRIPT})?(?:\^{_SCRIPT})?")
_PLACE = re.compile(r"@(?:([+-]1)(/2)?)?")
_SCRIPT_WITH_PLACE = re.compile(r"([_^])(?:@|\{([^{}]*@[^{}]*)\})")
# What a paper may write for a vector, a function or a quantity: no sum, relation or text outside brackets and scripts.
_TOKEN = re.compile(
    rf"\\(?:{'|'.join(GREEK)}|ell|bar|tilde|hat|nabla|sum|frac|sqrt|langle|rangle|cdot|top|le|in)(?![A-Za-z])|\\\|"
    r"|\\mathrm\{[A-Za-z]+(?:\\_[A-Za-z]+)*\}|\\mathbb\{E\}|[A-Za-z0-9@*,;/=+ ()\[\]{}_^-]"
)
_PAIRS = {"(": ")", "[": "]", "{": "}", r"\langle": r"\rangle", r"\|": r"\|"}


class IllFormed(InvalidInput):
    """A tree that is no term: an unknown operation, the wrong number or sort of operands, no name or no symbol."""


class Moment(NamedTuple):
    """A moment of a run: so many rounds after a time such as t, or after the start, whose letter is ""."""

    letter: str
    after: int | Fraction = 0

    def __str__(self) -> str:
        if not self.letter:
            return str(self.after)
        sign = "" if not self.after else "+" if self.after > 0 else "-"
        return f"{self.letter}{sign}{abs(self.after)}" if sign else self.letter

    def plus(self, rounds: int | Fraction) -> "Moment":
        """So many rounds later."""
        return Moment(self.letter, self.after + rounds)


@lru_cache(4096)
def require_name(where: str, name: str) -> None:
    """Raises IllFormed for what is no name, and could be displayed as another one is."""
    if not NAME.fullmatch(name):
        cure = "write ASCII letters and digits, in parts between single underscores, such as num_clients or alpha_0"
        raise IllFormed(where, name, "is no name", cure)


@lru_cache(4096)
def require_symbol(where: str, symbol: str) -> None:
    """Raises IllFormed for what is no symbol."""
    if not SYMBOL.fullmatch(symbol):
        cure = (
            r"write a letter, with an accent, an index and a superscript if need be, such as \bar\mu, z_#^* or C_@, "
            "where @ is the place of the time, # that of a client's index"
        )
        raise IllFormed(where, symbol, "is no symbol", cure)


@lru_cache(4096)
def require_notation(where: str, latex: str) -> None:
    """Raises IllFormed for what is neither a symbol nor a quantity such as a length, a value, a mean or a product."""
    if SYMBOL.fullmatch(latex):
        return
    open_: list[str] = []
    at = 0
    while at < len(latex):
        found = _TOKEN.match(latex, at)
        token = "" if found is None else found[0]
        if open_ and token == _PAIRS[open_[-1]]:
            open_.pop()
        elif token in _PAIRS:
            open_.append(token)
        elif not token or token in _PAIRS.values() or (token in "+-=,;" and not open_):
            break
        at += len(token)
    else:
        if latex.strip() and not open_:
            return
    cure = "write a symbol, or lengths, values, means and products of symbols, whose brackets match"
    raise IllFormed(where, latex, f"is no notation from {latex[at:]!r} on", cure)


def names_a_time(symbol: str) -> bool:
    """Whether an index or superscript is the letter of a time, t or T, and not its place."""
    return re.search(r"[_^]\{?\(?[tT]", symbol) is not None


def at_moment(symbol: str, moment: Moment) -> str:
    """The symbol with the moment in the places for the time."""

    def text(place: re.Match[str]) -> str:
        return str(moment.plus(Fraction((place[1] or "0") + (place[2] or ""))))

    def scripted(found: re.Match[str]) -> str:
        return found[1] + script(_PLACE.sub(text, found[2] or "@"))

    return _SCRIPT_WITH_PLACE.sub(scripted, symbol)


def script(text: str) -> str:
    """A superscript or subscript, in braces where they are needed."""
    return text if len(text) == 1 else f"{{{text}}}"
