"""Exact functions of the parameters: their values, and written back as terms of the claim language."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from flint import fmpz_mpoly

from fedconvex.claims.terms import Number, number, parameter
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar, require

T = TypeVar("T")


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """a/b for a b that is not identically 0; whether it may vanish somewhere, the kernel will ask."""
    return a.field.made(a.above * b.below, a.below * b.above)


def power(base: Scalar, n: int) -> Scalar:
    """baseⁿ for any integer n, of a base that is not identically 0 where n < 0. Raises ZeroDivisionError."""
    above, below = (base.above, base.below) if n >= 0 else (base.below, base.above)
    if not below:
        raise ZeroDivisionError
    return base.field.made(above ** abs(n), below ** abs(n))


def common_denominator(of: Sequence[Scalar]) -> fmpz_mpoly:
    """The least common multiple of the denominators."""
    found = of[0].below
    for x in of[1:]:
        found = found * (x.below / found.gcd(x.below))
    return found


def common_factor(of: Sequence[Scalar]) -> Scalar:
    """The largest factor: divided by it these are polynomials without a common factor."""
    found = of[0].above
    for x in of[1:]:
        found = found.gcd(x.above)
    return of[0].field.made(found, common_denominator(of))


def float_at(of: Any, values: Mapping[str, float]) -> float:
    """The value of a rational function, or of a constant, at values of the field's symbols."""
    if not isinstance(of, Scalar):
        return float(of)
    return value_at(of, [values.get(name, 0.0) for name in of.field.signs], 0.0)


def value_at(of: Scalar, point: Sequence[T], zero: T) -> T:
    """The value at numbers of any type, whose 0 is `zero`, in the places of the field's first symbols."""
    above, below = (polynomial_at(part, point, zero) for part in (of.above, of.below))
    return above / below  # type: ignore[no-any-return]


def polynomial_at(of: fmpz_mpoly, point: Sequence[Any], zero: Any) -> Any:
    """The same of a polynomial, which takes no division."""
    total = zero
    for powers, c in of.to_dict().items():
        term = zero + int(c)
        for x, n in zip(point, powers, strict=False):
            if n:
                term = term * x ** int(n)
        total = total + term
    return total


def moved(of: Scalar, field: Field) -> Scalar:
    """The same function in a field whose first symbols are those of its own."""
    require([*of.field.signs] == [*field.signs][: len(of.field.signs)], "functions of other symbols")
    return field.made(*(part.project_to_context(field.context) for part in (of.above, of.below)))


def at_symbol(of: Scalar, name: str, value: int) -> Scalar:
    """The function with one symbol replaced by an integer."""
    place = list(of.field.signs).index(name)
    return of.field.made(of.above.subs({place: value}), of.below.subs({place: value}))


def by_powers(of: fmpz_mpoly, place: int) -> dict[int, fmpz_mpoly]:
    """The coefficients of the powers of a symbol that occur."""
    found: dict[int, dict[tuple[int, ...], Any]] = {}
    for powers, c in of.to_dict().items():
        found.setdefault(int(powers[place]), {})[*powers[:place], 0, *powers[place + 1 :]] = c
    return {n: of.context().from_dict(terms) for n, terms in found.items()}


def depends_on(of: Scalar, name: str) -> bool:
    """Whether the symbol occurs."""
    place = list(of.field.signs).index(name)
    return any(int(p.degrees()[place]) > 0 for p in (of.above, of.below) if p)


def number_of(of: Any) -> Number:
    """The function as a term, in factors."""
    if not isinstance(of, Scalar):
        return number(of)
    found = _factored(of.above, of.field)
    if of.below == of.field.one:
        return found
    # One factor after the other: the kernel asks of each divisor whether it may vanish.
    content, factors = of.below.factor()
    for factor, n in factors:
        found = found / _power(_expanded(factor, of.field), int(n))
    return found if int(content) == 1 else found / int(content)


def factors(of: Scalar) -> list[tuple[Scalar, int]]:
    """The irreducible factors with their powers, but for numbers."""
    powers = [*of.above.factor()[1], *((f, -n) for f, n in of.below.factor()[1])]
    return [(Scalar(factor, of.field.one, of.field), int(n)) for factor, n in powers]


def is_nonzero(of: fmpz_mpoly, field: Field) -> bool:
    """Whether the conditions show that none of the factors vanishes."""
    return all(field.is_nonzero(Scalar(factor, field.one, field)) for factor, _ in of.factor()[1])


def _factored(of: fmpz_mpoly, field: Field) -> Number:
    if not of:
        return number(0)
    content, factors = of.factor()
    found = [_power(_expanded(factor, field), int(n)) for factor, n in factors]
    if int(content) != 1 or not found:
        found.insert(0, number(int(content)))
    product = found[0]
    for factor in found[1:]:
        product = product * factor
    return product


def _expanded(of: fmpz_mpoly, field: Field) -> Number:
    total: Number | None = None
    for powers, c in sorted(of.to_dict().items(), key=lambda term: int(term[1]) < 0):
        size = abs(int(c))
        factors = [_power(_symbol(name), int(n)) for name, n in zip(field.signs, powers, strict=False) if n]
        if size != 1 or not factors:
            factors.insert(0, number(size))
        term = factors[0]
        for factor in factors[1:]:
            term = term * factor
        if total is None:
            total = term if int(c) > 0 else -term
        else:
            total = total + term if int(c) > 0 else total - term
    assert total is not None
    return total


def _power(of: Number, n: int) -> Number:
    return of if n == 1 else of**n


def _symbol(name: str) -> Number:
    if not name.startswith("√"):
        return parameter(name)
    inside = name[1:]
    return (number(int(inside)) if inside.isdigit() else parameter(inside)).sqrt()
