"""Vectors with rational coordinates, and what is linear in their inner products and in function values.

As in `engines.hilbert`: a family of clients' vectors has a mean and a deviation, which are orthogonal, so that the
program has two small Gram matrices whatever the number of clients.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput

MEAN, DEVIATION, DRAWN = "mean", "deviation", "drawn"
Key = tuple[str, str]  # (part, name)
ZERO, ONE = fmpq(0), fmpq(1)  # flint's rationals: ten times as fast as fractions.Fraction


@final
@dataclass(frozen=True)
class Family:
    """One vector for every client: coordinates in the basic vectors' means and deviations."""

    parts: Mapping[Key, Any] = field(default_factory=dict)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Mixture):
            return other + self
        return Family(_sum(self.parts, other.parts))

    def __neg__(self) -> "Family":
        return Family({key: -c for key, c in self.parts.items()})

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Mixture):
            return -other + self
        return Family(_sum(self.parts, other.parts, -ONE))

    def __mul__(self, factor: Any) -> "Family":
        number = factor if isinstance(factor, fmpq) else to_fmpq(factor)
        return Family({key: number * c for key, c in self.parts.items()} if number else {})

    def __rmul__(self, factor: Any) -> "Family":
        return Family(self.parts).__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Family":
        return self * (1 / (divisor if isinstance(divisor, fmpq) else to_fmpq(divisor)))

    @property
    def key(self) -> frozenset[tuple[Key, Any]]:
        """Equal for equal vectors."""
        return frozenset(self.parts.items())


@final
@dataclass(frozen=True)
class Mixture:
    """One vector for every client, of several kinds: a family for each kind, with the kind's share in averages."""

    shares: tuple[Any, ...]
    kinds: tuple[Family, ...]

    def __add__(self, other: Any) -> "Mixture":
        others = other.kinds if isinstance(other, Mixture) else (other,) * len(self.kinds)
        return Mixture(self.shares, tuple(u + v for u, v in zip(self.kinds, others, strict=True)))

    def __neg__(self) -> "Mixture":
        return Mixture(self.shares, tuple(-u for u in self.kinds))

    def __sub__(self, other: Any) -> "Mixture":
        return self.__add__(-other)

    def __mul__(self, factor: Any) -> "Mixture":
        return Mixture(self.shares, tuple(u * factor for u in self.kinds))

    def __rmul__(self, factor: Any) -> "Mixture":
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Mixture":
        return self.__mul__(1 / (divisor if isinstance(divisor, fmpq) else to_fmpq(divisor)))

    @property
    def key(self) -> Any:
        """Equal for equal vectors."""
        return tuple(u.key for u in self.kinds)


Vectors = Family | Mixture


def of_kind(u: Vectors, kind: int | None) -> Family:
    """The vectors of one kind's clients."""
    return u.kinds[kind] if isinstance(u, Mixture) and kind is not None else u  # type: ignore[return-value]


def shared(name: str) -> Family:
    """A vector that all clients share."""
    return Family({(MEAN, name): ONE})


def family(name: str, clients: int, part: str = DEVIATION) -> Family:
    """A vector for every client; where there is one client only, there is no deviation."""
    deviation = {(part, name): ONE} if clients > 1 else {}
    return Family({(MEAN, name): ONE, **deviation})


def centred(name: str, clients: int) -> Family:
    """A vector for every client, of mean 0."""
    return Family({(DEVIATION, name): ONE} if clients > 1 else {})


def mean(u: Vectors) -> Family:
    """The mean over the clients."""
    if isinstance(u, Mixture):
        return sum((mean(v) * share for v, share in zip(u.kinds, u.shares, strict=True)), start=Family())
    _require_known(u)
    return Family({key: c for key, c in u.parts.items() if key[0] == MEAN})


def drawn(u: Family) -> Family:
    """The plain average over clients that are drawn: the mean, and something random with expectation 0."""
    _require_known(u)
    return Family({(DRAWN if part == DEVIATION else part, name): c for (part, name), c in u.parts.items()})


def expected(u: Family) -> Family:
    """The expectation over who is drawn."""
    return Family({key: c for key, c in u.parts.items() if key[0] != DRAWN})


