"""Spans and kernels of vectors of rational numbers, as rows of flint's matrices, or of functions of parameters."""

from collections.abc import Sequence
from typing import Any

from flint import fmpq, fmpq_mat

from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO

Rows = list[list[Any]]  # vectors of flint's rationals, or of functions of parameters


def echelon(rows: Sequence[Sequence[Any]], width: int) -> tuple[Rows, list[int]]:
    """The reduced row echelon form without zero rows, and the columns of its pivots."""
    if not rows or not width:
        return [], []
    entries = [x for row in rows for x in row]
    if not all(isinstance(x, fmpq) for x in entries):
        return _eliminated(rows, width)
    table, rank = fmpq_mat(len(rows), width, entries).rref()
    found = table.tolist()[:rank]
    return found, [next(j for j in range(width) if row[j] != 0) for row in found]


def _eliminated(rows: Sequence[Sequence[Any]], width: int) -> tuple[Rows, list[int]]:
    """The same of functions of parameters, where a pivot is a function other than 0."""
    found: Rows = []
    pivots: list[int] = []
    left = [list(row) for row in rows]
    for column in range(width):
        place = next((i for i, row in enumerate(left) if row[column]), None)
        if place is None:
            continue
        pivot = left.pop(place)
        pivot = [x / pivot[column] if x else x for x in pivot]
        for table in (found, left):
            for i, row in enumerate(table):
                if row[column]:
                    table[i] = [x - row[column] * y if y else x for x, y in zip(row, pivot, strict=True)]
        found.append(pivot)
        pivots.append(column)
    return found, pivots


def kernel(rows: Sequence[Sequence[Any]], width: int) -> Rows:
    """A basis of the vectors that are orthogonal to all rows."""
    reduced, pivots = echelon(rows, width)
    found = []
    for free in (j for j in range(width) if j not in pivots):
        vector = [ZERO] * width
        vector[free] = ONE
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free]
        found.append(vector)
    return found


def solution(rows: Sequence[Sequence[Any]], right: Sequence[Any], width: int) -> list[Any] | None:
    """A vector whose products with the rows are `right`; None where there is none."""
    reduced, pivots = echelon([[*row, value] for row, value in zip(rows, right, strict=True)], width + 1)
    if width in pivots:  # the equation 0 = 1
        return None
    found = [ZERO] * width
    for row, pivot in zip(reduced, pivots, strict=True):
        found[pivot] = row[width]
    return found


def invariant(maps: Sequence[Rows], starts: Sequence[Sequence[Any]]) -> tuple[Rows, list[int], list[Rows]]:
    """The smallest space that contains the starts and their images: its basis, pivots, and the maps on it."""
    n, forward = len(maps[0]), [[list(column) for column in zip(*matrix, strict=True)] for matrix in maps]
    basis, pivots = echelon(starts, n)
    while True:
        images = [product(basis, one, n) for one in forward]
        larger, places = echelon([*basis, *(u for these in images for u in these)], n)
        if len(larger) == len(basis):  # then images are combinations of the basis, by their entries at its pivots
            return basis, pivots, [[[image[place] for image in these] for place in pivots] for these in images]
        basis, pivots = larger, places


def product(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]], width: int) -> Rows:
    """The matrix product A·B, where B has `width` columns."""
    return [[sum((x * row[j] for x, row in zip(a, B, strict=True)), ZERO) for j in range(width)] for a in A]
