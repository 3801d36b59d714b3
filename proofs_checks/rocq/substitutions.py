"""Substitutions after which a formula's sign is seen: the kernel's own, chosen among their orders."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice, permutations
from typing import Any

from fedconvex.proofs_checks.kernel.scalars import (
    MOST_ORDERS,
    Field,
    Refused,
    Scalar,
    Substitutions,
    has_sign,
    is_positive_anyway,
)

Used = tuple[tuple[Scalar, bool], tuple[Any, ...]]  # a condition, and the substitution that it became


def substitutions(field: Field, value: Scalar, strictly: bool = False) -> tuple[list[Used], Scalar] | None:
    """Substitutions after which numerator and denominator have visible signs, and what is left; None without any.

    Strictly: some after which both are visibly positive, where there are such.
    """
    found = _substitutions(field, value, True) if strictly else None
    return _substitutions(field, value, False) if found is None else found


def is_positive(field: Field, value: Scalar) -> bool:
    """Whether the value is shown to be > 0, where the kernel gives up in an order of too many terms, too."""
    try:
        return field.is_positive(value)
    except Refused:
        return _substitutions(field, value, True) is not None


def _substitutions(field: Field, value: Scalar, positive: bool) -> tuple[list[Used], Scalar] | None:
    for order in _orders(field):
        with suppress(Refused):  # too many terms in this order
            if (found := _in_order(field, value, positive, order)) is not None:
                return found
    return None


def _in_order(field: Field, value: Scalar, positive: bool, order: tuple[Any, ...]) -> tuple[list[Used], Scalar] | None:
    made = Substitutions(field)
    used: list[Used] = []
    if (left := _left(field, made, value, positive)) is not None:
        return used, left
    for difference, strictly in order:
        before = len(made.steps)
        made._use(difference, strictly)
        if len(made.steps) > before:
            used.append(((difference, strictly), made.steps[-1]))
            if (left := _left(field, made, value, positive)) is not None:
                return used, left
    return None


def _orders(field: Field) -> Iterator[tuple[Any, ...]]:
    symbols = [sum(1 for n in (d.above * d.below).degrees() if n) for d, _ in field.known]
    several = [known for known, n in zip(field.known, symbols, strict=True) if n > 1]
    single = [known for known, n in zip(field.known, symbols, strict=True) if n == 1]
    yield from ((known,) for known in field.known)  # what needs few conditions is proved by few
    yield from islice(permutations(field.known, 2), MOST_ORDERS)
    orders = list(islice(permutations(several), MOST_ORDERS))
    yield from orders
    yield from ((*order, *single) for order in orders)
    yield from ((*single[::-1], *order) for order in orders)


def _left(field: Field, made: Substitutions, value: Scalar, positive: bool) -> Scalar | None:
    above, below = put_in(field, made, made.steps, value)
    signs, pairs = made.steps[-1][3:] if made.steps else (field.signs, ())
    for sign in (1, -1):
        if has_sign(above * sign, 1, signs) and has_sign(below * sign, 1, signs):
            if positive and not all(is_positive_anyway(p * sign, signs, pairs) for p in (above, below)):
                continue
            return _reduced(Scalar(above * sign, below * sign, field), signs)
    return None


def _reduced(left: Scalar, signs: Any) -> Scalar:
    """Without what numerator and denominator share, where the signs stay visible."""
    common = left.above.gcd(left.below)
    above, below = left.above / common, left.below / common
    for sign in (1, -1):
        if has_sign(above * sign, 1, signs) and has_sign(below * sign, 1, signs):
            return Scalar(above * sign, below * sign, left.field)
    return left


def put_in(field: Field, made: Substitutions, steps: Iterable[Any], value: Scalar) -> tuple[Any, Any]:
    """Numerator and denominator of the value after the substitutions."""
    above, below = value.above, value.below
    for step in steps:
        k, _, denominator = step[:3]
        missing = _degree(below, k) - _degree(above, k)  # each is multiplied by as many denominators as its degree
        above, below = made._put_in(above, step), made._put_in(below, step)
        above = field.reduced(above * denominator ** max(missing, 0))
        below = field.reduced(below * denominator ** max(-missing, 0))
    return above, below


def _degree(polynomial: Any, k: int) -> int:
    return int(polynomial.degrees()[k]) if polynomial else 0
