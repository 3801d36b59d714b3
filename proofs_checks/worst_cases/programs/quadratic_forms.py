"""Vectors with rational coordinates in unknown basic vectors, and quadratic forms in these vectors.

A performance estimation problem has only inner products as unknowns. A vector of every client is split into the mean
over the clients and the deviation from it, which are orthogonal; so the semidefinite program has two small Gram
matrices whatever the number of clients (as in `kernel.vectors`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq

MEAN, DEVIATION = "mean", "deviation"
Key = tuple[str, str]  # a basic vector: (part, name)
ZERO, ONE = fmpq(0), fmpq(1)  # flint's rationals: ten times as fast as fractions.Fraction


@final
@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """A number for each of several federations, in floats, in the place of the exact number of one."""

    each: Any  # an array

    def __bool__(self) -> bool:
        return bool(np.any(self.each))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Several) and self.each.tobytes() == other.each.tobytes()  # NaN is itself

    def __hash__(self) -> int:
        return hash(self.each.tobytes())

    def __add__(self, other: Any) -> "Several":
        return Several(self.each + in_floats(other))

    def __sub__(self, other: Any) -> "Several":
        return Several(self.each - in_floats(other))

    def __mul__(self, other: Any) -> "Several":
        return Several(self.each * in_floats(other))

    def __truediv__(self, other: Any) -> "Several":
        return Several(self.each / in_floats(other))

    def __rtruediv__(self, other: Any) -> "Several":
        return Several(in_floats(other) / self.each)

    def __neg__(self) -> "Several":
        return Several(-self.each)

    __radd__, __rmul__ = __add__, __mul__


def in_floats(x: Any) -> Any:
    """The number of each federation, or the one that all have."""
    if isinstance(x, Several):
        return x.each
    try:
        return float(x)
    except OverflowError:
        return np.inf  # of which floats then tell nothing


NUMBERS = (fmpq, Several)


@final
@dataclass(frozen=True, slots=True)  # slots: many thousands are made
class Family:
    """One vector for every client: its coordinates in the means and deviations of the basic vectors."""

    parts: Mapping[Key, Any] = field(default_factory=dict)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Family):  # of groups, or random: it knows how to add to this one
            return NotImplemented
        if not self.parts:  # nothing changes a family: it can be shared
            return other
        return Family(_sum(self.parts, other.parts)) if other.parts else self

    def __neg__(self) -> "Family":
        return Family({key: -c for key, c in self.parts.items()})

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, Family):
            return NotImplemented
        return Family(_sum(self.parts, other.parts, -ONE)) if other.parts else self

    def __mul__(self, factor: Any) -> "Family":
        number = factor if isinstance(factor, NUMBERS) else to_fmpq(factor)
        # 0 times a vector has no coordinates, as `key` requires.
        return Family({key: number * c for key, c in self.parts.items()} if number else {})

    def __rmul__(self, factor: Any) -> "Family":
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> Any:
        if isinstance(divisor, GroupNumbers):
            return divisor.divide(self)
        return self * (ONE / (divisor if isinstance(divisor, NUMBERS) else to_fmpq(divisor)))

    @property
    def key(self) -> frozenset[tuple[Key, Any]]:
        """Equal for equal vectors."""
        return frozenset(self.parts.items())

    def only(self, *parts: str) -> "Family":
        """What it has in these parts, such as the deviations."""
        return Family({key: c for key, c in self.parts.items() if key[0] in parts})


@final
@dataclass(frozen=True)
class Mixture:
    """One vector for every client, of several groups: a family for each group, and the group's share in averages."""

    shares: tuple[Any, ...]
    groups: tuple[Family, ...]

    def __add__(self, other: Any) -> "Mixture":
        others = other.groups if isinstance(other, Mixture) else (other,) * len(self.groups)
        return Mixture(self.shares, tuple(u + v for u, v in zip(self.groups, others, strict=True)))

    __radd__ = __add__

    def __neg__(self) -> "Mixture":
        return Mixture(self.shares, tuple(-u for u in self.groups))

    def __sub__(self, other: Any) -> "Mixture":
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> "Mixture":
        return (-self).__add__(other)

    def __mul__(self, factor: Any) -> "Mixture":
        return Mixture(self.shares, tuple(u * factor for u in self.groups))

    def __rmul__(self, factor: Any) -> "Mixture":
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Mixture":
        if isinstance(divisor, GroupNumbers):
            return divisor.divide(self)
        return self.__mul__(1 / (divisor if isinstance(divisor, fmpq) else to_fmpq(divisor)))

    @property
    def key(self) -> Any:
        """Equal for equal vectors."""
        return tuple(u.key for u in self.groups)


Vectors = Family | Mixture


@final
@dataclass(frozen=True)
class GroupNumbers:
    """One number for the clients of each group, such as the length of their local paths, and the groups' shares."""

    shares: tuple[Any, ...]
    numbers: tuple[Any, ...]

    @property
    def mean(self) -> Any:
        """The mean over the clients."""
        return sum((c * share for c, share in zip(self.numbers, self.shares, strict=True)), ZERO)

    def divide(self, u: Vectors) -> Mixture:
        """The clients' vectors, each divided by its group's number."""
        return Mixture(self.shares, tuple(of_group(u, k) / c for k, c in enumerate(self.numbers)))


