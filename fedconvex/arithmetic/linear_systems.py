"""Linear equations in reduced form: over flint's rationals, or over any field of numbers that divide, as of functions.

Every pivot occurs in its own row only, with coefficient 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import truediv
from typing import Any, final

from flint import fmpq, fmpq_mat

ZERO, ONE = fmpq(0), fmpq(1)
Rows = list[list[Any]]


def echelon(rows: Sequence[Sequence[Any]], width: int) -> tuple[Rows, list[int]]:
    """The reduced row echelon form without zero rows, and the columns of its pivots."""
    if not rows or not width:
        return [], []
    entries = [x for row in rows for x in row]
    if all(isinstance(x, fmpq) for x in entries):
        table, rank = fmpq_mat(len(rows), width, entries).rref()
        found = table.tolist()[:rank]
        return found, [next(j for j in range(width) if row[j] != 0) for row in found]
    found, pivots = [], list[int]()
    for row in rows:
        made = reduced(row, found, pivots)
        pivot = next((j for j in range(width) if made[j]), None)
        if pivot is not None:
            found, pivots = extended(found, pivots, made, pivot)
    order = sorted(range(len(pivots)), key=pivots.__getitem__)
    return [found[k] for k in order], sorted(pivots)


def reduced(row: Sequence[Any], rows: Sequence[Sequence[Any]], pivots: Sequence[int]) -> list[Any]:
    """The row without the pivots, by multiples of the rows."""
    made = list(row)
    for known, pivot in zip(rows, pivots, strict=True):
        if made[pivot]:
            made = _without(made, known, pivot)
    return made


def extended(
    rows: Sequence[Sequence[Any]], pivots: Sequence[int], made: Sequence[Any], pivot: int,
    quotient: Callable[[Any, Any], Any] = truediv,
) -> tuple[Rows, list[int]]:  # fmt: skip
    """The rows with one more, which is reduced, and the pivots with its own."""
    new = [quotient(x, made[pivot]) if x else x for x in made]
    others = [_without(known, new, pivot) if known[pivot] else list(known) for known in rows]
    return [*others, new], [*pivots, pivot]


def _without(row: Sequence[Any], known: Sequence[Any], pivot: int) -> list[Any]:
    factor = row[pivot]
    return [x - factor * y if y else x for x, y in zip(row, known, strict=True)]


@final
@dataclass(frozen=True)
class System:
    """Equations, one after the other; a row has the coefficients of the unknowns, and the right side.

    Args:
        unknowns: how many.
        quotient: how numbers are divided.
        rows, pivots: in reduced form; of an equation the last unknown becomes the pivot.
    """

    unknowns: int
    quotient: Callable[[Any, Any], Any] = truediv
    rows: tuple[tuple[Any, ...], ...] = ()
    pivots: tuple[int, ...] = ()

    def reduced(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The equation without the pivots' unknowns."""
        return tuple(reduced(row, self.rows, self.pivots))

    def with_row(self, row: Sequence[Any]) -> "System | None":
        """The system with one more equation; None where they contradict each other."""
        made = self.reduced(row)
        pivot = next((j for j in reversed(range(self.unknowns)) if made[j]), None)
        if pivot is None:
            return None if made[-1] else self
        rows, pivots = extended(self.rows, self.pivots, made, pivot, self.quotient)
        return replace(self, rows=tuple(map(tuple, rows)), pivots=tuple(pivots))

    @property
    def is_solved(self) -> bool:
        """Whether all unknowns are determined."""
        return len(self.rows) == self.unknowns

    @property
    def solution(self) -> list[Any]:
        """The unknowns, where they are determined."""
        by_pivot = dict(zip(self.pivots, self.rows, strict=True))
        return [by_pivot[j][-1] for j in range(self.unknowns)]


def kernel(rows: Sequence[Sequence[Any]], width: int) -> Rows:
    """A basis of the vectors that are orthogonal to all rows."""
    made, pivots = echelon(rows, width)
    found = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [ZERO] * width
        vector[free] = ONE
        for row, pivot in zip(made, pivots, strict=True):
            vector[pivot] = -row[free]
        found.append(vector)
    return found


def solution(rows: Sequence[Sequence[Any]], right: Sequence[Any], width: int) -> list[Any] | None:
    """A vector whose products with the rows are `right`; None where there is none."""
    made, pivots = echelon([[*row, value] for row, value in zip(rows, right, strict=True)], width + 1)
    if width in pivots:  # the equation 0 = 1
        return None
    found = [ZERO] * width
    for row, pivot in zip(made, pivots, strict=True):
        found[pivot] = row[width]
    return found


def applied(rows: Sequence[Sequence[Any]], vector: Sequence[Any]) -> list[Any]:
    """The products of the rows with a vector."""
    return [sum((c * x for c, x in zip(row, vector, strict=True)), ZERO) for row in rows]


def product(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]], width: int) -> Rows:
    """The matrix product A·B, where B has `width` columns."""
    return [[sum((x * row[j] for x, row in zip(a, B, strict=True)), ZERO) for j in range(width)] for a in A]


def invariant(maps: Sequence[Rows], starts: Sequence[Sequence[Any]]) -> tuple[Rows, list[int], list[Rows]]:
    """The smallest space that contains the starts and their images: its basis, pivots, and the maps on it."""
    n = len(maps[0])
    basis, pivots = echelon(starts, n)
    while True:
        images = [[applied(matrix, u) for u in basis] for matrix in maps]
        larger, places = echelon([*basis, *(u for these in images for u in these)], n)
        if len(larger) == len(basis):  # then images are combinations of the basis, by their entries at its pivots
            return basis, pivots, [[[image[place] for image in these] for place in pivots] for these in images]
        basis, pivots = larger, places
