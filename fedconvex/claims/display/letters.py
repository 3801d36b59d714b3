r"""Terms and claims as LaTeX in a paper's letters, and as one line of plain text.

What is displayed is the tree that runs and that proofs are about, in the order in which it was written; terms with a
symbol of the paper are shown by it, and `where` says what each symbol means.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from fedconvex.claims.display.plain_text import GREEK, from_latex
from fedconvex.claims.display.typesetting import (
    ATOM,
    POWER,
    PRODUCT,
    Shown,
    Typesetting,
    brackets,
    is_sum_over,
    is_tall,
    script,
)
from fedconvex.claims.terms import Number, Term, Vector, free, gradient, inner, square
from fedconvex.statements.letters import Letters

if TYPE_CHECKING:
    from fedconvex.claims.claim import Claim

RELATIONS = {"<=": r"\le", ">=": r"\ge", "=": "=", "<": "<", ">": ">"}
OF_CLIENTS = ("memory", "last answers", "answers", "solutions", "residuals", "local gradients", "local step",
              "before last step", "gradient", "family")  # fmt: skip
SHARED = ("mean", "drawn")


@dataclass(frozen=True)
class Display(Typesetting):
    """A paper's way to write terms.

    Attributes:
        letters: the paper's words for vectors and functions.
        symbols: the LaTeX of parameters, by name.
        times: how the moments before and after the round are written.
        total: how the number of rounds is written.
        each: whether it is about each client alone, so that means over the clients are not written.
    """

    letters: Letters = field(default_factory=Letters)
    symbols: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    times: tuple[str, str] = ("t", "t+1")
    total: str = "T"
    each: bool = False

    @classmethod
    def of(cls, letters: Letters, symbols: Mapping[str, str]) -> "Display":
        """The display in these letters, of what is about one round."""
        return cls(letters=letters, symbols=symbols, times=(letters.before, letters.after))

    @classmethod
    def standard(cls, parameters: Iterable[str]) -> "Display":
        """The display in standard notation, with parameters by their names."""
        return cls.of(Letters(), {name: symbol_of(name) for name in parameters})

    def about(self, claim: "Claim") -> "Display":
        """The display of this claim's sides: in one about a run, time 0 is its start."""
        if not claim.rounds:
            return replace(self, each=claim.of_client)
        start = self.letters.start
        return replace(self, each=claim.of_client, times=(start, str(int(start) + 1)), total=self.symbols[claim.rounds])

    @property
    def in_a_round(self) -> "Display":
        """The display of what is about the rounds of a run, one after another."""
        return replace(self, times=(self.letters.before, self.letters.after))

    # terms and claims

    def latex(self, term: Any) -> str:
        """A term, or a claim, as LaTeX."""
        if is_claim(term):
            at = self.about(term)
            claimed = f"{at.show(term.left).text} {RELATIONS[term.relation]} {at.show(term.right).text}"
            return claimed + (rf"\quad\text{{for every }} {self.letters.client}" if term.of_client else "")
        return self.show(term).text

    def text(self, term: Any) -> str:
        """A term, or a claim, as one line of plain text."""
        return from_latex(replace(self, slashes=True).latex(term))

    def where(self, *terms: Any) -> list[tuple[str, str]]:
        """The symbols that occur, each with what it means, as LaTeX; each comes before those that its meaning needs."""
        found: dict[str, str] = {}
        for term in reversed(terms):
            for side in (term.right, term.left) if is_claim(term) else (term,):
                at = self.about(term) if is_claim(term) else self
                at._define(side, found)
        return list(reversed(found.items()))

    def _define(self, part: Term, found: dict[str, str]) -> None:
        at = self.in_a_round if part.head in ("sum of rounds", "mean of rounds", "after") else self
        for inside in reversed(part.args):
            if type(inside) in (Vector, Number):
                at._define(inside, found)
        if part.head == "mean of rounds" and (symbol := self._symbol_of_weight(part.args[0])):
            found.setdefault(symbol, self._weight_of_rounds(part.args[0]))
        if part.head == "named":
            symbol, meaning = self._definition(part)
            atom = part.args[1].head in ("memory", "shared")  # named so by the paper, which is no definition
            if not atom and symbol not in ("0", meaning) and symbol.replace(" ", "") != meaning.replace(" ", ""):
                found.setdefault(symbol, meaning)

    def _definition(self, term: Term) -> tuple[str, str]:
        """A symbol and its meaning, in a round at the time t where the symbol has one time."""
        symbol, inside = term.args
        at = self
        if self.times == self.in_a_round.times and len(set(_times(inside))) == 1:
            at = replace(self, times=("t", "t"))
        return at._named(symbol, inside), at.show(inside).text

    # what is no arithmetic

    def _power(self, base: Term, exponent: Term) -> Shown:
        """The square of a length without its root."""
        if base.head == "norm" and exponent.head == "constant" and exponent.args[0] == 2:
            return self.leaf(inner(base.args[0], base.args[0]))
        return super()._power(base, exponent)

    def leaf(self, term: Term) -> Shown:
        """Parameters, vectors, lengths, values, averages, and what has a symbol."""
        letters = self.letters
        match term.head, term.args:
            case "parameter", (name,):
                symbol = self.symbols[name]
                return Shown(symbol, PRODUCT if is_sum_over(symbol) else ATOM)
            case "named", (symbol, inside):
                return Shown(self._named(symbol, inside))
            case "server", (time,):
                return self._at(letters.server, time)
            case "shared", (name, time):
                return self._at(letters.shared.get(name, f"{name}^@"), time)
            case "memory", (name, time):
                return self._at(letters.memory.get(name, f"{name}_{letters.client}^@"), time)
            case "last answers", (time,):
                return self._at(letters.last_answers, time)
            case ("answers" | "solutions" | "residuals") as which, _:
                return self._at(getattr(letters, which), 1)
            case "local gradients", _:
                return Shown(letters.local_gradients, PRODUCT)
            case "before last step", _:
                return Shown(letters.before_last_step)
            case "local step", (at,):
                step = letters.local_step.replace("@", self.times[0])
                return Shown(rf"{step}({self.show(at).text})")
            case "minimiser", _:
                return Shown(letters.minimiser)
            case "free", (name,):
                return Shown(name)
            case "family", (name,):
                return Shown(f"{name}_{letters.client}")
            case "proximal", (weight, at):
                half = self.show(weight / 2 * square(free("x") - at)).text
                objective = self.show(Number("value", (free("x"),))).text
                return Shown(rf"\arg\min_x\left\{{{objective} + {half}\right\}}")
            case "gradient", (at,):
                return self._of(rf"\nabla {letters.function}", at)
            case "objective gradient", (at,):
                return self._shared_function(r"\nabla ", at)
            case "mean", (inside,):
                return self._mean(inside)
            case "next round", (inside,):
                return replace(self, times=(self.times[1], _one_later(self.times[1]))).show(inside)
            case "drawn", (inside,):
                return self._averaged(letters.drawn, self.show(inside))
            case "inner", (u, v) if u == v:
                return self._average(u, self._length(u, squared=True))
            case "inner", (u, v):
                product = Shown(rf"\langle {self.show(u).text}, {self.show(v).text}\rangle")
                return self._average(u + v, product)
            case "norm", (u,) if self.each or shared_by_all(u):
                return self._length(u)
            case "norm", (u,):
                return Shown(rf"\sqrt{{{self._average(u, self._length(u, squared=True)).text}}}", POWER)
            case "value", (at,) if shared_by_all(at) and not self.each:
                return self._shared_function("", at)
            case "value", (at,):
                return self._average(gradient(at), self._of(letters.function, at))
            case "infimum", _:
                return Shown(f"{letters.objective}_*" if letters.minimiser.endswith("_*") else f"{letters.objective}^*")
            case "expected", (inside,):
                return self._expected(inside)
            case "sum of rounds", (ratio, inside):
                return self._over_rounds(ratio, inside)
            case "mean of rounds", (ratio, inside):
                return self._mean_of_rounds(ratio, inside)
            case "after", (inside,):
                start = int(self.letters.start)
                last = f"{self.total}+{start}" if start else self.total
                return replace(self, times=(last, f"{self.total}+{start + 1}"))._expected(inside)
        raise AssertionError(term.head)

    def _at(self, template: str, time: int) -> Shown:
        moment = self.times[time]
        return Shown(template.replace("(@)", f"({moment})").replace("@", script(moment)))

    def _named(self, symbol: str, inside: Term) -> str:
        """The symbol, which was written for the time before or after a round, at the present times."""
        before, after = self.letters.before, self.letters.after
        moments = set(_times(inside))
        if not moments:
            return symbol
        new = {before: self.times[0], after: self.times[1]}
        if moments == {1} and _is_at(symbol, before):  # made by `later` of a symbol for the time before
            new[before] = self.times[1]
        new |= {f"({old})": f"({now})" for old, now in new.items()}  # as in x^{(t)}
        scripts = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\w))")
        return scripts.sub(lambda m: m[1] + script(new.get(m[2] or m[3], m[2] or m[3])), symbol)

    def _of(self, function: str, at: Vector) -> Shown:
        return Shown(function + brackets(self.show(at).text))

    def _shared_function(self, operator: str, at: Vector) -> Shown:
        """The mean of the clients' functions at a point of all, or of their gradients."""
        shown = self._of(operator + self.letters.objective, at)
        return Shown(f"{self.letters.share} {shown.text}", PRODUCT) if self.letters.share else shown

    def _length(self, u: Vector, squared: bool = False) -> Shown:
        text = self.show(u).text
        length = rf"\left\|{text}\right\|" if is_tall(text) else rf"\|{text}\|"
        return Shown(length + ("^2" if squared else ""), POWER if squared else ATOM)

    def _mean(self, inside: Vector) -> Shown:
        if inside.head == "gradient" and shared_by_all(inside.args[0]):
            return self._shared_function(r"\nabla ", inside.args[0])
        return self._average(inside, self.show(inside))

    def _average(self, over: Vector, shown: Shown) -> Shown:
        return shown if self.each or shared_by_all(over) else self._averaged(self.letters.mean, shown)

    def _averaged(self, sign: str, shown: Shown) -> Shown:
        """Under a sign such as E or Σ: sums in brackets."""
        text = shown.text if shown.level > 0 else square_brackets(shown.text)
        return Shown(f"{sign} {text}", PRODUCT if r"\sum" in sign else POWER)

    def _expected(self, inside: Term) -> Shown:
        sign = self.letters.expectation
        if inside.head == "expected":  # of what is an expectation already
            return self._expected(inside.args[0])
        if inside.head == "inner" and inside.args[0] == inside.args[1]:
            return self._average(inside.args[0], Shown(sign + self._length(inside.args[0], squared=True).text, POWER))
        shown = self.show(inside)
        if not sign:  # nothing is drawn in the paper
            return shown
        if inside.head == "value" and shown.level == ATOM and len(sign) == 1:
            return Shown(f"{sign} {shown.text}")
        return Shown(sign + square_brackets(shown.text))

    def _over_rounds(self, ratio: Number, inside: Term) -> Shown:
        """Σ_t r^t E x_t; the rounds are counted from 0 in the exponent."""
        at = self.in_a_round
        weight = "" if _is_one(ratio) else self._weight(ratio) + " "
        shown = at._expected(inside) if type(inside) is Number else at.show(inside)
        text = shown.text if shown.level > 0 else brackets(shown.text)
        return Shown(f"{self._sum_of_rounds} {weight}{text}", PRODUCT)

    @property
    def _sum_of_rounds(self) -> str:
        return self.letters.rounds.replace("T", self.total)

    def _symbol_of_weight(self, ratio: Number) -> str:
        return self.letters.sums_of_powers.get(ratio.args[0], "") if ratio.head == "named" else ""

    def _weight_of_rounds(self, ratio: Number) -> str:
        return f"{self._sum_of_rounds} {self._weight(ratio)}"

    def _weight(self, ratio: Number) -> str:
        base = self.show(ratio)
        return f"{base.text if base.level == ATOM else brackets(base.text)}^{script(self.letters.before)}"

    def _mean_of_rounds(self, ratio: Number, inside: Term) -> Shown:
        total = self.total if _is_one(ratio) else self._symbol_of_weight(ratio) or self._weight_of_rounds(ratio)
        over = self._over_rounds(ratio, inside).text
        return Shown(rf"\frac{{1}}{{{total}}} {over}", PRODUCT)


