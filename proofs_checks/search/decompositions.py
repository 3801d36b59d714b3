"""Exact decompositions of quadratic forms into squares, with weights whose signs the conditions on parameters show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from fedconvex.proofs_checks.kernel.scalars import Field, Refused, Scalar
from fedconvex.proofs_checks.search.scalars import common_factor, is_nonzero, quotient

Matrix = Sequence[Sequence[Scalar]]
MOST_NODES = 60  # choices of a pivot that are tried


@final
@dataclass(frozen=True)
class Square:
    """weight · (Σ coordinate_i x_i)²."""

    weight: Scalar
    coordinates: tuple[Scalar, ...]


def squares_of(matrix: Matrix, field: Field) -> list[Square] | None:
    """The form as a sum of squares: pivots of LDLᵀ in an order in which their signs are known; None without one."""
    budget = iter(range(MOST_NODES))
    return _decomposed([list(row) for row in matrix], field, budget)


def _decomposed(matrix: list[list[Scalar]], field: Field, budget: Iterator[int]) -> list[Square] | None:
    size = range(len(matrix))
    entries = [x for row in matrix for x in row if x]
    if not entries:
        return []
    if next(budget, None) is None:
        return None
    factor = _common(entries, field)
    rest = [[quotient(x, factor) if x else x for x in row] for row in matrix]
    for i in _pivots(rest, field):
        row = [quotient(x, rest[i][i]) if x else x for x in rest[i]]
        if not all(is_nonzero(x.below, field) for x in row):
            continue
        weight = rest[i][i] * factor
        if not is_nonzero(weight.below, field):
            continue
        below = [[matrix[j][k] - weight * row[j] * row[k] for k in size] for j in size]
        found = _decomposed(below, field, budget)
        if found is not None:
            return [Square(weight, tuple(row)), *found]
    return None


def _pivots(matrix: list[list[Scalar]], field: Field) -> list[int]:
    """The diagonal entries that may come first, the simplest first; none where one is 0 in a row that is not."""
    for i, row in enumerate(matrix):
        if not row[i] and any(row):
            return []
    found = [i for i, row in enumerate(matrix) if row[i] and field.is_nonnegative(row[i])]
    return sorted(found, key=lambda i: (len(matrix[i][i].above) + len(matrix[i][i].below), i))


def _common(entries: list[Scalar], field: Field) -> Scalar:
    """A factor ≥ 0 of all entries, which may vanish somewhere, so that it is no part of a pivot; else 1."""
    try:
        factor = common_factor(entries)
        for sign in (1, -1):
            if field.is_nonnegative(factor * sign) and is_nonzero(factor.below, field):
                return field.scalar(factor * sign)
    except Refused:
        pass
    return field.scalar(1)
