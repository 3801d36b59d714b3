"""Rational functions of a setting's parameters, exactly, and their signs wherever the setting's conditions hold.

A parameter under a root, such as κ in √κ, is the square of a symbol, and √2 is a symbol whose square is 2. The root of
any other formula is a symbol, too, whose square is replaced by the formula wherever it occurs.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, permutations
from itertools import product as choices
from math import comb
from typing import Any, final

from flint import fmpz, fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.arithmetic.rationals import ExactNumber

MOST_ORDERS = 720  # of conditions, that are tried to show a sign
LARGEST = 40  # an exponent in a formula; a hostile proof could ask for a million
MOST_TERMS = 5_000  # of a polynomial
MOST_BITS = 100_000  # of a coefficient
MOST_PARAMETERS = MOST_CONDITIONS = MOST_ROOTS = 20
Pairs = tuple[tuple[str, str], ...]


class Refused(Exception):
    """A proof is not accepted: the line, and why."""


def require(condition: object, problem: str) -> None:
    """Raises Refused."""
    if not condition:
        raise Refused(problem)


@final
@dataclass(frozen=True, eq=False)
class Scalar(ExactNumber):
    """A rational function: numerator and denominator without common factors."""

    above: fmpz_mpoly
    below: fmpz_mpoly
    field: "Field"

    def __add__(self, other: Any) -> "Scalar":
        if type(other) is int and other == 0:  # with which sums begin
            return self
        other = self.field.scalar(other)
        if self.below == other.below:
            return self.field.made(self.above + other.above, self.below)
        above = product(self.above, other.below) + product(other.above, self.below)
        return self.field.made(above, product(self.below, other.below))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Scalar | int | Fraction):
            return NotImplemented  # a vector multiplies itself
        other = self.field.scalar(other)
        return self.field.made(product(self.above, other.above), product(self.below, other.below))

    def __truediv__(self, other: Any) -> "Scalar":
        other = self.field.scalar(other)
        # A formula with a pole in the domain says nothing there, and the identity of a proof need not hold.
        require(self.field.is_nonzero(other), f"{other} may be 0, and is divided by")
        return self.field.made(product(self.above, other.below), product(self.below, other.above))

    def __sub__(self, other: Any) -> "Scalar":
        return self + -self.field.scalar(other)

    def __rsub__(self, other: Any) -> "Scalar":
        return self.field.scalar(other) - self

    def __rtruediv__(self, other: Any) -> "Scalar":
        return self.field.scalar(other) / self

    def __neg__(self) -> "Scalar":
        return Scalar(-self.above, self.below, self.field)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> "Scalar":
        require(abs(exponent) <= LARGEST, f"the exponent {exponent} is too large")
        base = self if exponent >= 0 else 1 / self
        return self.field.made(power(base.above, abs(exponent)), power(base.below, abs(exponent)))

    @property
    def is_zero(self) -> bool:
        return not self.above

    def __bool__(self) -> bool:
        return bool(self.above)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar | int | Fraction) and (self - other).is_zero

    def __hash__(self) -> int:
        return hash((str(self.above), str(self.below)))

    # Methods compare their parameters when they are made: what does not follow from the conditions is refused.
    def __gt__(self, other: Any) -> bool:
        require(self.field.is_positive(self - other), f"{self} > {other} does not follow from the conditions")
        return True

    def __ge__(self, other: Any) -> bool:
        require(self.field.is_nonnegative(self - other), f"{self} >= {other} does not follow from the conditions")
        return True

    def __str__(self) -> str:
        text = str(self.above) if self.below == self.field.one else f"({self.above})/({self.below})"
        names = dict(enumerate(self.field.signs))
        return re.sub(r"x(\d+)", lambda found: names[int(found[1])], text)


@final
class Field:
    """The rational functions of some parameters, with what is known of the parameters' signs and relations.

    Args:
        signs: for every parameter "positive", "nonnegative" or "real".
        rooted: the parameters that occur under roots, and the primes: √2 is the root of 2.
        others: how many symbols to keep for roots of other formulas.
        exponentials: how many for values of the exponential function.
    """

    def __init__(
        self, signs: Mapping[str, str], rooted: Iterable[str | int] = (), others: int = 0, exponentials: int = 0
    ):
        self.roots = frozenset(rooted)
        require(len(self.roots) + others + exponentials <= MOST_ROOTS, "too many roots and exponentials")
        # Names with √ and ′ are those of the kernel's own symbols.
        require(all(n.isidentifier() for n in signs), "the name of a parameter is no identifier")
        require(len(signs) + len(self.roots) <= MOST_PARAMETERS, "too many parameters and roots")
        names = {f"√{n}" if n in self.roots else n: sign for n, sign in signs.items()}
        require(all(signs.get(str(n)) != "real" for n in self.roots), "a root of a number that may be negative")
        self.signs = names | {f"√{p}": "positive" for p in self.roots if isinstance(p, int)}
        self.signs |= {f"√[{i}]": "positive" for i in range(others)}
        self.chosen: dict[str, Scalar] = {}  # parameters that equal formulas in others
        self.signs |= {f"exp[{i}]": "positive" for i in range(exponentials)}
        self.exponents: dict[str, Scalar] = {}  # of the symbols for values of the exponential function
        self.squares: dict[str, Scalar] = {}  # of the symbols for roots of other formulas
        self.spare = {name: f"{name}′" for name, sign in self.signs.items() if sign == "nonnegative"}
        self.signs |= dict.fromkeys(self.spare.values(), "nonnegative")
        self.context = fmpz_mpoly_ctx.get(("x", max(1, len(self.signs))), "lex")
        self.symbols = dict(zip(self.signs, self.context.gens(), strict=False))
        self.one = self.context.constant(1)
        self.primes = [(k, int(n[1:])) for k, n in enumerate(self.signs) if n[1:].isdigit() and n[0] == "√"]
        self.known: list[tuple[Scalar, bool]] = []  # >= 0, or > 0 where True
        self.unsolved: list[tuple[Scalar, bool]] = []  # those of them that bound no symbol
        self._orders: list[Substitutions] = []
        self._cache: dict[tuple[str, str, bool], bool] = {}

    def scalar(self, value: Any) -> Scalar:
        """A number as a constant function."""
        if isinstance(value, Scalar):
            require(value.field is self, "numbers of two boards are mixed")
            return value
        require(type(value) in (int, Fraction), f"{value!r} is no exact number")
        return Scalar(self.one * value.numerator, self.one * value.denominator, self)

    def parameter(self, name: str) -> Scalar:
        """The parameter itself."""
        if name in self.chosen:
            return self.chosen[name]
        if name in self.roots:
            return self.symbol(f"√{name}") ** 2
        return self.symbol(name)

    def choose(self, name: str, of: Scalar) -> bool:
        """From here on writes the formula for the parameter that equals it. False where it may not.

        Both are the same number, so that what is known of one holds of the other.
        """
        if (
            name in self.chosen
            or name not in self.symbols
            or (of.above * of.below).degrees()[[*self.signs].index(name)]
        ):
            return False
        self.chosen[name] = of
        return True

    def symbol(self, name: str) -> Scalar:
        require(name in self.symbols, f"{name} is no parameter of the setting")
        return Scalar(self.symbols[name], self.one, self)

    def made(self, above: fmpz_mpoly, below: fmpz_mpoly) -> Scalar:
        """The reduced fraction; the denominator's leading coefficient is positive."""
        for name, square in self.squares.items():
            (above, n), (below, m) = self._without_square(above, name), self._without_square(below, name)
            above, below = above * square.below**m, below * square.below**n
        above, below = self.reduced(above), self.reduced(below)
        require(bool(below), "a division by 0")
        if below != self.one and (common := above.gcd(below)) != self.one:
            above, below = above / common, below / common
        return Scalar(-above, -below, self) if below.leading_coefficient() < 0 else Scalar(above, below, self)

    def reduced(self, polynomial: fmpz_mpoly) -> fmpz_mpoly:
        """With every (√p)² replaced by p; roots of different primes are linearly independent."""
        if not self.primes:
            return polynomial
        terms: dict[tuple[int, ...], int] = {}
        for powers, c in polynomial.to_dict().items():
            new, number = list(map(int, powers)), int(c)
            for place, prime in self.primes:
                number *= prime ** (new[place] // 2)
                new[place] %= 2
            terms[tuple(new)] = terms.get(tuple(new), 0) + number
        return self.context.from_dict({m: c for m, c in terms.items() if c})

    def _without_square(self, polynomial: fmpz_mpoly, name: str) -> tuple[fmpz_mpoly, int]:
        """With every square of the symbol replaced by its formula, times a power of the formula's denominator."""
        place, square = list(self.signs).index(name), self.squares[name]
        most = int(polynomial.degrees()[place]) // 2 if polynomial else 0
        found = self.one * 0
        for powers, c in polynomial.to_dict().items():
            twice, once = divmod(int(powers[place]), 2)
            term = self.context.from_dict({tuple(once if k == place else int(n) for k, n in enumerate(powers)): int(c)})
            found += term * square.above**twice * square.below ** (most - twice)
        return found, most

    def root(self, of: Scalar) -> Scalar:
        """√ of a number times even powers, or of symbols whose roots are in the field, all without sign changes.

        For any other number that is positive the symbol that stands for its root.
        """
        if len(of.above.to_dict()) == len(of.below.to_dict()) == 1:
            return self._root(of.above) / self._root(of.below)
        for name, square in self.squares.items():
            if square == of:
                return self.symbol(name)
        name = f"√[{len(self.squares)}]"
        require(name in self.symbols and self.is_positive(of), f"the root of {of} is not in the field")
        inside = zip(self.signs, (of.above * of.below).degrees(), strict=False)
        require(not any(power for symbol, power in inside if symbol in self.squares), "a root in a root")
        self.squares[name] = of
        return self.symbol(name)

    def exp(self, of: Scalar) -> Scalar:
        """The symbol that stands for exp(x), which is positive: all else that is known is exp(x) ≥ 1 + x."""
        for name, inside in self.exponents.items():
            if inside == of:
                return self.symbol(name)
        name = f"exp[{len(self.exponents)}]"
        made = self.symbol(name)
        self.exponents[name] = of
        self.assume(made - 1 - of, False)
        return made

    def _root(self, of: fmpz_mpoly) -> Scalar:
        terms = list(of.to_dict().items())
        require(len(terms) == 1 and 0 < int(terms[0][1]) < 1 << 20, f"√({of}) is no root of a positive monomial")
        powers, rest = terms[0][0], int(terms[0][1])
        found = self.scalar(1)
        for name, power in zip(self.signs, map(int, powers), strict=False):
            require(power % 2 == 0 and (power == 0 or self.signs[name] != "real"), f"√{name} is not in the field")
            found = found * self.symbol(name) ** (power // 2)
        divisor = 2
        while rest > 1:
            divisor = divisor if divisor * divisor <= rest else rest
            while rest % divisor == 0:
                rest //= divisor
                if rest % divisor == 0:
                    rest //= divisor
                    found = found * divisor
                else:
                    found = found * self.symbol(f"√{divisor}")
            divisor += 1
        return found

    # ---- signs

    def assume(self, difference: Scalar, strictly: bool) -> None:
        """Takes difference ≥ 0, or > 0, as known."""
        require(len(self.known) < MOST_CONDITIONS, "too many conditions")
        if strictly and (factors := self._factors(difference)):
            for name in factors:
                self.assume(self.symbol(name), True)
            return
        seen = Substitutions(self).show(difference, strictly) or any(known == difference for known, _ in self.known)
        if not seen:
            self.known.append((difference, strictly))
            if difference and not Substitutions(self, self.known[-1:]).steps:
                self.unsolved.append((difference, strictly))
            self._cache.clear()
            self._orders.clear()

    def _factors(self, of: Scalar) -> list[str]:
        """The nonnegative symbols of a product of at least two that is > 0 exactly where all of them are; or none."""
        terms = of.above.to_dict()
        if of.below != self.one or len(terms) != 1 or of.above.total_degree() < 2 or of.above.leading_coefficient() < 0:
            return []
        found = [name for name, power in zip(self.signs, *terms, strict=False) if power]
        return found if all(self.signs[name] != "real" for name in found) else []

    def is_nonnegative(self, value: Scalar) -> bool:
        """Whether the value is >= 0 at all parameters that satisfy the conditions. False where that is not shown."""
        return self._proved(value, strictly=False)

    def is_positive(self, value: Scalar) -> bool:
        """Whether the value is > 0 there."""
        return self._proved(value, strictly=True)

    def is_nonzero(self, value: Scalar) -> bool:
        """Whether the value is nowhere 0 there."""
        return self.is_positive(value) or self.is_positive(-value)

    def _proved(self, value: Scalar, strictly: bool) -> bool:
        key = (str(value.above), str(value.below), strictly)
        if key not in self._cache:
            self._cache[key] = (
                self._is_multiple(value, strictly, lambda side: is_positive(side, self.signs))
                or self._shown_by_some(value, strictly)
                or self._is_multiple(
                    value, strictly, lambda side: self._shown_by_some(Scalar(side, self.one, self), True)
                )
            )
        return self._cache[key]

    def _is_multiple(self, value: Scalar, strictly: bool, positive: Callable[[fmpz_mpoly], bool]) -> bool:
        """Whether the value is the difference of a condition that bounds no symbol, times a positive number."""
        for known, strict in self.unsolved:
            factor = self.made(product(value.above, known.below), product(value.below, known.above))
            sides = (factor.above, factor.below)
            if (strict or not strictly) and any(all(positive(side * sign) for side in sides) for sign in (1, -1)):
                return True
        return False

    def _shown_by_some(self, value: Scalar, strictly: bool) -> bool:
        """Whether the conditions, used up in some order, show the sign; the last order that showed one comes first."""
        # Conditions on one symbol come last; those on counts only where the others do not suffice.
        symbols = [sum(1 for n in (d.above * d.below).degrees() if n) for d, _ in self.known]
        several = [known for known, n in zip(self.known, symbols, strict=True) if n > 1]
        single = [known for known, n in zip(self.known, symbols, strict=True) if n == 1]
        sums = [known for known in single if "Σ" in str(known[0])]
        orders = list(islice(permutations(several), MOST_ORDERS))
        every = chain(
            ((*order, *sums) for order in orders),
            ((*order, *sums, *single) for order in orders),
            ((*sums, *single[::-1], *order) for order in orders),
        )
        made = (Substitutions(self, order) for order in islice(every, len(self._orders), None))
        for place, order in enumerate(chain(list(self._orders), made)):
            if place == len(self._orders):
                self._orders.append(order)
            if order.show(value, strictly):
                self._orders.remove(order)
                self._orders.insert(0, order)
                return True
        return False


@final
class Substitutions:
    """The conditions, in some order, used up by substitutions; the signs of polynomials in the new symbols.

    A condition that is linear in a nonnegative symbol x, with a coefficient of one sign and a rest of the other, bounds
    it: x ≥ b is used up by writing x = b + s with a slack s ≥ 0; x ≤ b by x = b/(1 + s) where x > 0, and by
    x = bs/(s + t) with s, t ≥ 0, not both 0, where x ≥ 0. The slack takes the symbol's place. Where the rest has that
    sign, too, x is 0. Other conditions are left out.
    """

    def __init__(self, field: Field, conditions: Iterable[tuple[Scalar, bool]] = ()):
        self.field, self.signs, self.spare = field, dict(field.signs), dict(field.spare)
        self.pairs: Pairs = ()  # of symbols that are not both 0
        # The symbol's place, its numerator and denominator, and the symbols' signs and pairs from here on.
        self.steps: list[tuple[int, fmpz_mpoly, fmpz_mpoly, dict[str, str], Pairs]] = []
        for difference, strictly in conditions:
            self._use(difference, strictly)

    def _use(self, difference: Scalar, strictly: bool) -> None:
        above, below = difference.above, difference.below
        for step in self.steps:
            above, below = self._put_in(above, step), self._put_in(below, step)
        if not has_sign(below, 1, self.signs):
            above, below = -above, -below
        if not has_sign(below, 1, self.signs):
            return
        numbers = {place for place, _ in self.field.primes}  # √2 keeps its value, which `reduced` counts on
        degrees = above.degrees()
        for k, (name, sign) in enumerate(self.signs.items()):
            if sign == "real" or degrees[k] != 1 or k in numbers:
                continue
            (rest, linear), x = self._by_power(above, k), self.field.symbols[name]
            pairs = tuple(pair for pair in self.pairs if name not in pair)
            if is_positive(linear, self.signs) and has_sign(rest, -1, self.signs):
                made = (-rest + linear * x, linear)
            elif is_positive(-linear, self.signs) and has_sign(rest, -1, self.signs):
                made = (self.field.one * 0, self.field.one)
            elif not is_positive(-linear, self.signs) or not has_sign(rest, 1, self.signs):
                continue
            elif sign == "positive":
                made = (rest, -linear * (1 + x))
            elif name in self.spare:
                other = self.spare.pop(name)
                made = (rest * x, -linear * (x + self.field.symbols[other]))
                pairs, name = (*pairs, (name, other)), other
            else:
                continue
            self.signs, self.pairs = self.signs | {name: "positive" if strictly else "nonnegative"}, pairs
            self.steps.append((k, *made, self.signs, self.pairs))
            return

    def show(self, value: Scalar, strictly: bool) -> bool:
        """Whether the coefficients of numerator and denominator show the sign, after some of the substitutions."""
        above, below, signs = value.above, value.below, self.field.signs
        pairs: Pairs = ()
        for step in (None, *self.steps):
            if step is not None:
                above, below, signs, pairs = self._put_in(above, step), self._put_in(below, step), *step[3:]
            for sign in (1, -1):
                is_shown = has_sign(below, sign, signs) and has_sign(above, sign, signs)
                if is_shown and (not strictly or is_positive_anyway(above * sign, signs, pairs)):
                    return True
        return False

    def _by_power(self, of: fmpz_mpoly, k: int) -> list[fmpz_mpoly]:
        """The coefficients of the powers of the k-th symbol."""
        found: list[dict[tuple[int, ...], fmpz]] = [{} for _ in range(int(of.degrees()[k]) + 1 if of else 1)]
        for powers, c in of.to_dict().items():
            found[int(powers[k])][(*powers[:k], 0, *powers[k + 1 :])] = c
        return [self.field.context.from_dict(terms) for terms in found]

    def _put_in(self, of: fmpz_mpoly, step: Any) -> fmpz_mpoly:
        """The polynomial after a substitution, times a power of its denominator, which is positive."""
        k, above, below = step[:3]
        if not of or of.degrees()[k] == 0:
            return of
        coefficients = self._by_power(of, k)
        degree = len(coefficients) - 1
        terms = (product(c, product(power(above, n), power(below, degree - n))) for n, c in enumerate(coefficients))
        return self.field.reduced(sum(terms, self.field.one * 0))


def has_sign(of: fmpz_mpoly, sign: int, signs: Mapping[str, str]) -> bool:
    """Whether sign · polynomial ≥ 0, visibly: symbols that may be negative occur in even powers only."""
    if not all(c * sign > 0 for c in of.coeffs()):  # first: the powers take longer
        return False
    real = [k for k, s in enumerate(signs.values()) if s == "real"]
    return not real or all(int(n[k]) % 2 == 0 for n in of.monoms() for k in real)


def is_positive(of: fmpz_mpoly, signs: Mapping[str, str]) -> bool:
    """Whether polynomial > 0, visibly: besides, some monomial consists of positive symbols."""
    if not has_sign(of, 1, signs):
        return False
    weak = [k for k, s in enumerate(signs.values()) if s != "positive"]
    return any(not any(n[k] for k in weak) for n in of.monoms())


def is_positive_anyway(of: fmpz_mpoly, signs: Mapping[str, str], pairs: Pairs) -> bool:
    """Whether polynomial > 0, visibly, whichever symbol of each pair is the one that is not 0."""
    ways: Iterable[tuple[str, ...]] = choices(*pairs)
    return all(is_positive(of, {**signs, **dict.fromkeys(way, "positive")}) for way in ways)


def product(a: fmpz_mpoly, b: fmpz_mpoly) -> fmpz_mpoly:
    """a · b. Raises Refused where it could fill the memory."""
    if a.is_one() or b.is_one():
        return b if a.is_one() else a
    require(len(a) * len(b) <= 50 * MOST_TERMS and bits(a) + bits(b) <= MOST_BITS, "a product with too many terms")
    return a * b


def power(of: fmpz_mpoly, n: int) -> fmpz_mpoly:
    """The power. Raises Refused where it could fill the memory."""
    small = comb(len(of) + n - 1, n) <= MOST_TERMS if of and n else True
    require(small and bits(of) * n <= MOST_BITS, "a power with too many terms")
    return of**n


def bits(of: fmpz_mpoly) -> int:
    """The length of the longest coefficient."""
    return max(map(fmpz.bit_length, of.coeffs()), default=0)
