"""Exact algebra: expressions that are rational functions of their symbols, with rational coefficients."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import sympy


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


@lru_cache(maxsize=1 << 12)
def _fraction(expression: Any, symbols: frozenset[Any]) -> Fraction:
    one_meaning(expression.free_symbols | symbols)
    involved = tuple(sorted(expression.free_symbols | symbols, key=str))
    if not involved:
        involved = (sympy.Symbol("x"),)
    try:
        found = sympy.QQ.frac_field(*involved).from_sympy(expression)
    except (sympy.CoercionFailed, ValueError, TypeError, ZeroDivisionError) as error:
        raise NotRational(f"{expression} is no rational function") from error
    return Fraction(involved, found.numer, found.denom)


def one_meaning(symbols: Iterable[Any]) -> None:
    """Raises NotRational where two symbols have one name: to SymPy, Symbol("x", positive=True) is not Symbol("x")."""
    known: dict[str, Any] = {}
    for symbol in symbols:
        if known.setdefault(str(symbol), symbol) != symbol:
            raise NotRational(f"two different symbols are called {symbol}")


def is_zero(expression: Any) -> bool:
    """Whether it vanishes identically. Raises NotRational."""
    return fraction(expression).is_zero
