"""Linear forms: a round played on them is proved to be an affine map, and is that map.

A form stands where a method's code expects a number (an entry of an array), or a whole vector. Sums and multiples of
forms are forms; whatever else the code does with what depends on the state raises `NotAffine`, with what it was.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import total_ordering
from itertools import count
from typing import Any, Self

import flint
import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, to_fmpq
from fedconvex.errors import InvalidInput, TooLarge
from fedconvex.methods.base import Method, State
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients
from fedconvex.problems.quadratics import QuadraticClients
from fedconvex.problems.subproblem import Subproblem
from fedconvex.runs.rounds import Rounds

ONE = ""  # the atom of constants: the number 1, or the vector of ones
ZERO = flint.fmpq(0)
Terms = Mapping[Any, Any]


class NotAffine(Exception):
    """Code did more with what depends on the state than to add it up with constant factors."""


@total_ordering
class LinearForm:
    """Σ c·atom with rational c: an unknown number, or an unknown vector. A float is the binary fraction it stores."""

    __slots__ = ("terms",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, terms: Terms) -> None:
        self.terms = terms

    def __add__(self, other: Any) -> Self:
        added = terms_of(other)
        return NotImplemented if added is None else type(self)(combined(self.terms, added))

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Self:
        taken = terms_of(other)
        return NotImplemented if taken is None else type(self)(combined(self.terms, taken, -1))

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    def __mul__(self, other: Any) -> Any:
        factor = terms_of(other)
        if factor is None:
            return NotImplemented
        terms, factor = (self.terms, factor) if factor.keys() <= {ONE} else (factor, self.terms)
        number = LinearForm(factor).constant("multiplies two numbers that depend on the state")
        return type(self)({atom: number * c for atom, c in terms.items()} if number else {})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        divisor = terms_of(other)
        if divisor is None:
            return NotImplemented
        return self * (1 / LinearForm(divisor).constant("divides by a number that depends on the state"))

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.constant("divides by a number that depends on the state")

    def __pow__(self, exponent: Any) -> Any:
        of_state = "takes a power of a number that depends on the state"
        return self if exponent == 1 else self.constant(of_state) ** exponent

    def constant(self, otherwise: str = "compares or rounds a number that depends on the state") -> Any:
        """The number that it is; raises NotAffine, with what the code does, where it depends on the state."""
        if self.terms.keys() <= {ONE}:
            return self.terms.get(ONE, ZERO)
        raise NotAffine(otherwise)

    def __eq__(self, other: Any) -> Any:
        return self.constant() == other

    def __lt__(self, other: Any) -> Any:
        return self.constant() < other

    def __abs__(self) -> Any:
        return abs(self.constant())

    def __bool__(self) -> bool:
        return bool(self.constant())

    def __float__(self) -> float:
        return float(int(self.constant().p) / int(self.constant().q))


def combined(left: Terms, right: Terms, factor: Any = 1) -> Terms:
    """left + factor · right, without terms of coefficient 0."""
    total = dict(left)
    for atom, c in right.items():
        total[atom] = total.get(atom, ZERO) + factor * c
        if not total[atom]:
            del total[atom]
    return total


def terms_of(value: Any) -> Terms | None:
    """The terms of a form or a number; None of what is neither."""
    if isinstance(value, LinearForm):
        return value.terms
    try:
        number = to_fmpq(value)
    except InvalidInput:
        return None
    return {ONE: number} if number else {}


def unknowns(atoms: Iterable[Any]) -> Array:
    """One unknown number for each atom."""
    return np.array([LinearForm({atom: flint.fmpq(1)}) for atom in atoms], dtype=object)


def constants(values: Array) -> Array:
    """Numbers as forms, which take floats as factors, too."""
    forms = np.array([LinearForm(terms_of(value) or {}) for value in values.ravel()], dtype=object)
    return forms.reshape(values.shape)


def coefficients(forms: Array, atoms: Iterable[Any]) -> flint.fmpq_mat:
    """The coefficients of the atoms, a row for each form."""
    places, rows = list(atoms), [terms_of(form) or {} for form in forms]
    return flint.fmpq_mat(len(rows), len(places), [row.get(atom, ZERO) for row in rows for atom in places])


@dataclass(eq=False)
class AffineClients(Clients):
    """Clients whose gradients and answers are affine: `own` are quadratics; without, all that they say is unknown."""

    arithmetic: Arithmetic
    num_clients: int
    dim: int
    own: QuadraticClients | None = None
    numbers: Iterator[int] = field(default_factory=count)  # of the unknowns

    def gradients(self, X: Array) -> Array:
        return self._unknown() if self.own is None else self._applied(self.own.H, self.rows(X)) - self.own.c

    def minimise(self, subproblem: Subproblem) -> Array:
        if self.own is None:
            return self._unknown()
        right, weight = subproblem.right_side(self.own.c), LinearForm(terms_of(subproblem.weight) or {}).constant()
        return self._applied(self.own.resolvents(right, weight), right)

    def values(self, X: Array) -> Array:
        raise NotAffine("evaluates the objective")

    differences = hessians = hessian_products = subset = values  # type: ignore[assignment]

    def _unknown(self) -> Array:
        size = self.num_clients * self.dim
        return unknowns(("answer", next(self.numbers)) for _ in range(size)).reshape(self.num_clients, self.dim)

    def _applied(self, matrices: Any, X: Array) -> Array:
        """matrices_k · X_k, where X_k is a matrix over the atoms that it depends on."""
        image = np.empty((len(X), self.dim), dtype=object)
        for k, (matrix, row) in enumerate(zip(matrices, X, strict=True)):
            atoms = list(dict.fromkeys(atom for form in row for atom in terms_of(form) or ()))
            found = (matrix * coefficients(row, atoms)).tolist() if atoms else [[]] * self.dim
            image[k] = [LinearForm({a: c for a, c in zip(atoms, line, strict=True) if c}) for line in found]
        return image


@contextmanager
def explaining() -> Iterator[None]:
    """Turns what code raises that is not made for forms into `NotAffine`."""
    try:
        yield
    except (NotAffine, TooLarge):
        raise
    except Exception as error:
        raise NotAffine(f"does more than add, scale and average ({type(error).__name__}: {error})") from error


@contextmanager
def refusing(method: Method) -> Iterator[None]:
    """Raises InvalidInput where the method's code is not affine."""
    try:
        with explaining():
            yield
    except NotAffine as error:
        problem = f"has rounds that are not affine in its state, which are not analysed: its code {error}"
        cure = "run it with `simulate`; what is analysed are methods that add, average and multiply by constants alone"
        raise InvalidInput("method", method, problem, cure) from error


