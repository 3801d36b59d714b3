"""Vectors of a Hilbert space, as linear combinations of named basic vectors whose inner products are symbols.

The clients' vectors u_1, …, u_m, with the product Σ_k p_k⟨u_k, v_k⟩, are one vector of a larger space: a *family*. The
vectors that are equal for all clients form a subspace of it, and the mean over the clients is the orthogonal projection
onto that subspace. A family therefore splits into two orthogonal parts, mean and deviation, and nothing here depends on
the number of clients or on their weights.

The average over drawn clients is the mean plus a random vector with expectation 0. In expectation this third part is
orthogonal to everything that does not depend on the draw, and its inner products are those of the deviations times a
factor that depends on the scheme (`sampling`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import permutations
from typing import Any, final

import sympy


class Unsound(AssertionError):
    """A use of an engine that could prove something false. Not an assertion: `python -O` skips those."""


def require(condition: object, problem: str) -> None:
    """Raises Unsound."""
    if not condition:
        raise Unsound(problem)


class Subspace(Enum):
    """The three mutually orthogonal subspaces; each basic vector lies in one of them."""

    SAME = ""  # equal for every client: a shared vector, or a mean over the clients
    DEVIATION = "~"  # a client's vector minus the mean
    DRAWN = "*"  # the average over drawn clients minus the mean


@final
@dataclass(frozen=True)
class Atom:
    """A basic vector. A family is the sum of two with the same name, one in SAME and one in DEVIATION."""

    name: str
    part: Subspace = Subspace.SAME
    scale: Any = 1  # for DRAWN: its inner products are this number times those of the deviations
    draw: str = ""  # for DRAWN: the name of the draw; the parts of two draws are uncorrelated

    def __post_init__(self) -> None:
        require(not {*self.name} & {*"⟨⟩,"} and not self.name.endswith("~"), f"the name {self.name} is ambiguous")

    def __str__(self) -> str:
        return self.name + self.part.value


@final
@dataclass(frozen=True)
class HilbertVector:
    """A linear combination of basic vectors; its coefficients are SymPy expressions."""

    parts: Mapping[Atom, Any] = field(default_factory=dict)

    def __radd__(self, other: int) -> "HilbertVector":
        # `sum` starts with the number 0.
        require(other == 0, "a number is added to a vector")
        return self

    def __add__(self, other: "HilbertVector") -> "HilbertVector":
        keys = dict.fromkeys((*self.parts, *other.parts))
        return HilbertVector({a: self.parts.get(a, 0) + other.parts.get(a, 0) for a in keys})

    def __sub__(self, other: "HilbertVector") -> "HilbertVector":
        return self + (-other)

    def __neg__(self) -> "HilbertVector":
        return self * -1

    def __mul__(self, factor: Any) -> "HilbertVector":
        number = sympy.sympify(factor)
        return HilbertVector({a: number * c for a, c in self.parts.items()})

    def __rmul__(self, factor: Any) -> "HilbertVector":
        product: HilbertVector = self * factor
        return product

    def __truediv__(self, divisor: Any) -> "HilbertVector":
        quotient: HilbertVector = self * (1 / sympy.sympify(divisor))
        return quotient

    def __str__(self) -> str:
        return " + ".join(f"({c})·{a}" for a, c in self.parts.items()) or "0"


def vector(name: str) -> HilbertVector:
    """A vector that all clients share."""
    return HilbertVector({Atom(name): sympy.Integer(1)})


def family(name: str) -> HilbertVector:
    """One vector for every client."""
    return HilbertVector({Atom(name): sympy.Integer(1), Atom(name, Subspace.DEVIATION): sympy.Integer(1)})


def centred(name: str) -> HilbertVector:
    """One vector for every client, with mean 0."""
    return HilbertVector({Atom(name, Subspace.DEVIATION): sympy.Integer(1)})


def mean(u: HilbertVector) -> HilbertVector:
    """The mean over the clients, with their weights."""
    return HilbertVector({a: c for a, c in u.parts.items() if a.part is not Subspace.DEVIATION})


def deviation(u: HilbertVector) -> HilbertVector:
    """What every client has beyond the mean."""
    return u - mean(u)


def drawn(u: HilbertVector, scale: Any, draw: str = "") -> HilbertVector:
    """The average of a family over the drawn clients.

    `scale` is the scheme's (`sampling`); `draw` tells several draws apart, which must be independent.
    """
    require(all(a.part is not Subspace.DRAWN for a in u.parts), "averaged twice")
    require(_is_scale(sympy.sympify(scale)), f"{scale} is not the scale of a draw")
    return HilbertVector({
        Atom(a.name, Subspace.DRAWN, scale, draw) if a.part is Subspace.DEVIATION else a: c for a, c in u.parts.items()
    })  # fmt: skip


def expected(u: HilbertVector) -> HilbertVector:
    """The expectation over who is drawn: an average over the drawn clients becomes the mean."""
    return HilbertVector({a: c for a, c in u.parts.items() if a.part is not Subspace.DRAWN})


def inner(u: HilbertVector, v: HilbertVector) -> Any:
    """Σ_k p_k⟨u_k, v_k⟩, in expectation over who is drawn."""
    # Basic vectors of different subspaces are orthogonal.
    pairs = ((a, b, c * d) for a, c in u.parts.items() for b, d in v.parts.items() if a.part is b.part)
    return sum((c * _product(a, b) for a, b, c in pairs), start=sympy.Integer(0))


def square(u: HilbertVector) -> Any:
    """Σ_k p_k‖u_k‖², in expectation over who is drawn."""
    return inner(u, u)


def norm(u: HilbertVector) -> Any:
    """The norm of a multiple of a basic vector: a symbol times the factor's absolute value.

    Only basic vectors have a norm that is a symbol; use `facts.root_of` to name the norm of a sum.
    """
    parts = [(atom, coefficient) for atom, coefficient in u.parts.items() if coefficient != 0]
    require(len(parts) == 1, f"{u} is no basic vector")
    atom, coefficient = parts[0]
    require(atom.part is not Subspace.DRAWN, f"{u} is an average over drawn clients")
    return abs(coefficient) * length(str(atom))


def length(name: str) -> Any:
    """The symbol of a length: a number that is not negative."""
    return sympy.Symbol(name if "‖" in name else f"‖{name}‖", nonnegative=True)


def is_product(symbol: Any) -> bool:
    """Whether the symbol is a length or an inner product."""
    return str(symbol)[:1] in ("‖", "⟨")


def _product(a: Atom, b: Atom) -> Any:
    """⟨a, b⟩ of two basic vectors of one subspace, as a symbol; inner products of different subspaces are 0."""
    if a.part is Subspace.DRAWN:
        if a.draw != b.draw:
            return sympy.Integer(0)
        require(a.scale == b.scale, "two different draws of one name")
        return a.scale * _product(Atom(a.name, Subspace.DEVIATION), Atom(b.name, Subspace.DEVIATION))
    if a == b:
        return length(str(a)) ** 2
    # ⟨a,b⟩ and ⟨b,a⟩ are one symbol.
    first, second = sorted((str(a), str(b)))
    return sympy.Symbol(f"⟨{first},{second}⟩", real=True)


def _is_scale(scale: Any) -> bool:
    """Whether the number is 1/K, (m − P)/(P(m − 1)), a rational number in [0, 1], or a nonnegative symbol.

    Any other expression might be no scheme's, and might be negative: ‖·‖² of the drawn part could then be, too.
    """
    if scale.is_Rational:
        return bool(0 <= scale <= 1)
    if scale.is_Symbol:
        return bool(scale.is_nonnegative)
    if (1 / scale).is_Symbol:
        return bool((1 / scale).is_positive)
    pairs = permutations(scale.free_symbols, 2)
    return any(sympy.cancel(scale - (m - P) / (P * (m - 1))) == 0 for m, P in pairs if m.is_positive and P.is_positive)
