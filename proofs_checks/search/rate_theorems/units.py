"""Units: curvatures, stepsizes and gradients in other units give the same rounds, and formulas must do so, too.

In another unit of values, curvatures, gradients and values are c times as large, stepsizes 1/c times, and points
as large as before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, final

from flint import fmpq

from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import normalised
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form, Key
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at

SCALE = fmpq(2)  # the size of the other unit
MOST_PARAMETERS = 5  # of which all combinations are tried


@final
@dataclass(frozen=True)
class Units:
    """The powers of the unit in each parameter and in each coordinate of the state."""

    parameters: tuple[int, ...]
    coordinates: Mapping[Key, int]

    def of_entry(self, pair: Pair, posed: PosedRound) -> int:
        """The power of the unit in V's entry, where that by which V is measured is 1."""
        return self._of_square(normalised(posed), posed) - self._of_square(pair, posed)

    def of_multiplier(self, posed: PosedRound) -> int:
        """That in a multiplier of an inequality, which is between function values."""
        return self._of_square(normalised(posed), posed) - 1

    def _of_square(self, pair: Pair, posed: PosedRound) -> int:
        """That of what the entry multiplies: a function value, or a product of two coordinates."""
        return (
            1 if pair == WEIGHT else sum(self.coordinates[key] for place in pair for key in posed.before[place].parts)
        )


def units_of(posed: PosedRound, parameters: Parameters) -> Units | None:
    """The units in which all inequalities are homogeneous; None where the parameters have none, as where μ is 1."""
    forms = [form for _, form in posed.inequalities]
    coordinates = sorted({key for u in posed.before.values() for key in u.parts})
    count = len(parameters.values)
    if count > MOST_PARAMETERS:
        return None
    for powers in product((0, 1, -1), repeat=count):
        scaled = [x * SCALE**p for x, p in zip(parameters.values, powers, strict=True)]
        if not any(powers):
            continue
        for own in product((0, 1), repeat=len(coordinates)):
            known = dict(zip(coordinates, own, strict=True))
            if all(_is_homogeneous(form, known, parameters.values, scaled) for form in forms):
                return Units(powers, known)
    return None


def _is_homogeneous(form: Form, known: Mapping[Key, int], values: list[Any], scaled: list[Any]) -> bool:
    """Whether the form is that many times as large in the other unit; gradients are basic vectors like coordinates."""
    try:
        return all(
            at(c, scaled) == at(c, values) * SCALE ** (1 - known.get(a, 1) - known.get(b, 1))
            for (a, b), c in form.products.items()
        )
    except ZeroDivisionError:  # a difference of parameters, of which only one has a unit
        return False
