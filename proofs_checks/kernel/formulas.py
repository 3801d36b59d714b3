"""Formulas of settings and proofs as trees: which terms they have, the roots in them, and terms one round later."""

from collections.abc import Iterable
from typing import Any

from fedconvex.claims.terms import Number, later, parts
from fedconvex.proofs_checks.kernel.scalars import Refused, require

OF_PARAMETERS = frozenset(("constant", "parameter", "named", "+", "-", "*", "/", "^", "neg", "root", "max", "exp"))


def is_of_parameters(term: Any) -> bool:
    """Whether the term has parameters and numbers alone."""
    return OF_PARAMETERS.issuperset(part.head for part in parts(term))


def roots(terms: Iterable[Any]) -> set[Any]:
    """The parameters, and the primes, under roots in these terms."""
    found: set[Any] = set()
    for term in terms:
        for part in parts(term):
            if type(part) is Number and part.head == "root" and not _is_sum(part):
                for inside in parts(part):
                    if inside.head == "parameter":
                        found.add(inside.args[0])
                    elif inside.head == "constant":
                        found |= _primes(inside.args[0].numerator) | _primes(inside.args[0].denominator)
    return found


def other_roots(terms: Iterable[Any]) -> set[Number]:
    """The roots of sums of parameters in these terms."""
    return {p for term in terms for p in parts(term) if type(p) is Number and p.head == "root" and _is_sum(p)}


def _is_sum(of: Number) -> bool:
    inside = list(parts(of))
    return all(type(p) is Number for p in inside) and any(p.head in ("+", "-", "neg", "max") for p in inside)


def _primes(n: int) -> set[int]:
    require(abs(n) < 1 << 20, f"the root of {n}")
    found, rest, p = set(), abs(n), 2
    while rest > 1:
        p = p if p * p <= rest else rest  # what is left is a prime
        if rest % p:
            p += 1
        else:
            found.add(p)
            rest //= p
    return found


def has_parameter(term: Any, name: str) -> bool:
    """Whether the parameter occurs in the term."""
    return any(part.head == "parameter" and part.args == (name,) for part in parts(term))


def after_round(term: Any) -> Any:
    """The term one round later. Raises Refused where it is about the round itself."""
    try:
        return later(term)
    except ValueError as error:
        raise Refused(str(error)) from None
