"""Closed forms in the number e of local steps and the number i of those before: Σ c·q^{αe + βi}·e^a·i^b.

The exponents are found at numbers, by linear algebra on more values than there are unknowns; the coefficients, which
are rational functions of the parameters, then follow from few values that are such functions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

from fedconvex.arithmetic.linear_systems import echelon
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO

Exponents = tuple[int, int, int, int]  # α, β, a, b
Place = tuple[int, int]  # e, i
SPARE = 3  # values beyond those that determine the coefficients
POLYNOMIALS: tuple[tuple[tuple[int, int], ...], ...] = (
    ((0, 0),),
    ((0, 0), (1, 0), (0, 1)),
    ((0, 0), (-1, 0), (-2, 0)),
    ((0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)),
    ((0, 0), (-1, 0), (-1, 1), (-2, 0), (-2, 1), (-2, 2)),
)  # powers of e and i
WITHOUT_STEP: tuple[tuple[tuple[int, int], ...], ...] = (
    tuple((a, 0) for a in (0,)), tuple((a, 0) for a in (-2, -1, 0, 1, 2)),
)  # fmt: skip
POWERS = ((0, 0), (1, -1), (2, -2)), tuple((alpha, beta) for alpha in range(3) for beta in range(-2, 3))


@final
@dataclass(frozen=True)
class SumOfPowers:
    """Coefficients by exponents; those of 0 are left out."""

    terms: Mapping[Exponents, Any]

    def at(self, count: Any, step: Any, whole: Any, part: Any) -> Any:
        """The value for e, i, q^e and q^i."""
        total = ZERO
        for (alpha, beta, a, b), c in self.terms.items():
            total = total + c * whole**alpha * part**beta * count**a * step**b
        return total

    def with_coefficients(self, values: Mapping[Place, Any], q: Any) -> "SumOfPowers | None":
        """The same exponents with coefficients that give these values; None where no coefficients do."""
        found = _solved(list(self.terms), values, q)
        return None if found is None else SumOfPowers({x: c for x, c in found.items() if c})

    @property
    def size(self) -> int:
        return len(self.terms)


def closed_form(values: Mapping[Place, Any], q: Any) -> SumOfPowers | None:
    """The closed form with these values, at numbers; None where none of the forms fits with values to spare."""
    if not any(values.values()):
        return SumOfPowers({})
    for exponents in _bases(values):
        if len(exponents) + SPARE > len(values):
            continue
        found = _solved(exponents, values, q)
        if found is not None:
            return SumOfPowers({x: c for x, c in found.items() if c})
    return None


def _bases(values: Mapping[Place, Any]) -> Iterable[list[Exponents]]:
    if all(i == 0 for _, i in values):
        for polynomial, most in product(WITHOUT_STEP, (0, 2)):
            yield [(alpha, 0, a, b) for alpha in range(most + 1) for a, b in polynomial]
        return
    for powers, polynomial in product(POWERS, POLYNOMIALS):
        yield [(alpha, beta, a, b) for alpha, beta in powers for a, b in polynomial]


def _solved(exponents: Sequence[Exponents], values: Mapping[Place, Any], q: Any) -> dict[Exponents, Any] | None:
    """The coefficients, if they are unique."""
    rows = [[*(_value(q, place, x) for x in exponents), c] for place, c in values.items()]
    reduced, pivots = echelon(rows, len(exponents) + 1)
    if pivots != list(range(len(exponents))):
        return None
    return {x: row[len(exponents)] for x, row in zip(exponents, reduced, strict=False)}


def _value(q: Any, place: Place, exponents: Exponents) -> Any:
    (e, i), (alpha, beta, a, b) = place, exponents
    return q ** (alpha * e + beta * i) * (ONE * e) ** a * (ONE * i) ** b
