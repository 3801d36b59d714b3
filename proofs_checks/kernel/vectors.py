"""Vectors of a round in unknown basic vectors, and quantities: polynomials in their inner products and in values.

A vector of every client is its mean over the clients plus a deviation with mean 0, and the two are orthogonal in the
mean inner product, so that nothing depends on the number of clients. In a round with drawn clients two kinds of random
vectors appear: averages over the drawn clients, and memories that only the drawn clients replace. With 1_k = 1 where
client k is drawn, π = P/m and avg the average over the drawn, the coordinates are of five kinds:

    same  a                       shared by all clients: a mean, or a shared vector
    apart ã_k                     a deviation
    noise avg ã                   shared, random, with expectation 0
    kept  1_k a,  replaced 1_k ã_k

The expected mean inner products of basic vectors of these kinds follow from E 1_k = π, from the constant number of
drawn clients, and from E⟨avg ã, avg b̃⟩ = σ mean_k⟨ã_k, b̃_k⟩; those not listed in `FACTORS` are 0.

Of a gradient at a point that depends on the draw nothing is known: it has coordinates of two more kinds,

    any   u        shared by all clients, any function of the draw
    any apart ũ_k  any function of the draw, in every draw with mean 0 over all clients

whose inner products with others are unknown numbers, except that shared vectors see only means over the clients.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar, require

SAME, APART, NOISE, KEPT, REPLACED = "same", "apart", "noise", "kept", "replaced"
ANY, ANY_APART = "any", "any apart"
SHARED = (SAME, NOISE, ANY)
# For two kinds: the factor of the inner product, and the part (mean or deviation) whose inner product it is.
FACTORS = {
    (SAME, SAME): ("1", SAME), (SAME, KEPT): ("π", SAME), (KEPT, KEPT): ("π", SAME),
    (APART, APART): ("1", APART), (APART, REPLACED): ("π", APART), (REPLACED, REPLACED): ("π", APART),
    (NOISE, NOISE): ("σ", APART), (NOISE, REPLACED): ("πσ", APART),
}  # fmt: skip
MOST_PRODUCTS = 100_000  # in an inner product
Key = tuple[str, str]  # kind and basic vector


@final
@dataclass(frozen=True, eq=False)
class Vec:
    """A linear combination of basic vectors."""

    parts: Mapping[Key, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", {key: c for key, c in self.parts.items() if c})

    def __add__(self, other: "Vec") -> "Vec":
        require(isinstance(other, Vec), "a number is added to a vector")
        keys = dict.fromkeys((*self.parts, *other.parts))
        return Vec({k: self.parts.get(k, 0) + other.parts[k] if k in other.parts else self.parts[k] for k in keys})

    def __sub__(self, other: "Vec") -> "Vec":
        return self + -other

    def __neg__(self) -> "Vec":
        return self * -1

    def __mul__(self, factor: Any) -> "Vec":
        return Vec({k: c * factor for k, c in self.parts.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Vec":
        return Vec({k: c / divisor for k, c in self.parts.items()})

    def only(self, *kinds: str) -> "Vec":
        """The coordinates of these kinds."""
        return Vec({k: c for k, c in self.parts.items() if k[0] in kinds})

    def renamed(self, kinds: Mapping[str, str]) -> "Vec":
        """The coordinates of these kinds, moved to others."""
        return Vec({(kinds[kind], name): c for (kind, name), c in self.parts.items() if kind in kinds})

    @property
    def key(self) -> frozenset[tuple[Key, Scalar]]:
        """Equal for equal vectors."""
        return frozenset(self.parts.items())

    @property
    def is_random(self) -> bool:
        """Whether it depends on the draw."""
        return any(kind not in (SAME, APART) for kind, _ in self.parts)

    @property
    def is_shared(self) -> bool:
        """Whether it is the same for all clients."""
        return all(kind in SHARED for kind, _ in self.parts)


Unknown = tuple[str, ...]  # an inner product with its two basic vectors, a length "‖", or a value "F"
Monomial = tuple[Unknown, ...]  # sorted


@final
@dataclass(frozen=True, eq=False)
class Quantity:
    """A polynomial in unknown numbers: inner products, lengths and function values."""

    terms: Mapping[Monomial, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", {m: c for m, c in self.terms.items() if c})

    def __add__(self, other: "Quantity") -> "Quantity":
        keys = dict.fromkeys((*self.terms, *other.terms))
        return Quantity({m: self.terms.get(m, 0) + other.terms[m] if m in other.terms else self.terms[m] for m in keys})

    def __sub__(self, other: "Quantity") -> "Quantity":
        return self + other * -1

    def __mul__(self, factor: Any) -> "Quantity":
        """Times a number of parameters."""
        return Quantity({m: c * factor for m, c in self.terms.items()})

    def times(self, other: "Quantity") -> "Quantity":
        """The product."""
        terms: dict[Monomial, Any] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(sorted((*m, *n)))
                terms[key] = terms.get(key, 0) + c * d
        return Quantity(terms)


def product_of(one: Key, other: Key) -> tuple[str, Unknown]:
    """The factor of the expected mean inner product of two basic vectors, and the unknown number; "" where it is 0."""
    kinds = (one[0], other[0])
    if kinds[0] not in (ANY, ANY_APART) and kinds[1] not in (ANY, ANY_APART):
        factor, part = FACTORS.get(kinds) or FACTORS.get((kinds[1], kinds[0])) or ("", "")
        return factor, (part, *sorted((one[1], other[1])))  # of the two means, or deviations
    for shared, seen in ((one, other), (other, one)):
        if shared[0] in SHARED:  # the mean of 1_k is π, and that of 1_k ã_k is π avg ã
            factor, kind = MEANS.get(seen[0], ("", ""))
            return factor, _any_product(shared, (kind, seen[1]))
    return "1", _any_product(one, other)


MEANS = {SAME: ("1", SAME), NOISE: ("1", NOISE), ANY: ("1", ANY), KEPT: ("π", SAME), REPLACED: ("π", NOISE)}


def _any_product(one: Key, other: Key) -> Unknown:
    first, second = sorted((one, other))
    return (ANY, *first, *second)


def inner(u: Vec, v: Vec, chances: Mapping[str, Any]) -> Quantity:
    """The expected mean inner product; `chances` are the numbers 1, π, σ and πσ of the draw."""
    require(len(u.parts) * len(v.parts) <= MOST_PRODUCTS, "an inner product of too many terms")
    terms: dict[Monomial, Any] = {}
    for one, c in u.parts.items():
        for other, d in v.parts.items():
            # Where clients are drawn with unequal probabilities, products that are not listed need not be 0 either.
            if chances["π"] is None and {one[0], other[0]} & {KEPT, REPLACED}:
                raise Refused("inner products with memories are not known for this draw")
            factor, name = product_of(one, other)
            if factor:
                terms[(name,)] = terms.get((name,), 0) + c * d * chances[factor]
    return Quantity(terms)
