"""Exact arithmetic of rational functions with rational coefficients: reduced fractions, factors, equality.

Expressions come from SymPy. FLINT computes the fractions, because SymPy's greatest common divisors are far slower.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, final

import sympy
from flint import fmpz_mpoly, fmpz_mpoly_ctx

Quotient = tuple[fmpz_mpoly, fmpz_mpoly]  # with integer coefficients, without common factors


class NotRational(ValueError):
    """The expression is no rational function with rational coefficients: a root or a maximum is left in it."""


@final
@dataclass(frozen=True)
class Fraction:
    """numerator / denominator, polynomials over the rational numbers in the same symbols, without common factors."""

    symbols: tuple[Any, ...]
    numerator: Any
    denominator: Any

    @property
    def is_zero(self) -> bool:
        return not self.numerator


def fraction(expression: Any, symbols: Iterable[Any] = ()) -> Fraction:
    """The expression as one reduced fraction. Raises NotRational."""
    return _fraction(sympy.sympify(expression), frozenset(symbols))


# The checks need the same fractions repeatedly: for a multiplier's sign, its denominator, and the certificate.
@lru_cache(maxsize=1 << 12)
def _fraction(expression: Any, symbols: frozenset[Any]) -> Fraction:
    one_meaning(expression.free_symbols | symbols)
    # FLINT needs at least one variable, also for a number.
    involved = tuple(sorted(expression.free_symbols | symbols, key=str)) or (sympy.Symbol("x"),)
    generators = dict(zip(involved, _context(len(involved)).gens(), strict=True))
    numerator, denominator = _quotient(expression, generators)
    # One normal form for equal fractions: the denominator's leading coefficient is positive.
    if denominator.leading_coefficient() < 0:
        numerator, denominator = -numerator, -denominator
    ring = sympy.QQ[involved].ring
    return Fraction(involved, _in_sympy(numerator, ring), _in_sympy(denominator, ring))


def factors(polynomial: Any) -> list[Any]:
    """The irreducible factors of a fraction's numerator or denominator, each once, without constants."""
    return [factor for factor, _ in _factor_list(polynomial)[1]]


def factored(expression: Any) -> Any:
    """The expression as a product of powers of irreducible polynomials. Raises NotRational."""
    found = fraction(expression)
    (above, over), (below, under) = _factor_list(found.numerator), _factor_list(found.denominator)
    product = sympy.Mul(*(f**n for f, n in over), *(f**-n for f, n in under))
    number = sympy.Rational(above, below)
    # SymPy would distribute a number over a single sum; the factored form is wanted.
    return sympy.Mul(number, product, evaluate=not product.is_Add or number == 1)


def _factor_list(polynomial: Any) -> tuple[int, list[tuple[Any, int]]]:
    """A whole number, and the irreducible factors with their powers."""
    ring = polynomial.ring
    given = _context(ring.ngens).from_dict({monomial: int(c) for monomial, c in polynomial.terms()})
    number, found = given.factor()
    return int(number), [(_in_sympy(factor, ring).as_expr(), int(power)) for factor, power in found]


def _in_sympy(polynomial: fmpz_mpoly, ring: Any) -> Any:
    return ring.from_dict({monomial: sympy.QQ(int(c)) for monomial, c in polynomial.to_dict().items()})


def _context(symbols: int) -> fmpz_mpoly_ctx:
    return fmpz_mpoly_ctx.get(("x", symbols), "lex")


def _quotient(expression: Any, generators: dict[Any, fmpz_mpoly]) -> Quotient:
    one = _context(len(generators)).constant(1)
    if expression in generators:
        return generators[expression], one
    if expression.is_Rational:
        return one * int(expression.p), one * int(expression.q)
    if expression.is_Add or expression.is_Mul:
        parts = (_quotient(part, generators) for part in expression.args)
        return reduce(_sum if expression.is_Add else _product, parts)
    if expression.is_Pow and expression.exp.is_Integer:
        numerator, denominator = _quotient(expression.base, generators)
        if expression.exp < 0:
            numerator, denominator = denominator, numerator
        if denominator:
            power = abs(int(expression.exp))
            return numerator**power, denominator**power
    raise NotRational(f"{expression} is no rational function")


def _sum(first: Quotient, second: Quotient) -> Quotient:
    (a, b), (c, d) = first, second
    # Only what the denominators do not share is multiplied: smaller polynomials, and so smaller gcds afterwards.
    common = b.gcd(d)
    b, d = b / common, d / common
    return _reduced(a * d + c * b, b * d * common)


def _product(first: Quotient, second: Quotient) -> Quotient:
    return _reduced(first[0] * second[0], first[1] * second[1])


def _reduced(numerator: fmpz_mpoly, denominator: fmpz_mpoly) -> Quotient:
    common = numerator.gcd(denominator)
    return numerator / common, denominator / common


def one_meaning(symbols: Iterable[Any]) -> None:
    """Raises NotRational where two different symbols have the same name.

    To SymPy, Symbol("x", positive=True) and Symbol("x") differ, to a reader and to FLINT's generators they do not.
    """
    known: dict[str, Any] = {}
    for symbol in symbols:
        if known.setdefault(str(symbol), symbol) != symbol:
            raise NotRational(f"two different symbols are called {symbol}")


def is_zero(expression: Any) -> bool:
    """Whether it vanishes identically. Raises NotRational."""
    return fraction(expression).is_zero
