"""Linear equations over the field of the parameters, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from fedconvex.arithmetic.linear_systems import extended, reduced
from fedconvex.proofs_checks.kernel.scalars import Scalar
from fedconvex.proofs_checks.search.scalars import quotient

Row = tuple[Scalar, ...]  # the coefficients of the unknowns, and the right side


@final
@dataclass(frozen=True)
class System:
    """Equations in reduced form: every pivot occurs in its own row only, with coefficient 1."""

    unknowns: int
    rows: tuple[Row, ...] = ()
    pivots: tuple[int, ...] = ()

    def reduced(self, row: Sequence[Scalar]) -> Row:
        """The equation without the pivots' unknowns."""
        return tuple(reduced(row, self.rows, self.pivots))

    def with_row(self, row: Sequence[Scalar]) -> "System | None":
        """The system with one more equation; None where they contradict each other."""
        made = self.reduced(row)
        pivot = next((j for j in reversed(range(self.unknowns)) if made[j]), None)
        if pivot is None:
            return None if made[-1] else self
        rows, pivots = extended(self.rows, self.pivots, made, pivot, quotient)
        return System(self.unknowns, tuple(map(tuple, rows)), tuple(pivots))

    @property
    def is_solved(self) -> bool:
        """Whether all unknowns are determined."""
        return len(self.rows) == self.unknowns

    @property
    def solution(self) -> list[Scalar]:
        """The unknowns, where they are determined."""
        by_pivot = dict(zip(self.pivots, self.rows, strict=True))
        return [by_pivot[j][-1] for j in range(self.unknowns)]
