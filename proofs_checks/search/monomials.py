"""Numbers at samples as products of powers of the factors that occur in the claim's coefficients."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.search.scalars import factors, power

SPARE = 3  # samples beyond those that determine the exponents
LARGEST_EXPONENT = 4
LARGEST_DENOMINATOR = 12
ACCURACY = 2e-3  # of exponents, and of logarithms


def positive_factors(coefficients: Iterable[Any], field: Field) -> list[Scalar]:
    """The different factors of numerators and denominators that the conditions show to be positive or nonnegative."""
    found = {str(f.above): f for c in coefficients if isinstance(c, Scalar) and c for f, _ in factors(c)}
    signed = [x if field.is_nonnegative(x) else -x for _, x in sorted(found.items(), key=itemgetter(0))]
    return [x for x in signed if field.is_nonnegative(x)]


def product_of_powers(
    values: Sequence[float], atoms: Sequence[Sequence[float]], given: Sequence[Scalar]
) -> Scalar | None:
    """c Π factor^n with integers n and a simple fraction c, that has these values; None without one.

    Exponents are determined by least squares of logarithms. `atoms` are the values of the given factors at each sample.
    """
    usable = [(v, row) for v, row in zip(values, atoms, strict=True) if v > 1e-7 and min(row, default=1.0) > 0]
    if len(usable) < len(given) + 1 + SPARE:
        return None
    left = np.log(np.array([row for _, row in usable])).reshape(len(usable), -1)
    matrix = np.column_stack([left, np.ones(len(usable))])
    right = np.log([v for v, _ in usable])
    solution, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=None)
    if rank < matrix.shape[1]:
        return None
    exponents = np.round(solution[:-1])
    constant = Fraction(float(np.exp(np.median(right - left @ exponents)))).limit_denominator(LARGEST_DENOMINATOR)
    if constant <= 0 or np.abs(exponents).max(initial=0) > LARGEST_EXPONENT:
        return None
    if np.abs(left @ exponents + np.log(float(constant)) - right).max() > ACCURACY:
        return None
    if not given:
        return None
    found = given[0].field.scalar(constant)
    for factor, n in zip(given, exponents, strict=True):
        found = found * power(factor, int(n))
    return found
