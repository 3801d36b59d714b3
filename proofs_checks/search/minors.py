"""Open multipliers at which a principal minor of the remaining quadratic form vanishes.

Where a proof is tight, only one choice of the multipliers leaves a form ≥ 0. That form is singular: a minor vanishes
there, as a polynomial in the multipliers. Its factors that are linear in them give linear equations.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from flint import fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.search.scalars import by_powers, common_denominator

LARGEST = 4  # minors
MOST_TERMS = 4000  # of a minor that is factored
Affine = Sequence[Scalar]  # the coefficients of the open multipliers, and the constant


def singular(matrix: Sequence[Sequence[Affine]], field: Field) -> Iterator[tuple[Scalar, ...]]:
    """Linear equations (coefficients, right side), from smaller minors first; double factors of a minor first."""
    ring = Extended(field, len(matrix[0][0]) - 1)
    cleared = ring.cleared(matrix)
    for size in range(1, LARGEST + 1):
        for chosen in combinations(range(len(matrix)), size):
            minor = ring.determinant([[cleared[i][j] for j in chosen] for i in chosen])
            if minor is not None:
                yield from ring.linear_factors(minor)


class Extended:
    """Polynomials in the field's symbols and some unknowns."""

    def __init__(self, field: Field, unknowns: int):
        self.field, self.count, self.unknowns = field, len(field.signs), unknowns
        self.context = fmpz_mpoly_ctx.get(("x", self.count + unknowns), "lex")
        self.factors = [*self.context.gens()[self.count :], self.context.constant(1)]

    def cleared(self, matrix: Sequence[Sequence[Affine]]) -> list[list[fmpz_mpoly]]:
        """The matrix as polynomials, times a common denominator."""
        below = common_denominator([x for row in matrix for entry in row for x in entry])
        return [[self._polynomial(entry, below) for entry in row] for row in matrix]

    def _polynomial(self, entry: Affine, below: fmpz_mpoly) -> fmpz_mpoly:
        parts = [
            (x.above * (below / x.below)).project_to_context(self.context) * f
            for x, f in zip(entry, self.factors, strict=True)
        ]
        return sum(parts, self.context.constant(0))

    def determinant(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly | None:
        """By the first row; None for a block matrix, whose blocks are minors of their own, and for a large result."""
        if not _is_connected(matrix):
            return None
        total = self._expanded(matrix)
        return total if len(total) <= MOST_TERMS else None

    def _expanded(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly:
        if len(matrix) == 1:
            return matrix[0][0]
        total = self.context.constant(0)
        for j, x in enumerate(matrix[0]):
            if x:
                rest = self._expanded([[row[k] for k in range(len(matrix)) if k != j] for row in matrix[1:]])
                total = total + (x * rest if j % 2 == 0 else -x * rest)
        return total

    def linear_factors(self, of: fmpz_mpoly) -> Iterator[tuple[Scalar, ...]]:
        """The factors that are linear in the unknowns, as equations."""
        if not of or not any(map(int, of.degrees()[self.count :])):
            return
        for factor, _ in sorted(of.factor()[1], key=lambda pair: -int(pair[1])):
            powers = {tuple(map(int, m[self.count :])) for m in factor.to_dict()}
            if max(map(sum, powers)) == 1:
                zero, row, rest = self.context.constant(0), list[fmpz_mpoly](), factor
                for place in range(self.count, self.count + self.unknowns):
                    parts = by_powers(rest, place)
                    rest = parts.get(0, zero)
                    row.append(parts.get(1, zero))
                own = (x.project_to_context(self.field.context) for x in (*row, -rest))
                yield tuple(Scalar(x, self.field.one, self.field) for x in own)


def _is_connected(matrix: list[list[fmpz_mpoly]]) -> bool:
    seen, waiting = {0}, [0]
    while waiting:
        i = waiting.pop()
        for j, x in enumerate(matrix[i]):
            if x and j not in seen:
                seen.add(j)
                waiting.append(j)
    return len(seen) == len(matrix)
