"""Copies of settings, claims and proofs that are handed in, made before anything in them is used.

A copy has exact types, checked against the annotations of its classes, and a bounded size. Whoever handed in the
original may hold it, and objects that change between two looks, without an effect on what the kernel reads.
"""

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme
from fedconvex.claims.terms import IllFormed, Number, Vector
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.scalars import Refused, require

MOST_PARTS = 100_000
MOST_BITS = 1000  # of a number that is written out
LONGEST = 1000  # characters in a text
CLASSES = (
    ClaimSetting,
    DrawScheme,
    Claim,
    proofs.Derivation,
    proofs.Cases,
    *get_args(proofs.Line),
    *get_args(proofs.Fact),
)
# What is no part of a claim, such as the setting outside of which it has no value on runs, is not read.
HINTS = {kind: {f.name: get_type_hints(kind)[f.name] for f in fields(kind) if f.compare} for kind in CLASSES}


def read(of: Any, wanted: Any, left: list[int] | None = None) -> Any:
    """A copy, if it is of the wanted type in all its parts. Raises Refused."""
    left = [MOST_PARTS] if left is None else left  # how many parts may follow
    left[0] -= 1
    require(left[0] > 0, f"more than {MOST_PARTS} parts")
    kind, (origin, inside) = type(of), _form(wanted)
    if origin in (Union, UnionType):
        require(kind in inside, f"a {kind.__name__} in the place of {wanted}")
        wanted = kind
    elif wanted is Any:
        require(kind in (Vector, Number, str, int, Fraction), f"a {kind.__name__} in the place of a term")
        wanted = kind
    elif origin is tuple:
        require(kind is tuple, f"a {kind.__name__} in the place of a tuple")
        every = inside[:1] * len(of) if inside[-1] is Ellipsis else inside
        require(len(of) == len(every), f"{len(of)} entries in the place of {len(every)}")
        return tuple(read(x, sort, left) for x, sort in zip(of, every, strict=True))
    elif origin is frozenset:
        require(kind is frozenset, f"a {kind.__name__} in the place of a set")
        return frozenset(read(x, inside[0], left) for x in of)
    elif origin is Mapping:
        return {read(name, inside[0], left): read(x, inside[1], left) for name, x in of.items()}
    require(kind is wanted, f"a {kind.__name__} in the place of a {wanted.__name__}")
    if kind in (Vector, Number):
        require(type(of.args) is tuple, "operands that are no tuple")
        return _made(kind, head=read(of.head, str, left), args=tuple(read(x, Any, left) for x in of.args))
    if kind in HINTS:
        return _made(kind, **{name: read(getattr(of, name), hint, left) for name, hint in HINTS[kind].items()})
    if kind is Fraction:
        return Fraction(read(of.numerator, int, left), read(of.denominator, int, left))
    require(kind in (str, int, bool, NoneType), f"a {kind.__name__} in a proof")
    require(kind is not int or of.bit_length() <= MOST_BITS, "a number with too many digits")
    require(kind is not str or len(of) <= LONGEST, "a text that is too long")
    return of


@cache
def _form(wanted: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(wanted), get_args(wanted)


def _made(kind: type, **parts: Any) -> Any:
    """What its class admits, with names and symbols that are some."""
    try:
        return kind(**parts)
    except IllFormed as error:
        raise Refused(str(error)) from None
