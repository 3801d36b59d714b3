"""Vectors with rational coordinates, and what is linear in their inner products and in function values.

As in `engines.hilbert`: a family of clients' vectors has a mean and a deviation, which are orthogonal, so that the
program has two small Gram matrices whatever the number of clients.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

MEAN, DEVIATION, DRAWN = "mean", "deviation", "drawn"
Key = tuple[str, str]  # (part, name)


@final
@dataclass(frozen=True)
class Family:
    """One vector for every client: coordinates in the basic vectors' means and deviations."""

    parts: Mapping[Key, Fraction] = field(default_factory=dict)

    def __add__(self, other: "Family") -> "Family":
        total = dict(self.parts)
        for key, c in other.parts.items():
            total[key] = total.get(key, Fraction(0)) + c
        return Family({key: c for key, c in total.items() if c})

    def __neg__(self) -> "Family":
        return self * Fraction(-1)

    def __sub__(self, other: "Family") -> "Family":
        return self + (-other)

    def __mul__(self, factor: Any) -> "Family":
        number = factor if isinstance(factor, Fraction) else Fraction(factor)
        return Family({key: number * c for key, c in self.parts.items()} if number else {})

    def __rmul__(self, factor: Any) -> "Family":
        return Family(self.parts).__mul__(factor)

    def __truediv__(self, divisor: Any) -> "Family":
        return self * (1 / (divisor if isinstance(divisor, Fraction) else Fraction(divisor)))

    @property
    def key(self) -> tuple[tuple[Key, Fraction], ...]:
        """Equal for equal vectors."""
        return tuple(sorted(self.parts.items()))


def shared(name: str) -> Family:
    """A vector that all clients share."""
    return Family({(MEAN, name): Fraction(1)})


def family(name: str, clients: int) -> Family:
    """A vector for every client; where there is one client only, there is no deviation."""
    deviation = {(DEVIATION, name): Fraction(1)} if clients > 1 else {}
    return Family({(MEAN, name): Fraction(1), **deviation})


def centred(name: str, clients: int) -> Family:
    """A vector for every client, of mean 0."""
    return Family({(DEVIATION, name): Fraction(1)} if clients > 1 else {})


def mean(u: Family) -> Family:
    """The plain mean over the clients."""
    return Family({key: c for key, c in u.parts.items() if key[0] == MEAN})


@final
@dataclass(frozen=True)
class Form:
    """Σ c·⟨a, b⟩ over pairs of basic vectors + Σ c·(mean value at a point) + a number."""

    products: Mapping[tuple[Key, Key], Fraction] = field(default_factory=dict)
    values: Mapping[str, Fraction] = field(default_factory=dict)

    def __add__(self, other: "Form") -> "Form":
        return Form(_sum(self.products, other.products), _sum(self.values, other.values))

    def __sub__(self, other: "Form") -> "Form":
        return self + other * -1

    def __mul__(self, factor: Any) -> "Form":
        number = factor if isinstance(factor, Fraction) else Fraction(factor)
        return Form({k: number * c for k, c in self.products.items()}, {k: number * c for k, c in self.values.items()})


def inner(u: Family, v: Family) -> Form:
    """The mean over the clients of ⟨u_k, v_k⟩."""
    products: dict[tuple[Key, Key], Fraction] = {}
    for a, c in u.parts.items():
        for b, d in v.parts.items():
            if a[0] == b[0]:
                pair = (a, b) if a <= b else (b, a)
                products[pair] = products.get(pair, Fraction(0)) + c * d
    return Form(products)


def square(u: Family) -> Form:
    """The mean over the clients of ‖u_k‖²."""
    return inner(u, u)


def value(name: str) -> Form:
    """The mean over the clients of their functions' values at a point of that name."""
    return Form(values={name: Fraction(1)}) if name else Form()


def _sum(first: Mapping[Any, Fraction], second: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    total = dict(first)
    for key, c in second.items():
        total[key] = total.get(key, Fraction(0)) + c
    return {key: c for key, c in total.items() if c}
