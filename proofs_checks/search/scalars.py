"""Exact functions of the parameters: their values, and written back as terms of the claim language."""

from collections.abc import Mapping
from typing import Any

from flint import fmpz_mpoly

from fedconvex.claims.terms import Number, number, parameter
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar


def quotient(a: Scalar, b: Scalar) -> Scalar:
    """a/b for a b that is not identically 0; whether it may vanish somewhere, the kernel will ask."""
    return a.field.made(a.above * b.below, a.below * b.above)


def float_at(of: Any, values: Mapping[str, float]) -> float:
    """The value of a rational function, or of a constant, at values of the field's symbols."""
    if not isinstance(of, Scalar):
        return float(of)
    return _float_at(of.above, of.field, values) / _float_at(of.below, of.field, values)


def _float_at(of: fmpz_mpoly, field: Field, values: Mapping[str, float]) -> float:
    points = [values.get(name, 0.0) for name in field.signs]
    total = 0.0
    for powers, c in of.to_dict().items():
        term = float(int(c))
        for x, n in zip(points, powers, strict=False):
            if n:
                term *= x ** int(n)
        total += term
    return total


def at_symbol(of: Scalar, name: str, value: int) -> Scalar:
    """The function with one symbol replaced by an integer."""
    return of.field.made(_replaced(of.above, of.field, name, value), _replaced(of.below, of.field, name, value))


def _replaced(of: fmpz_mpoly, field: Field, name: str, value: int) -> fmpz_mpoly:
    place = list(field.signs).index(name)
    terms: dict[tuple[int, ...], int] = {}
    for powers, c in of.to_dict().items():
        new = tuple(0 if j == place else int(n) for j, n in enumerate(powers))
        terms[new] = terms.get(new, 0) + int(c) * value ** int(powers[place])
    return field.context.from_dict({m: c for m, c in terms.items() if c})


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
