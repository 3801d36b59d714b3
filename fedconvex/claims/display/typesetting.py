r"""Arithmetic as LaTeX, in the order in which it was written: signed sums of products of fractions.

Fractions are never nested: 1/(a/b) becomes b/a, a sum that contains fractions stands behind the fraction that it would
be the numerator of, (1/T)(a/b + c), and inside a denominator, an exponent or a root fractions have a slash.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from fedconvex.claims.terms import Number, Term, Vector, number
from fedconvex.symbols import script

SUM, PRODUCT, POWER, ATOM = range(4)
LONG = 30  # characters of LaTeX
TALL = ("frac", r"\sum", r"\left")
TWO_WORDS = re.compile(r"(\\mathrm\{[^{}]*\}) (?=\\mathrm)")  # which LaTeX would set without a space between them


class Shown(NamedTuple):
    """A part of a formula and how strongly it holds together; `opens`: its last sum or mean takes in what follows."""

    text: str
    level: int = ATOM
    opens: bool = False
    of_vector: bool = False


@dataclass
class Group:
    """A fraction: the factors above its line and those below it."""

    above: list[Term] = field(default_factory=list)
    below: list[Term] = field(default_factory=list)


@dataclass(frozen=True)
class Typesetting:
    """Arithmetic as LaTeX. `slashes`: fractions as a/b, as inside denominators, and in plain text."""

    slashes: bool = False

    def leaf(self, term: Term) -> Shown:
        """What is no arithmetic: parameters, vectors and their products. Subclasses know it."""
        raise NotImplementedError

    def whole(self, term: Term) -> Shown | None:
        """Arithmetic that is written in its own way, such as a mean times the number of its terms; else None."""
        return None

    def show(self, term: Term) -> Shown:
        """The term as LaTeX."""
        shown = self.whole(term) or self._show(term)
        return shown._replace(of_vector=type(term) is Vector)

    def _show(self, term: Term) -> Shown:
        match term.head, term.args:
            case "constant", (Fraction() as c,) if c >= 0 and c.denominator == 1:
                return Shown(str(c))
            case (("+" | "-"), _):
                return self._sum(term)
            case (("*" | "/" | "neg" | "constant"), _) if _minimum(term) is None:
                return self._product(term)
            case "^", (base, exponent):
                return self._product(term) if self._distributes(term) else self._power(base, exponent)
            case "root", (x,):
                return Shown(rf"\sqrt{{{self.show(x).text}}}", POWER)
            case "exp", (x,):
                return self._function(r"\exp", [x])
            case "log", (x,):
                return self._function(r"\log", [x])
            case "ceil", (x,):
                return Shown(rf"\left\lceil {self.show(x).text}\right\rceil", POWER)
            case "max", (x, y) if y == -x:
                return Shown(bars(self.show(x).text), POWER)
            case "max", _:
                return self._function(r"\max", list(_arguments(term)))
            case "neg", (inside,):
                return self._function(r"\min", [-x if x.head != "neg" else x.args[0] for x in _arguments(inside)])
        return self.leaf(term)

    def bracketed(self, term: Term, below: int) -> str:
        """The term, in brackets where it holds together less than this level."""
        shown = self.show(term)
        return brackets(shown.text) if shown.level < below else shown.text

    def _function(self, name: str, arguments: list[Any]) -> Shown:
        return Shown(name + brackets(", ".join(self.show(x).text for x in arguments)), POWER)

    def _low(self, term: Term) -> Shown:
        """With fractions that have a slash: for places where a fraction would be nested."""
        return replace(self, slashes=True).show(term)

    def _power(self, base: Term, exponent: Term) -> Shown:
        shown = self.show(base)
        closed = shown.level == ATOM and not has_superscript(shown.text)
        text = shown.text if closed else brackets(shown.text)
        return Shown(f"{text}^{script(self._low(exponent).text)}", POWER)

    def _sum(self, term: Term) -> Shown:
        parts = []
        for sign, part in _summands(term):
            own, groups = self.factors(part)
            if not _vanishes(groups):
                parts.append((sign * own, self._groups(groups)))
        if not parts:
            return Shown("0")
        if len(parts) == 1 and parts[0][0] > 0:
            return parts[0][1]
        texts = [(s, brackets(shown.text) if shown.level == SUM else shown.text) for s, shown in parts]
        head = ("-" if texts[0][0] < 0 else "") + texts[0][1]
        return Shown("".join([head, *(f" {'-' if s < 0 else '+'} {text}" for s, text in texts[1:])]), SUM)

    def _product(self, term: Term) -> Shown:
        sign, groups = self.factors(term)
        if _vanishes(groups):
            return Shown("0")
        shown = self._groups(groups)
        if sign > 0:
            return shown
        return Shown("-" + (brackets(shown.text) if shown.level == SUM else shown.text), SUM)

    def _groups(self, groups: list[Group]) -> Shown:
        """A product of fractions."""
        if self.slashes:  # one fraction: with slashes a factor behind it could be read as below the line
            groups = [Group([x for g in groups for x in g.above], [x for g in groups for x in g.below])]
        shown = [part for group in groups for part in self._group(group)]
        return self._juxtaposed(shown)

    def _group(self, group: Group) -> list[Shown]:
        """A fraction, and the factors of its numerator that are too tall for it."""
        number_above, above = _collected(group.above)
        number_below, below = _collected(group.below)
        if not below and number_below == 1:
            kept = [] if number_above == 1 and above else [Shown(str(number_above))]
            return [*kept, *(self.show(x) for x in above)]
        shown = [self.show(x) for x in above]
        low = [part for part in shown if not self._stands_behind(part, len(shown) == 1, below)]
        first = shown.index(low[0]) if low else 0  # tall factors that are written first stay in front
        top = self._juxtaposed([*([] if number_above == 1 and low else [Shown(str(number_above))]), *low])
        inside = replace(self, slashes=True)
        bottom = inside._juxtaposed(
            [*([] if number_below == 1 and below else [Shown(str(number_below))]), *map(inside.show, below)]
        )
        tall = [part for part in shown[first:] if part not in low]
        if self.slashes:
            over = brackets(top.text) if top.level == SUM else top.text
            under = brackets(bottom.text) if bottom.level < POWER or "/" in bottom.text else bottom.text
            return [*shown[:first], Shown(f"{over}/{under}", PRODUCT, of_vector=top.of_vector), *tall]
        fraction = Shown(rf"\frac{{{top.text}}}{{{bottom.text}}}", PRODUCT, of_vector=top.of_vector)
        return [*shown[:first], fraction, *tall]

    def _stands_behind(self, factor: Shown, alone: bool, below: list[Term]) -> bool:
        """Whether a factor of a numerator stands beside the fraction: tall ones do, and (1/2α)‖x‖² is so written."""
        if self.slashes:
            return is_sum_over(factor.text)
        simple = len(below) < 2 and not any(is_lengthy(self.show(x)) for x in below)
        return is_tall(factor.text) or (alone and simple and is_lengthy(factor))

    def _juxtaposed(self, shown: list[Shown]) -> Shown:
        """Factors beside each other: those that would take in the factors behind them are in brackets."""
        shown = [part for part in shown if part.text != "1"] or shown[:1]
        if len(shown) == 1:
            return shown[0]
        text = ""
        for i, part in enumerate(shown):
            behind = shown[i + 1 :]
            needs = (
                part.level == SUM
                or (part.opens and behind and (is_sum_over(part.text) or any(x.of_vector for x in behind)))
                or (self.slashes and "/" in outside_brackets(part.text) and part.level == PRODUCT)
            )
            piece = brackets(part.text) if needs else part.text
            text += (r" \cdot " if piece[:1].isdigit() and text else " " if text else "") + piece
        text = TWO_WORDS.sub(r"\1\\, ", text)
        return Shown(text, PRODUCT, shown[-1].opens, any(part.of_vector for part in shown))

    def factors(self, term: Term) -> tuple[int, list[Group]]:
        """The sign of a product and its fractions: a new one begins with each factor that is written behind one."""
        if self.whole(term) is not None:
            return 1, [Group([term])]
        match term.head, term.args:
            case "constant", (c,):
                under: list[Term] = [] if c.denominator == 1 else [number(c.denominator)]
                return (-1 if c < 0 else 1), [Group([number(abs(c.numerator))], under)]
            case "neg", (x,) if _minimum(term) is None:
                sign, groups = self.factors(x)
                return -sign, groups
            case "*", (x, y):
                (sign, left), (other, right) = self.factors(_split(x)), self.factors(_split(y))
                beside = len(right) > 1 or not right[0].below or right[0].above == [number(1)] or y.head == "root"
                if beside and not left[-1].below:
                    joined = Group(left[-1].above + right[0].above, right[0].below)
                    return sign * other, [*left[:-1], joined, *right[1:]]
                return sign * other, left + right
            case "/", (x, y):
                (sign, left), (other, right) = self.factors(_split(x)), self.factors(_split(y))
                above: list[Term] = [f for group in right for f in group.below]
                below: list[Term] = [f for group in right for f in group.above]
                return sign * other, [*left[:-1], Group(left[-1].above + above, left[-1].below + below)]
            case "^", (base, exponent) if self._distributes(term):
                sign, groups = self.factors(base)
                power = int(exponent.args[0])
                raised = [
                    Group([_raised(f, power) for f in g.above], [_raised(f, power) for f in g.below]) for g in groups
                ]
                return sign**power, raised
        return 1, [Group([term])]

    def _distributes(self, term: Term) -> bool:
        """Whether it is a positive integer power of a product, (ab)² = a²b²."""
        base, exponent = term.args if term.head == "^" else (term, term)
        return (
            base.head in ("*", "/")
            and self.whole(base) is None
            and exponent.head == "constant"
            and exponent.args[0].denominator == 1
            and exponent.args[0] > 0
        )


def _vanishes(groups: list[Group]) -> bool:
    return number(0) in [x for group in groups for x in group.above]


def _raised(factor: Term, power: int) -> Term:
    if factor.head == "constant":
        return number(factor.args[0] ** power)
    if factor.head == "^" and factor.args[1].head == "constant":
        return Number("^", (factor.args[0], number(factor.args[1].args[0] * power)))
    return Number("^", (factor, number(power)))


def _split(term: Term) -> Term:
    """√(2/K) beside other factors is √2/√K."""
    if term.head == "root" and term.args[0].head == "/" and term.args[0].args[0].head == "constant":
        above, below = term.args[0].args
        return Number("/", (Number("root", (above,)), Number("root", (below,))))
    return term


def _summands(term: Term) -> list[tuple[int, Term]]:
    """What a sum adds and subtracts, in order; a sum that was written in brackets stays in them."""
    behind: list[tuple[int, Term]] = []
    while term.head in ("+", "-"):
        behind.append((1 if term.head == "+" else -1, term.args[1]))
        term = term.args[0]
    return [(1, term), *reversed(behind)]


def _collected(terms: list[Term]) -> tuple[int, list[Term]]:
    """The product of the numbers among the factors, and the others."""
    found, others = 1, list[Term]()
    for term in terms:
        if term.head == "constant":
            found *= int(term.args[0])
        elif others and _base(others[-1]) == _base(term):  # B·B is B²
            base, exponent = _base(term), number(_exponent(others[-1]) + _exponent(term))
            others[-1] = type(base)("^", (base, exponent))
        else:
            others.append(term)
    return found, others


def _exponent(factor: Term) -> int:
    is_power = factor.head == "^" and factor.args[1].head == "constant"
    return int(factor.args[1].args[0]) if is_power and factor.args[1].args[0].denominator == 1 else 1


def _base(factor: Term) -> Term:
    return factor if _exponent(factor) == 1 else factor.args[0]


def _minimum(term: Term) -> Term | None:
    """The maximum in −max(−x, −y), which is a minimum."""
    inside = term.args[0] if term.head == "neg" else None
    if inside is None or inside.head != "max":
        return None
    return inside if all(x.head == "neg" for x in _arguments(inside)) else None


def _arguments(term: Any) -> Iterator[Any]:
    """The arguments of nested maxima."""
    if term.head == "max" and term.args[1] != -term.args[0]:
        for x in term.args:
            yield from _arguments(x)
    else:
        yield term


def is_lengthy(shown: Shown) -> bool:
    """Whether it is a squared norm or a long sum, which stand behind a fraction rather than above its line."""
    return shown.text.endswith(r"\|^2") or (shown.level == SUM and len(shown.text) > LONG)


def is_tall(text: str) -> bool:
    """Whether the formula is higher than a line."""
    return any(sign in text for sign in TALL)


def is_sum_over(text: str) -> bool:
    """Whether a sum over something would take in the factors behind it."""
    return any(sign in outside_brackets(text) for sign in (r"\sum", r"\max_", r"\min_"))


def brackets(text: str) -> str:
    """The formula in brackets, as high as it is."""
    return rf"\left({text}\right)" if is_tall(text) else f"({text})"


def square_brackets(text: str) -> str:
    """The formula in square brackets, as high as it is."""
    return rf"\left[{text}\right]" if is_tall(text) else f"[{text}]"


def bars(text: str) -> str:
    """Its absolute value."""
    return rf"\left|{brackets(text) if '|' in text else text}\right|"


def has_superscript(text: str) -> bool:
    """Whether a superscript stands outside all brackets, so that another one would be wrong beside it."""
    return "^" in outside_brackets(text)


def outside_brackets(text: str) -> str:
    """The formula without what is inside brackets, braces and norms."""
    inner = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|\\\|(?:(?!\\\|).)*\\\|")
    while (shorter := inner.sub("", text)) != text:
        text = shorter
    return text
