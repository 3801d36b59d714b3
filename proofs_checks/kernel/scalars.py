"""Rational functions of a setting's parameters, exactly, and their signs wherever the setting's conditions hold.

A parameter under a root, such as κ in √κ, is the square of a symbol, and √2 is a symbol whose square is 2.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from math import comb
from typing import Any, final

from flint import fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.arithmetic.rationals import ExactNumber

MOST_ORDERS = 720  # of conditions, that are tried to show a sign
LARGEST = 40  # an exponent in a formula; a hostile proof could ask for a million
MOST_TERMS = 5_000  # of a polynomial
MOST_BITS = 100_000  # of a coefficient
MOST_PARAMETERS = MOST_CONDITIONS = 20


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
        other = self.field.scalar(other)
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
        return -self + other

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
        text = str(self.above) if self.below == 1 else f"({self.above})/({self.below})"
        names = dict(enumerate(self.field.signs))
        return re.sub(r"x(\d+)", lambda found: names[int(found[1])], text)


@final
class Field:
    """The rational functions of some parameters, with what is known of the parameters' signs and relations.

    Args:
        signs: for every parameter "positive", "nonnegative" or "real".
        rooted: the parameters that occur under roots, and the primes: √2 is the root of 2.
    """

    def __init__(self, signs: Mapping[str, str], rooted: Iterable[str | int] = ()):
        self.roots = frozenset(rooted)
        # Names with √ and ′ are those of the kernel's own symbols.
        require(all(n.isidentifier() for n in signs), "the name of a parameter is no identifier")
        require(len(signs) + len(self.roots) <= MOST_PARAMETERS, "too many parameters and roots")
        names = {f"√{n}" if n in self.roots else n: sign for n, sign in signs.items()}
        require(all(signs.get(n) != "real" for n in self.roots), "a root of a number that may be negative")  # type: ignore[call-overload]
        self.signs = names | {f"√{p}": "positive" for p in self.roots if isinstance(p, int)}
        self.spare = {name: f"{name}′" for name, sign in self.signs.items() if sign == "nonnegative"}
        self.signs |= dict.fromkeys(self.spare.values(), "nonnegative")
        self.context = fmpz_mpoly_ctx.get(("x", max(1, len(self.signs))), "lex")
        self.symbols = dict(zip(self.signs, self.context.gens(), strict=False))
        self.one = self.context.constant(1)
        self._primes = [(k, int(n[1:])) for k, n in enumerate(self.signs) if n[1:].isdigit() and n[0] == "√"]
        self.known: list[tuple[Scalar, bool]] = []  # >= 0, or > 0 where True
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
        if name in self.roots:
            return self.symbol(f"√{name}") ** 2
        return self.symbol(name)

    def symbol(self, name: str) -> Scalar:
        require(name in self.symbols, f"{name} is no parameter of the setting")
        return Scalar(self.symbols[name], self.one, self)

    def made(self, above: fmpz_mpoly, below: fmpz_mpoly) -> Scalar:
        """The reduced fraction; the denominator's leading coefficient is positive."""
        if self._primes:
            above, below = self._reduced(above), self._reduced(below)
        require(bool(below), "a division by 0")
        common = above.gcd(below)
        above, below = above / common, below / common
        return Scalar(-above, -below, self) if below.leading_coefficient() < 0 else Scalar(above, below, self)

    def _reduced(self, polynomial: fmpz_mpoly) -> fmpz_mpoly:
        """With every (√p)² replaced by p; roots of different primes are linearly independent."""
        terms: dict[tuple[int, ...], int] = {}
        for powers, c in polynomial.to_dict().items():
            new, number = list(map(int, powers)), int(c)
            for place, prime in self._primes:
                number *= prime ** (new[place] // 2)
                new[place] %= 2
            terms[tuple(new)] = terms.get(tuple(new), 0) + number
        return self.context.from_dict({m: c for m, c in terms.items() if c})

    def root(self, of: Scalar) -> Scalar:
        """√ of a number times even powers, or of symbols whose roots are in the field, all without sign changes."""
        return self._root(of.above) / self._root(of.below)

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
        if all(known != difference for known, _ in self.known):
            self.known.append((difference, strictly))
            self._cache.clear()
            self._orders.clear()

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
            known = Substitutions(self)
            self._cache[key] = known.show(value, strictly) or any(
                s.show(value, strictly) for s in self._substitutions()
            )
        return self._cache[key]

    def _substitutions(self) -> Iterator["Substitutions"]:
        """The conditions used up in different orders: which order shows a sign depends on the sign."""
        for place, order in enumerate(islice(permutations(self.known), MOST_ORDERS)):
            if place == len(self._orders):
                self._orders.append(Substitutions(self, order))
            yield self._orders[place]


@final
class Substitutions:
    """The conditions, in some order, used up by substitutions; the signs of polynomials in the new symbols.

    A condition that is linear in a nonnegative symbol x, with a coefficient of one sign and a rest of the other, bounds
    it: x ≥ b is used up by writing x = b + s with a slack s ≥ 0; x ≤ b by x = b/(1 + s) where x > 0, and by
    x = bs/(s + t) with s, t ≥ 0 where x ≥ 0. The slack takes the symbol's place. Other conditions are left out.
    """

    def __init__(self, field: Field, conditions: Iterable[tuple[Scalar, bool]] = ()):
        self.field, self.signs, self.spare = field, dict(field.signs), dict(field.spare)
        self.steps: list[tuple[int, fmpz_mpoly, fmpz_mpoly]] = []  # the symbol's place, its numerator and denominator
        for difference, strictly in conditions:
            self._use(difference, strictly)

    def _use(self, difference: Scalar, strictly: bool) -> None:
        above, below = self._put_in(difference.above), self._put_in(difference.below)
        if not self._has_sign(below, 1):
            above, below = -above, -below
        if not self._has_sign(below, 1):
            return
        slack = "positive" if strictly else "nonnegative"
        for k, (name, sign) in enumerate(self.signs.items()):
            if sign == "real" or above.degrees()[k] != 1:
                continue
            (rest, linear), x = self._by_power(above, k), self.field.symbols[name]
            if self._is_positive(linear) and self._has_sign(rest, -1):
                self.steps.append((k, -rest + linear * x, linear))
            elif not self._is_positive(-linear) or not self._has_sign(rest, 1):
                continue
            elif sign == "positive":
                self.steps.append((k, rest, -linear * (1 + x)))
            elif name in self.spare:
                other = self.spare.pop(name)
                self.steps.append((k, rest * x, -linear * (x + self.field.symbols[other])))
                name = other
            else:
                continue
            self.signs[name] = slack
            return

    def show(self, value: Scalar, strictly: bool) -> bool:
        """Whether the coefficients of numerator and denominator, after the substitutions, show the sign."""
        above, below = self._put_in(value.above), self._put_in(value.below)
        common = above.gcd(below) if above else below
        above, below = above / common, below / common
        for sign in (1, -1):
            if self._has_sign(below, sign) and self._has_sign(above, sign):
                return not strictly or self._is_positive(above * sign)
        return False

    def _has_sign(self, of: fmpz_mpoly, sign: int) -> bool:
        """Whether sign · polynomial ≥ 0, visibly: symbols that may be negative occur in even powers only."""
        real = [k for k, s in enumerate(self.signs.values()) if s == "real"]
        return all(int(c) * sign > 0 and all(int(n[k]) % 2 == 0 for k in real) for n, c in of.to_dict().items())

    def _is_positive(self, of: fmpz_mpoly) -> bool:
        """Whether, besides, some monomial consists of positive symbols."""
        weak = [k for k, s in enumerate(self.signs.values()) if s != "positive"]
        return self._has_sign(of, 1) and any(all(int(n[k]) == 0 for k in weak) for n in of.to_dict())

    def _by_power(self, of: fmpz_mpoly, k: int) -> list[fmpz_mpoly]:
        """The coefficients of the powers of the k-th symbol."""
        found: list[dict[tuple[int, ...], int]] = [{} for _ in range(int(of.degrees()[k]) + 1 if of else 1)]
        for powers, c in of.to_dict().items():
            found[int(powers[k])][tuple(0 if j == k else int(n) for j, n in enumerate(powers))] = int(c)
        return [self.field.context.from_dict(terms) for terms in found]

    def _put_in(self, of: fmpz_mpoly) -> fmpz_mpoly:
        """The polynomial after the substitutions, times powers of their denominators, which are positive."""
        for k, above, below in self.steps:
            coefficients = self._by_power(of, k)
            degree = len(coefficients) - 1
            of = sum(
                (product(c, product(power(above, n), power(below, degree - n))) for n, c in enumerate(coefficients)),
                self.field.one * 0,
            )
        return of


def product(a: fmpz_mpoly, b: fmpz_mpoly) -> fmpz_mpoly:
    """a · b. Raises Refused where it could fill the memory."""
    require(len(a) * len(b) <= 50 * MOST_TERMS and bits(a) + bits(b) <= MOST_BITS, "a product with too many terms")
    return a * b


def power(of: fmpz_mpoly, n: int) -> fmpz_mpoly:
    """The power. Raises Refused where it could fill the memory."""
    small = comb(len(of) + n - 1, n) <= MOST_TERMS if of and n else True
    require(small and bits(of) * n <= MOST_BITS, "a power with too many terms")
    return of**n


def bits(of: fmpz_mpoly) -> int:
    """The length of the longest coefficient."""
    return max((int(c.bit_length()) for c in of.coeffs()), default=0)
