"""Rational functions through exact values: found by linear algebra, confirmed at points that were left out."""

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

from flint import fmpq_mat, nmod_mat

from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import at

SPARE = 6  # points beyond those that determine the function
AGREE = 0.9  # share of points that must agree: multipliers are not unique everywhere, so that some points may differ
LARGEST = 8  # degree of numerator and denominator
PRIME = 2**61 - 1  # a matrix that is regular modulo this prime is regular

Point = Sequence[Any]  # flint's rationals


def fitted(field: Any, points: Sequence[Point], values: Sequence[Any]) -> Any:
    """The p/q with the fewest coefficients that has p(x) = value · q(x) at nearly all points; None if none is found.

    Every pair of degrees is tried on a few random choices of points, as long as SPARE points remain to confirm it.
    """
    variables = len(field.gens)
    degrees = [(p, q) for p in range(LARGEST + 1) for q in range(LARGEST + 1)]
    sizes = {(p, q): len(monomials(variables, p)) + len(monomials(variables, q)) for p, q in degrees}
    pairs = list(zip(points, values, strict=True))
    for p, q in sorted(degrees, key=lambda pair: (sizes[pair], pair)):
        if sizes[p, q] + SPARE > len(points):
            return None
        for seed in range(3):
            chosen = Random(seed).sample(pairs, sizes[p, q])
            found = _through(field, chosen, monomials(variables, p), monomials(variables, q))
            if found is not None and sum(_agrees(found, *pair) for pair in pairs) >= AGREE * len(pairs):
                return found
    return None


def monomials(variables: int, degree: int) -> list[tuple[int, ...]]:
    """The exponents of all monomials up to a total degree."""
    return [powers for powers in product(range(degree + 1), repeat=variables) if sum(powers) <= degree]


def _through(field: Any, pairs: Sequence[tuple[Point, Any]], above: Any, below: Any) -> Any:
    """A quotient of polynomials with these monomials that takes the values; None without one."""
    rows = [[*(_power(point, m) for m in above), *(-value * _power(point, m) for m in below)] for point, value in pairs]
    if _is_regular(rows):
        return None
    solution = _kernel(fmpq_mat(rows))
    if solution is None:
        return None
    numerator = field.ring.from_dict({m: c for m, c in zip(above, solution, strict=False) if c})
    denominator = field.ring.from_dict({m: c for m, c in zip(below, solution[len(above) :], strict=True) if c})
    return field.new(numerator, denominator) if denominator else None


def _is_regular(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the square matrix is regular modulo a prime: a fast proof that it is regular, so that nothing fits."""
    residues = [[int(x.p) % PRIME * pow(int(x.q), -1, PRIME) % PRIME for x in row] for row in rows]
    return bool(nmod_mat(residues, PRIME).rank() == len(rows))


def _agrees(candidate: Any, point: Point, value: Any) -> bool:
    try:
        return bool(at(candidate, point) == value)
    except ZeroDivisionError:
        return False


def _power(point: Point, exponents: tuple[int, ...]) -> Any:
    total = ONE
    for x, e in zip(point, exponents, strict=True):
        total *= x**e
    return total


def _kernel(matrix: Any) -> list[Any] | None:
    """A nonzero vector in the kernel of the matrix; None where there is none."""
    reduced, rank = matrix.rref()
    columns = reduced.ncols()
    if rank == columns:
        return None
    pivots = [next(j for j in range(columns) if reduced[i, j] != 0) for i in range(rank)]
    free = next(j for j in range(columns) if j not in pivots)
    solution = [ZERO] * columns
    solution[free] = ONE
    for row, pivot in enumerate(pivots):
        solution[pivot] = -reduced[row, free]
    return solution
