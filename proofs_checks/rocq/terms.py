"""Terms of claims as text of Rocq: vectors with the operations of `FedConvex/Spaces.v`, numbers as real numbers."""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from fractions import Fraction
from itertools import accumulate
from typing import Any

from fedconvex.claims.terms import Number, Vector, number, parameter, parts
from fedconvex.proofs_checks.kernel.scalars import Scalar

# Names with a meaning in the library or in Rocq, which no variable of a theorem may take.
_LIBRARY = (
    "C V W F f d n sg fixed common random mean norm inner value gradient shared zero add sub scale sum average "
    "families space function together vector element weight sqrt exp pow R S O E Rmax Rmin INR "
    "EF o j past rounds now next always after weights total along length fst snd "
    "objective everywhere similar single gap_at_most"
)
_ROCQ = (
    "fun forall exists let in if then else match with end at as by Type Prop Set return fix cofix where using max min"
)
RESERVED = frozenset(f"{_LIBRARY} {_ROCQ}".split())


class Missing(Exception):
    """The export cannot yet write this statement: what it lacks."""


def name_in_rocq(name: str) -> str:
    """An identifier of Rocq for a name of a claim; the paper's letters stay as they are wherever they can."""
    plain = re.sub(r"[^A-Za-z0-9_']", "_", name)
    plain = plain if plain and plain[0].isalpha() else f"x{plain}"
    return f"{plain}_" if plain in RESERVED else plain


def constant(value: Fraction) -> str:
    """A rational number."""
    above = str(value.numerator) if value.numerator >= 0 else f"(- {-value.numerator})"
    return above if value.denominator == 1 else f"({above} / {value.denominator})"


def proved(statement: str, lines: Iterable[str]) -> str:
    """The statement with its proof."""
    return "\n".join([statement, "Proof.", *(f"  {line}" for line in lines), "Qed."])


class Writer:
    """Writes terms. `of_vector` is the text of each variable, `of_parameter` that of each parameter.

    `counts` are natural numbers that parameters are, for exponents.
    """

    def __init__(
        self,
        of_vector: Mapping[str, str],
        of_parameter: Mapping[str, str],
        draws: str = "everyone",
        root: Callable[[Number], str] | None = None,
        function: str = "F",
        counts: Mapping[str, str] | None = None,
    ):
        self.of_vector, self.of_parameter, self.draws, self.root = of_vector, of_parameter, draws, root
        self.function, self.counts = function, {} if counts is None else counts
        self.in_outcome = False  # lengths are those in the outcome o of the draw

    def vector(self, u: Vector) -> str:
        """The text of a vector made of variables, gradients, means, sums and multiples."""
        match u.head, u.args:
            case "variable", (name,):
                return self.of_vector[name]
            case "gradient", (at,):
                return f"gradient {self.function} {self.operand(at)}"
            case "objective gradient", (at,):
                return f"gradient (everywhere f) {self.operand(at)}"
            case "mean", (v,):
                return f"{'mean' if self.draws == 'everyone' else 'mean_of_all'} {self.operand(v)}"
            case "drawn", (v,):
                return f"mean_of_{'drawn' if self.draws == 'uniform' else 'picks'} d {self.operand(v)}"
            case "expected", (v,):
                return f"expectation {self.operand(v)}"
            case "selected", (v,):
                return f"selected d {self.operand(v)}"
            case ("+" | "-") as sign, (v, w):
                return f"{self._summand(v, False)} {sign} {self._summand(w, True)}"
            case "*", (c, v):
                return f"{self.factor(c)} * {self._factor_of(v)}"
            case "/", (v, c):
                return f"(1 / {self.factor(c)}) * {self._factor_of(v)}"
        raise Missing(f"the vector {u.head}")

    def operand(self, u: Vector) -> str:
        """The vector as an argument of a function."""
        return _closed(self.vector(u))

    def _summand(self, u: Vector, last: bool) -> str:
        text = self.vector(u)
        return f"({text})" if last and u.head in ("+", "-") else text

    def _factor_of(self, u: Vector) -> str:
        return f"({self.vector(u)})" if u.head in ("+", "-", "*", "/") else self.vector(u)

    def number(self, x: Number) -> str:
        """The text of a number."""
        match x.head, x.args:
            case "constant", (c,):
                return constant(c)
            case (("parameter" | "variable"), (name,)):
                return self.of_parameter[name]
            case "named", (_, y):
                return self.number(y)
            case "neg", (y,):
                return f"- {self.factor(y)}"
            case ("+" | "-") as sign, (y, z):
                return f"{self.number(y)} {sign} {self._right(z)}"
            case ("*" | "/") as sign, (y, z):
                return f"{self._left_factor(y)} {sign} {self.factor(z)}"
            case "^", (y, Number("constant", (n,))) if n.denominator == 1:
                power = f"{self.factor(y)} ^ {abs(n)}"
                return power if n >= 0 else f"/ ({power})"
            case "^", (y, Number("parameter", (n,))) if n in self.counts:
                return f"{self.factor(y)} ^ {self.counts[n]}"
            case "root", (y,):
                return self.root(x) if self.root is not None else f"sqrt {self.factor(y)}"
            case "max", (y, z):
                return f"Rmax {self.factor(y)} {self.factor(z)}"
            case "inner", (u, v):
                return f"inner {self.operand(u)} {self.operand(v)}"
            case "norm", (u,):
                return f"norm ({self.operand(u)} o)" if self.in_outcome else f"norm {self.operand(u)}"
            case "expected", (y,):
                inside = copy(self)
                inside.in_outcome = True
                return f"average W (fun o => {inside.number(y)})"
            case "value", (u,):
                return f"value {self.function} {self.operand(u)}"
        raise Missing(f"the number {x.head}")

    def factor(self, x: Number) -> str:
        """The number as a factor or an argument."""
        return _closed(self.number(x))

    def _left_factor(self, x: Number) -> str:
        return self.number(x) if _head(x) == "*" else self.factor(x)

    def _right(self, x: Number) -> str:
        return f"({self.number(x)})" if _head(x) in ("+", "-", "neg") else self.number(x)


