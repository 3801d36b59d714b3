"""Unknown vectors in the place of a round's arrays, and the linear relations between them."""

import operator
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, final

import flint

from fedconvex.fixed_points.linear_forms import ONE, LinearForm, NotAffine, Terms, combined, terms_of

# An atom is (rank, name) of the server's vectors, (rank, name, group) of any client's of a group, and (rank, name,
# group, "mean") of their mean over the group. Elimination removes atoms of the highest rank first.
# HIDDEN atoms, (rank, (reason, key, inner)), stand for what is not linear: `inner` are the terms of a vector that is 0
# where the atom is, since a division of its entries by positive numbers makes the atom of it; or None.
Rank = IntEnum("Rank", "START SERVER NEXT GRADIENT ANSWER FURTHER HIDDEN KEPT")


@final
class UnknownVector(LinearForm):
    """A linear form in unknown vectors, whose coordinates nothing is known of."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's arrays have coordinates

    def __mul__(self, other: Any) -> Any:
        try:
            return super().__mul__(other)
        except NotAffine as error:
            return Hidden(str(error), ("product", *map(key_of, (self, other))))


@final
class Hidden:
    """A vector of the server that is no linear form, such as a square: of a root the sign is known, which `sign` says.

    `key` says how it is made: equal keys, equal vectors. Entries may be divided by it where all of them are positive.
    """

    __slots__ = ("key", "reason", "sign")
    __array_ufunc__ = None

    def __init__(self, reason: str, key: Any, sign: str = "") -> None:
        self.reason, self.key, self.sign = reason, key, sign

    def _with(self, other: Any, operation: str) -> "Hidden":
        terms, sign = terms_of(other), ""
        if self.sign and "sub" not in operation and terms and terms.keys() == {ONE} and terms[ONE] > 0:
            sign = "positive" if "add" in operation else self.sign
        return Hidden(self.reason, (operation, self.key, key_of(other)), sign)

    def __rtruediv__(self, other: Any) -> UnknownVector:
        if self.sign != "positive" or not isinstance(other, UnknownVector) or any(len(a) == 3 for a in other.terms):
            raise NotAffine(self.reason)
        inner = key_of(other)
        return vector(Rank.HIDDEN, (self.reason, self.key, inner)) if inner else other


for _name in ("add", "radd", "mul", "rmul", "sub", "rsub", "truediv"):
    setattr(Hidden, f"__{_name}__", lambda self, other, do=_name: self._with(other, do))


def key_of(value: Any) -> Any:
    """Equal for equal vectors of the server, and numbers. Raises NotAffine for others."""
    if isinstance(value, Hidden):
        return value.key
    terms = terms_of(value)
    if terms is None:
        raise NotAffine("does more with the clients' vectors than add and average them")
    return tuple(sorted(terms.items(), key=repr))


@final
class ClientVectors:
    """A vector for every client: what any client of each group has. It has + − * / as arrays do."""

    __slots__ = ("groups",)
    __array_ufunc__ = None

    def __init__(self, groups: Iterable[UnknownVector | Hidden]) -> None:
        self.groups = tuple(groups)
        if hidden := [vector for vector in self.groups if isinstance(vector, Hidden)]:
            raise NotAffine(hidden[0].reason)

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> "ClientVectors":
        others = other.groups if isinstance(other, ClientVectors) else (other,) * len(self.groups)
        return ClientVectors(map(operation, self.groups, others))

    def __neg__(self) -> "ClientVectors":
        return self._with(-1, operator.mul)


for _do in (operator.add, operator.sub, operator.mul, operator.truediv):
    _name = f"{_do.__name__}__"
    setattr(ClientVectors, f"__{_name}", lambda self, other, do=_do: self._with(other, do))
    setattr(ClientVectors, f"__r{_name}", lambda self, other, do=_do: self._with(other, lambda a, b: do(b, a)))


class LinearRelations:
    """Linear equations Σ c·atom = 0, each of which eliminates its last atom."""

    def __init__(self, zeros: Iterable[Terms] = ()) -> None:
        self.rows: dict[Any, Terms] = {}  # by the atom that they eliminate, whose coefficient is 1
        for zero in zeros:
            if left := self.reduced(zero):
                last = max(left, key=_order)
                self.rows[last] = {atom: c / left[last] for atom, c in left.items()}

    def reduced(self, terms: Terms) -> Terms:
        """The same vector in the atoms that are left; without any if and only if it is implied to be 0."""
        while found := [atom for atom in terms if atom in self.rows]:
            last = max(found, key=_order)
            terms = combined(terms, self.rows[last], -terms[last])
        return terms

    def imply(self, vectors: Any) -> bool:
        """Whether a vector, or every client's, is 0."""
        return not any(self.reduced(terms) for terms in terms_in(vectors))

    def before(self, rank: Rank) -> list[Terms]:
        """The equations in which all atoms are of lower rank."""
        return [row for last, row in self.rows.items() if rank_of(last) < rank]


def terms_in(vectors: Any) -> list[Terms]:
    """The terms of a vector, or of every group's."""
    return [vector.terms for vector in getattr(vectors, "groups", (vectors,))]


def vector(*atom: Any) -> UnknownVector:
    """The unknown vector that the atom stands for."""
    return UnknownVector({atom: flint.fmpq(1)})


def rank_of(atom: Any) -> int:
    """The atom's rank; 0 of the vector of ones."""
    return atom[0] if atom else 0


def _order(atom: Any) -> Any:
    # of one rank those of clients before means: they tell more
    return rank_of(atom), len(atom) == 3, repr(atom)
