"""Rational functions through exact values: found by linear algebra, confirmed at points that were left out."""

from collections.abc import Sequence
from itertools import product, repeat
from math import lcm, prod
from random import Random
from typing import Any

from flint import nmod_mat

from fedconvex.arithmetic.linear_systems import kernel
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE
from fedconvex.proofs_checks.worst_cases.theorems.points import Point, coordinates
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Functions, at

SPARE = 6  # points beyond those that determine the function
AGREE = 0.9  # share of points that must agree: multipliers are not unique everywhere, so that some points may differ
LARGEST = 8  # degree of numerator and denominator
PRIME = 2**61 - 1  # a matrix that is regular modulo this prime is regular

Coordinates = Sequence[Any]  # flint's rationals


def formulas(points: Sequence[Point], rows: Sequence[Sequence[Any]]) -> tuple[list[Any], list[bool]] | None:
    """Formulas in the points' symbols for all columns of rows, a row a point, and at which points all are right.

    None where a column has no formula.
    """
    functions, found = Functions(points[0]), []
    numbers, table = [coordinates(point) for point in points], [[to_fmpq(x) for x in row] for row in rows]
    for column in zip(*table, strict=True):
        function = fitted(functions.field, numbers, column)
        if function is None:
            return None
        found.append(function)
    right = [all(map(_agrees, found, repeat(at_point), row)) for at_point, row in zip(numbers, table, strict=True)]
    return [functions.factored(function) for function in found], right


def fitted(field: Field, points: Sequence[Coordinates], values: Sequence[Any]) -> Scalar | None:
    """The p/q with the fewest coefficients that has p(x) = value · q(x) at nearly all points; None if none is found.

    Every pair of degrees is tried on a few random choices of points, as long as SPARE points remain to confirm it.
    """
    variables = len(field.signs)
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


def _through(field: Field, pairs: Sequence[tuple[Coordinates, Any]], above: Any, below: Any) -> Scalar | None:
    """A quotient of polynomials with these monomials that takes the values; None without one."""
    rows = []
    for point, value in pairs:
        over, under = ([prod(map(pow, point, m), start=ONE) for m in part] for part in (above, below))
        rows.append([*over, *(-value * x for x in under)])
    if _is_regular(rows) or not (solutions := kernel(rows, len(rows))):
        return None
    common = lcm(*(int(c.q) for c in solutions[0]))
    whole = [int(c * common) for c in solutions[0]]
    numerator, denominator = (
        field.context.from_dict({m: c for m, c in zip(part, own, strict=True) if c})
        for part, own in ((above, whole[: len(above)]), (below, whole[len(above) :]))
    )
    return field.made(numerator, denominator) if denominator else None


def _is_regular(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the square matrix is regular modulo a prime: a fast proof that it is regular, so that nothing fits."""
    residues = [[int(x.p) % PRIME * pow(int(x.q), -1, PRIME) % PRIME for x in row] for row in rows]
    return bool(nmod_mat(residues, PRIME).rank() == len(rows))


def _agrees(candidate: Any, point: Coordinates, value: Any) -> bool:
    try:
        return bool(at(candidate, point) == value)
    except ZeroDivisionError:
        return False
