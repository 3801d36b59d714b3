"""Rounds of which a Lyapunov function measures the objective's value at the server's point, too.

V = (a quadratic form of the state's errors) + c·(F(w) − F(x*)), c >= 0. As proofs of such a V are proofs for any number
of clients, F is the mean of their functions, and w the point that they all share.

In another unit of values, curvatures, gradients and values are c times as large, stepsizes 1/c times, and points as
large as before: the rounds are the same, and formulas must be so, too (`units_of`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, final

from flint import fmpq

from fedconvex.proofs_checks.search.lyapunov.posed_round import WEIGHT, Pair, PosedRound
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, Form, Key, combination
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters, at


def normalised(posed: PosedRound) -> Pair:
    """The entry of V that is 1, since V is only determined up to a factor: c where there is one."""
    return posed.pairs[-1] if posed.values else posed.pairs[0]


def without_values(posed: PosedRound, entries: Mapping[Pair, Any]) -> Form:
    """What V is at least, without function values: strongly convex ones grow by a quadratic from the minimiser."""
    found = posed.form(entries)
    lowest = ((c, next(f for _, f in posed.inequalities if f.values == {name: 1})) for name, c in found.values.items())
    return combination((ONE, found), *((-c, form) for c, form in lowest))


def of_valued_point(posed: PosedRound) -> list[Pair]:
    """V's entries that are about nothing but the point whose value V measures; none where it measures none."""
    if not posed.values:
        return []
    point = posed.coordinates.state(dict(posed.before)).server.parts
    places = [place for place, u in posed.before.items() if u.parts.keys() <= point.keys()]
    return [pair for pair in posed.pairs if {*pair} <= {*places}]


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