def is_claim(term: Any) -> "TypeGuard[Claim]":
    """Whether it is a claim, and not one of its terms."""
    return type(term) not in (Vector, Number) and hasattr(term, "relation")


def symbol_of(name: str) -> str:
    r"""A parameter's LaTeX: that of a Greek letter for its name, as \alpha_{0} for alpha_0; else the name as it is."""
    letter, _, index = name.partition("_")
    if letter not in GREEK:
        return name
    return rf"\{letter}" + (f"_{{{index}}}" if index else "")


def shared_by_all(vector: Vector) -> bool:
    """Whether it is one vector, not one for each client."""
    if vector.head in SHARED:
        return True
    return vector.head not in OF_CLIENTS and all(shared_by_all(x) for x in vector.args if type(x) is Vector)


def square_brackets(text: str) -> str:
    """The formula in square brackets, as high as it is."""
    return rf"\left[{text}\right]" if is_tall(text) else f"[{text}]"


def _times(term: Term) -> Iterator[int]:
    """The times of the vectors in a term: 1 for what is about the round itself."""
    if term.head in ("answers", "solutions", "residuals", "local gradients", "drawn"):
        yield 1
    for x in term.args:
        if type(x) is int:
            yield x
        elif type(x) in (Vector, Number):
            yield from _times(x)


def _one_later(moment: str) -> str:
    """The moment one round later: t+2 after t+1, ++ after +."""
    found = re.fullmatch(r"(.*?)(\d+)", moment)
    return f"{found[1]}{int(found[2]) + 1}" if found else f"{moment}+"


def _is_at(symbol: str, time: str) -> bool:
    return any(f"{mark}{script(time)}" in symbol or f"{mark}{{{time}}}" in symbol for mark in "^_")


def _is_one(term: Number) -> bool:
    return term.head == "constant" and term.args[0] == 1