def of_group(u: Vectors, group: int | None) -> Family:
    """The vectors of one group's clients; with None, or where all groups share u, u itself."""
    return u.groups[group] if isinstance(u, Mixture) and group is not None else u  # type: ignore[return-value]


def shared(name: str) -> Family:
    """An unknown vector that all clients share."""
    return Family({(MEAN, name): ONE})


def family(name: str, clients: int, part: str = DEVIATION) -> Family:
    """An unknown vector for every client; a single client has no deviation."""
    # Only inner products of deviations matter, and those of d and −d are the mean ones of any number of clients.
    deviation = {(part, name): ONE} if clients > 1 else {}
    return Family({(MEAN, name): ONE, **deviation})


def centred(name: str, clients: int) -> Family:
    """An unknown vector for every client, with mean 0."""
    return Family({(DEVIATION, name): ONE} if clients > 1 else {})


def mean(u: Any, group: int = 0) -> Any:
    """The mean over the clients; of vectors that depend on a draw a random one."""
    if isinstance(u, Mixture):
        of_groups = (mean(v, k) * share for k, (v, share) in enumerate(zip(u.groups, u.shares, strict=True)))
        return sum(of_groups, start=Family())
    if not isinstance(u, Family):
        return u.mean(group)
    return Family({key: c for key, c in u.parts.items() if key[0] == MEAN})


@final
@dataclass(frozen=True, slots=True)
class Form:
    """Σ c·⟨a, b⟩ over pairs of basic vectors + Σ c·(mean function value at a point): linear in the unknowns.

    A calculator whose formula is linear in such quantities can be called with forms. The number 0 counts as a form.
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

    def put(self, key: Key, u: Family) -> "Form":
        """The form with a vector of the same part in the place of a basic vector."""
        products: dict[tuple[Key, Key], Any] = {}
        for pair, c in self.products.items():
            first, second = (u.parts if one == key else {one: ONE} for one in pair)
            for a, x in first.items():
                for b, y in second.items():
                    _add(products, {((a, b) if a <= b else (b, a)): x * y}, c)
        return Form(products, self.values)

    def __truediv__(self, divisor: Any) -> "Form":
        return self.__mul__(1 / to_fmpq(divisor))


def inner(u: Any, v: Any, group: int = 0) -> Form:
    """The mean over the clients of ⟨u_k, v_k⟩; of vectors that depend on a draw the expected one."""
    if isinstance(u, Mixture) or isinstance(v, Mixture):
        shares = u.shares if isinstance(u, Mixture) else v.shares
        of_groups = (inner(of_group(u, k), of_group(v, k), k) * share for k, share in enumerate(shares))
        return sum(of_groups, start=Form())
    for one, other in ((u, v), (v, u)):
        if not isinstance(one, Family):
            found: Form = one.inner(other, group)
            return found
    products: dict[tuple[Key, Key], Any] = {}
    for a, c in u.parts.items():
        for b, d in v.parts.items():
            if a[0] == b[0]:  # means and deviations are orthogonal, so mixed products vanish
                pair = (a, b) if a <= b else (b, a)
                products[pair] = products.get(pair, ZERO) + c * d
    return Form(products)


def square(u: Any) -> Form:
    """The mean over the clients of ‖u_k‖²."""
    if not isinstance(u, Family):
        return inner(u, u)
    # As inner(u, u), with every pair visited once: most of the time of a program's construction goes here.
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
    """Σ c·form over pairs of a number and a form, without a new form for every partial sum."""
    products: dict[tuple[Key, Key], Any] = {}
    values: dict[str, Any] = {}
    for c, form in terms:
        _add(products, form.products, c)
        _add(values, form.values, c)
    return Form(products, values)


class Indefinite(ValueError):
    """A quadratic form that takes both signs, or has no maximum in a vector."""


def eliminated(form: Form, keys: Iterable[Key]) -> tuple[list[tuple[Any, Family]], Form]:
    """form = Σ weight · ‖vector‖² + rest, the rest without these basic vectors, one after the other.

    Signs of weights are the caller's to judge. Raises Indefinite.
    """
    found = []
    for key in keys:
        row = {a if b == key else b: c if a == b else c / 2 for (a, b), c in form.products.items() if key in (a, b)}
        if not row:
            continue
        if not row.get(key, ZERO):
            raise Indefinite(f"{key} has no square")
        u = Family({other: c / row[key] for other, c in row.items()})
        found.append((row[key], u))
        form = form - square(u) * row[key]
    return found, form


def squares(form: Form, turn: Callable[[Key], Any] | None = None) -> list[tuple[Any, Family]]:
    """A form without values as Σ weight · ‖vector‖²: its vectors eliminated by their `turn`. Raises Indefinite."""
    return eliminated(form, sorted({key for pair in form.products for key in pair}, key=turn))[0]


def value(name: str) -> Form:
    """The mean over the clients of their functions' values at the point of that name; 0 for the empty name."""
    return Form(values={name: ONE}) if name else Form()


def _sum(first: Mapping[Any, Any], second: Mapping[Any, Any], times: Any = ONE) -> dict[Any, Any]:
    """first + times · second, without zero entries."""
    total = dict(first)
    _add(total, second, times)
    return total


def _add(total: dict[Any, Any], second: Mapping[Any, Any], times: Any) -> None:
    for key, c in second.items():
        found = c if times is ONE else times * c
        if key in total:
            found += total[key]
        if found:
            total[key] = found
        else:
            total.pop(key, None)  # equal vectors have equal `key`s only without zero entries
