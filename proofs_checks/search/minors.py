"""Values of one open multiplier at which a principal minor of the remaining quadratic form vanishes.

Where a proof is tight, only one value of the multiplier leaves a form ≥ 0. That form is singular: a minor has a root
there, as a polynomial in the multiplier, and a double one where no interval of values is possible.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from flint import fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.proofs_checks.kernel.scalars import Field, Refused, Scalar

LARGEST = 4  # minors
MOST_TERMS = 4000  # of a minor that is factored
Affine = tuple[Scalar, Scalar]  # constant, and coefficient of the multiplier


def roots_of_minors(matrix: Sequence[Sequence[Affine]], field: Field) -> Iterator[Scalar]:
    """The roots that are functions of the parameters, from smaller minors first; double roots of a minor first."""
    ring = Extended(field)
    cleared = ring.cleared(matrix)
    for size in range(1, LARGEST + 1):
        for chosen in combinations(range(len(matrix)), size):
            minor = ring.determinant([[cleared[i][j] for j in chosen] for i in chosen])
            if minor is not None:
                yield from ring.roots(minor)


class Extended:
    """Polynomials in the field's symbols and one more."""

    def __init__(self, field: Field):
        self.field, self.count = field, len(field.signs)
        self.context = fmpz_mpoly_ctx.get(("x", self.count + 1), "lex")
        self.unknown = self.context.gens()[-1]

    def lifted(self, of: fmpz_mpoly) -> fmpz_mpoly:
        terms = {(*map(int, powers), 0): int(c) for powers, c in of.to_dict().items()}
        return self.context.from_dict(terms)

    def cleared(self, matrix: Sequence[Sequence[Affine]]) -> list[list[fmpz_mpoly]]:
        """The matrix as polynomials, times a common denominator."""
        below = self.field.one
        for row in matrix:
            for x in (x for entry in row for x in entry):
                below = below * (x.below / below.gcd(x.below))
        return [[self.lifted(a.above * (below / a.below)) + self.lifted(b.above * (below / b.below)) * self.unknown
                 for a, b in row] for row in matrix]  # fmt: skip

    def determinant(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly | None:
        """By the first row; None for a block matrix, whose blocks are minors of their own, and for a large result."""
        size = len(matrix)
        if not _is_connected(matrix):
            return None
        if size == 1:
            return matrix[0][0]
        total = self.context.constant(0)
        for j, x in enumerate(matrix[0]):
            if x:
                rest = self._any_determinant([[row[k] for k in range(size) if k != j] for row in matrix[1:]])
                total = total + (x * rest if j % 2 == 0 else -x * rest)
        return total if len(total) <= MOST_TERMS else None

    def _any_determinant(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly:
        if len(matrix) == 1:
            return matrix[0][0]
        total = self.context.constant(0)
        for j, x in enumerate(matrix[0]):
            if x:
                rest = self._any_determinant([[row[k] for k in range(len(matrix)) if k != j] for row in matrix[1:]])
                total = total + (x * rest if j % 2 == 0 else -x * rest)
        return total

    def roots(self, of: fmpz_mpoly) -> Iterator[Scalar]:
        """The roots of the factors that are linear in the unknown."""
        if not of or int(of.degrees()[-1]) == 0:
            return
        for factor, _ in sorted(of.factor()[1], key=lambda pair: -int(pair[1])):
            if int(factor.degrees()[-1]) == 1:
                parts: list[dict[tuple[int, ...], int]] = [{}, {}]
                for powers, c in factor.to_dict().items():
                    parts[int(powers[-1])][tuple(int(n) for n in powers[:-1])] = int(c)
                constant, linear = (self.field.context.from_dict(part) for part in parts)
                try:
                    yield self.field.made(-constant, linear)
                except Refused:
                    continue


def _is_connected(matrix: list[list[fmpz_mpoly]]) -> bool:
    seen, waiting = {0}, [0]
    while waiting:
        i = waiting.pop()
        for j, x in enumerate(matrix[i]):
            if x and j not in seen:
                seen.add(j)
                waiting.append(j)
    return len(seen) == len(matrix)