def _head(x: Number) -> str:
    """The operation of the number that a symbol stands for."""
    return _head(x.args[1]) if x.head == "named" else x.head


def _closed(text: str) -> str:
    """The text in parentheses, where it is no name and no one pair of parentheses with what is inside."""
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    return text if re.fullmatch(r"[\w']+", text) or all(depths[:-1]) else f"({text})"


def number_of(of: Scalar) -> Number:
    """A rational function of parameters as a term. Raises Missing where it has symbols that are no parameters."""
    above, below = _polynomial(of.above, of), _polynomial(of.below, of)
    return above if of.below == of.field.one else above / below


def divided(of: Scalar) -> Number:
    """A rational function of parameters as a polynomial that is divided by one positive factor after the other.

    So no divisor has divisions in it. Raises Missing as `number_of`, and where the sign of a factor is not known.
    """
    field, above, below = of.field, of.above, []
    constant, factors = of.below.factor()
    for factor, power in factors:
        known = Scalar(factor, field.one, field)
        if field.is_positive(-known):
            factor, above = -factor, above * (-1) ** int(power)
        elif not field.is_positive(known):
            raise Missing("the sign of a divisor's factor")
        below += [factor] * int(power)
    found = _polynomial(above, of) / number(int(constant))
    for factor in below:
        found = found / _polynomial(factor, of)
    return found


def factored(of: Scalar) -> Number:
    """A rational function of parameters as a product of factors, divided as `divided` does. Raises Missing as it."""
    constant, factors = of.above.factor()
    above = number(int(constant))
    for factor, power in factors:
        for _ in range(int(power)):
            above = above * _polynomial(factor, of)
    below = divided(Scalar(of.field.one, of.below, of.field))
    return above * below


def has_nested_divisions(of: Number) -> bool:
    """Whether it divides by something that has divisions in it."""
    inside = (p.args[1] for p in parts(of) if p.head == "/" and type(p.args[1]) is Number)
    return any(p.head == "/" for below in inside for p in parts(below))


def _polynomial(of: Any, scalar: Scalar) -> Number:
    terms = [
        _monomial(int(c), zip(scalar.field.signs, map(int, powers), strict=False)) for powers, c in of.to_dict().items()
    ]
    found = terms[0] if terms else number(0)
    for term in terms[1:]:
        found = found + term
    return found


def symbol_of(name: str) -> Number:
    """The term of a symbol of the kernel's field: an integer, a parameter, or one of the kernel's own."""
    if name.isdigit():
        return number(int(name))
    own = name.startswith(("√", "[")) or name.endswith("′")
    return Number("variable", (name,)) if own else parameter(name)


def _monomial(c: int, factors: Iterable[tuple[str, int]]) -> Number:
    found: Number | None = None if c == 1 else number(c)
    for name, power in factors:
        if not power:
            continue
        if name.startswith("√["):  # the root of a formula, which `squares` of the field has
            one = Number("root", (symbol_of(name),))
        elif name.startswith("√"):
            one = Number("root", (symbol_of(name[1:]),))
        elif name.removesuffix("′").isidentifier():  # ′ is the kernel's mark of a second slack
            one = symbol_of(name)
        else:
            raise Missing(f"the number {name} in a formula")
        factor = one if power == 1 else one**power
        found = factor if found is None else found * factor
    return number(1) if found is None else found
