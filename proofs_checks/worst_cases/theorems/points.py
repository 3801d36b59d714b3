"""Random points in the domain of a theorem, at which it is read off."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import sympy

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Region

Point = Mapping[Any, Fraction]  # values of the parameters, by symbol
ATTEMPTS = 10_000  # random points, in search of one in the domain


def checked_relations(relations: tuple[Any, ...]) -> tuple[Any, ...]:
    """The relations that are not evident. Raises InvalidInput for others than of rational functions."""
    for r in relations:
        known = isinstance(r, sympy.Ge | sympy.Gt | sympy.Le | sympy.Lt)
        if not (known and (r.lhs - r.rhs).is_rational_function()) and r not in (True, False):
            raise InvalidInput("where", r, "is no inequality between rational functions", "give L > mu, say")
    if False in relations:
        raise InvalidInput("where", relations, "never holds", "give a larger domain")
    return tuple(dict.fromkeys(r for r in relations if r != True))  # noqa: E712 # SymPy's true


def random_points(symbols: tuple[Any, ...], relations: tuple[Any, ...], random: Random) -> Iterator[Point]:
    """Random points of the domain with simple coordinates, none of which repeats: every point adds information."""
    region = Region(symbols, relations)
    known: list[set[Fraction]] = [set() for _ in symbols]
    fruitless = 0
    while fruitless < ATTEMPTS:
        most = 8 + len(known[0]) // 2 + fruitless // 50
        values = tuple(Fraction(random.randint(1, most), random.randint(1, most)) for _ in symbols)
        fruitless += 1
        is_new = not any(x in used for x, used in zip(values, known, strict=True))
        if is_new and not region.is_far_from(values) and values in region:
            for x, used in zip(values, known, strict=True):
                used.add(x)
            fruitless = 0
            yield dict(zip(symbols, values, strict=True))
    if not known[0]:
        raise InvalidInput("where", relations, "holds for none of many random parameters", "give a larger domain")


def named(point: Point) -> dict[str, Fraction]:
    """The values by the parameters' names."""
    return {str(symbol): value for symbol, value in point.items()}


def coordinates(point: Point) -> list[Any]:
    """The values as flint's rationals."""
    return [to_fmpq(x) for x in point.values()]


def shown(point: Point) -> str:
    """The point in words."""
    return ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