def noise(u: Family) -> Family:
    """The deviations whose average over drawn clients is in u."""
    return Family({(DEVIATION, name): c for (part, name), c in u.parts.items() if part == DRAWN})


def _require_known(u: Family) -> None:
    """Of what depends on the draw, nothing is known but the first two moments (see `engines.sampling`)."""
    for part, _ in u.parts:
        if part == DRAWN:
            raise InvalidInput(
                "participation",
                "drawn clients",
                "decide where functions are looked at, or remain in what is averaged again",
                "ask about everyone, or about a method and metric without that",
            )


@final
@dataclass(frozen=True)
class Form:
    """Σ c·⟨a, b⟩ over pairs of basic vectors + Σ c·(mean value at a point).

    Formulas that are linear in such quantities can be called with forms; the number 0 is a form, too.
    """

    products: Mapping[tuple[Key, Key], Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def __add__(self, other: Any) -> "Form":
        if not isinstance(other, Form):
            return self if other == 0 else NotImplemented
        return Form(_sum(self.products, other.products), _sum(self.values, other.values))

    __radd__ = __add__

    def __neg__(self) -> "Form":
        return self * -1

    def __sub__(self, other: Any) -> "Form":
        if not isinstance(other, Form):
            return self if other == 0 else NotImplemented
        return Form(_sum(self.products, other.products, -ONE), _sum(self.values, other.values, -ONE))

    def __mul__(self, factor: Any) -> "Form":
        number = factor if isinstance(factor, fmpq) else to_fmpq(factor)
        return Form({k: number * c for k, c in self.products.items()}, {k: number * c for k, c in self.values.items()})

    def __rmul__(self, factor: Any) -> "Form":
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Form":
        return self.__mul__(1 / to_fmpq(divisor))


def inner(u: Vectors, v: Vectors) -> Form:
    """The mean over the clients of ⟨u_k, v_k⟩."""
    if isinstance(u, Mixture) or isinstance(v, Mixture):
        shares = u.shares if isinstance(u, Mixture) else v.shares  # type: ignore[union-attr]
        of_kinds = (inner(of_kind(u, k), of_kind(v, k)) * share for k, share in enumerate(shares))
        return sum(of_kinds, start=Form())
    _require_known(u)
    _require_known(v)
    products: dict[tuple[Key, Key], Any] = {}
    for a, c in u.parts.items():
        for b, d in v.parts.items():
            if a[0] == b[0]:
                pair = (a, b) if a <= b else (b, a)
                products[pair] = products.get(pair, ZERO) + c * d
    return Form(products)


def square(u: Vectors) -> Form:
    """The mean over the clients of ‖u_k‖²."""
    if isinstance(u, Mixture):
        return inner(u, u)
    _require_known(u)
    products: dict[tuple[Key, Key], Any] = {}
    rest = sorted(u.parts.items(), reverse=True)
    while rest:
        a, c = rest.pop()  # the smallest key
        products[a, a] = c * c
        twice = 2 * c
        for b, d in rest:
            if a[0] == b[0]:
                products[a, b] = twice * d
    return Form(products)


def combination(*terms: tuple[Any, Form]) -> Form:
    """Σ c·form over pairs of a number and a form, without the sums on the way."""
    products: dict[tuple[Key, Key], Any] = {}
    values: dict[str, Any] = {}
    for c, form in terms:
        _add(products, form.products, c)
        _add(values, form.values, c)
    return Form(products, values)


def value(name: str) -> Form:
    """The mean over the clients of their functions' values at a point of that name."""
    return Form(values={name: ONE}) if name else Form()


def _sum(first: Mapping[Any, Any], second: Mapping[Any, Any], times: Any = ONE) -> dict[Any, Any]:
    """first + times · second, without zeros."""
    total = dict(first)
    _add(total, second, times)
    return total


def _add(total: dict[Any, Any], second: Mapping[Any, Any], times: Any) -> None:
    for key, c in second.items():
        found = times * c
        if key in total:
            found += total[key]
        if found:
            total[key] = found
        else:
            total.pop(key, None)