def require_alike(before: State, after: State) -> None:
    """Raises NotAffine unless both states have arrays of the same names and shapes."""
    shapes = []
    for state in (before, after):
        parts = {"server": state.server}
        parts |= {
            f"{kind} {n}": part[n] for kind in ("shared", "memory") for part in (getattr(state, kind),) for n in part
        }
        shapes.append(
            {n: part.shape if isinstance(part, np.ndarray) else type(part).__name__ for n, part in parts.items()}
        )
    old, new = ({n: shape for n, shape in shapes[i].items() if shapes[1 - i].get(n) != shape} for i in (0, 1))
    if old or new:
        raise NotAffine(f"returns {new or 'nothing'} in the place of {old or 'nothing'} in the state")


def kinds_of_rounds(method: Method) -> list[tuple[Any, Draw]]:
    """The rounds of all clients with their probabilities: with communication, and local ones if there are such."""
    if method.compresses:
        raise NotAffine("compresses what clients send, at random")
    local = method.skip
    return [(1 - local, Draw(communicates=True))] + [(local, Draw(communicates=False))] * bool(local != 0)


def played_on_forms(rounds: Rounds) -> tuple[Array, Array]:
    """The first state as a form in the server's point, and the (expected) state after a round, in that before it."""
    first = rounds.start(unknowns(range(rounds.clients.dim)))
    start = first.flat()
    state, image = first.with_values(unknowns(range(len(start)))), 0 * start
    for chance, draw in kinds_of_rounds(rounds.method):
        after = rounds.advance(state, draw)
        require_alike(state, after)
        image = image + chance * after.flat()
    return start, image
