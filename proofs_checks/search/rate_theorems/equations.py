"""The equations that a Lyapunov function and its multipliers satisfy, as functions of the parameters.

    rate·V − V⁺ = Σ λ_i I_i + (a form that is >= 0)

Function values cancel, and the form vanishes on the vectors that attain the rate. These equations are linear in V's
entries and in the multipliers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.arithmetic.linear_systems import echelon
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, PosedRound
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import normalised, without_values
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    ONE,
    ZERO,
    Family,
    Form,
    Indefinite,
    Key,
    combination,
    squares,
)
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import at

Unknown = Pair | str  # an entry of V's matrices, or an inequality by name


@final
@dataclass(eq=False)
class Equations:
    """Of some unknowns, with those that are settled.

    Args:
        posed: the round, with functions of parameters as numbers.
        rate: the factor by which V contracts.
        zeros: the vectors that attain it.
        support: the names of the inequalities that are used.
    """

    posed: PosedRound
    rate: Any
    zeros: Sequence[Mapping[Key, Any]]
    support: Sequence[str]
    known: dict[Unknown, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known[normalised(self.posed)] = ONE

    @property
    def unknowns(self) -> list[Unknown]:
        """V's entries, then the multipliers."""
        return [*self.posed.pairs, *self.support]

    def settle(self) -> bool:
        """Adds what the equations determine to what is known; False where they contradict each other."""
        open_ones = [x for x in self.unknowns if x not in self.known]
        width = len(open_ones)
        left = self.rest({x: c for x, c in self.known.items() if c})
        forms = {x: self.rest({x: ONE}) for x in open_ones}
        rows = [[*(_entry(forms[x], what) for x in open_ones), -_entry(left, what)] for what in self._conditions()]
        reduced, pivots = echelon(rows, width + 1)
        if width in pivots:
            return False
        for row, pivot in zip(reduced, pivots, strict=True):
            if not any(row[j] for j in range(width) if j != pivot):
                self.known[open_ones[pivot]] = row[width]
        return True

    @property
    def open(self) -> list[Unknown]:
        """The unknowns that are not settled."""
        return [x for x in self.unknowns if x not in self.known]

    def rest(self, numbers: Mapping[Unknown, Any]) -> Form:
        """rate·V − V⁺ − Σ λ_i I_i."""
        pairs = {x: c for x, c in numbers.items() if not isinstance(x, str)}
        forms = dict(self.posed.inequalities)
        return combination(
            (self.rate, self.posed.form(pairs)), (-ONE, self.posed.form(pairs, after=True)),
            *((-c, forms[x]) for x, c in numbers.items() if isinstance(x, str)),
        )  # fmt: skip

    def completed(self) -> "Completed | None":
        """What all unknowns are, with the form that is left as squares; None where it takes both signs."""
        rest = self.rest({x: c for x, c in self.known.items() if c})
        entries = {pair: self.known[pair] for pair in self.posed.pairs}
        least = without_values(self.posed, entries)
        try:
            left, measured = (squares(form, gradients_first) for form in (rest, least))
        except Indefinite:
            return None
        if len(measured) < len({*self._coordinates, *(key for pair in least.products for key in pair)}):
            return None
        multipliers = {name: self.known[name] for name in self.support if self.known[name]}
        return Completed(entries, multipliers, left, measured)

    @property
    def _coordinates(self) -> list[Key]:
        """The basic vectors that are the state's coordinates."""
        return [key for u in self.posed.before.values() for key in u.parts]

    def _conditions(self) -> list[Any]:
        """What must vanish: the coefficient of a value, by name; the form's product of a basic vector and a zero."""
        forms = [form for _, form in self.posed.inequalities] + [
            self.posed.form({pair: ONE}, after) for pair in self.posed.pairs for after in (False, True)
        ]
        keys = sorted({key for form in forms for pair in form.products for key in pair})
        names = sorted({name for form in forms for name in form.values})
        return [*names, *((key, zero) for zero in self.zeros for key in keys)]


@final
@dataclass(frozen=True, eq=False)
class Completed:
    """V's entries, the multipliers, the squares that are left of rate·V − V⁺, and V as squares, of all coordinates.

    Numbers are functions of the parameters.
    """

    entries: Mapping[Pair, Any]
    multipliers: Mapping[str, Any]
    squares: Sequence[tuple[Any, Family]]
    measured: Sequence[tuple[Any, Family]]

    @property
    def positive(self) -> list[Any]:
        """What must be positive, so that V is positive definite: the weights of its squares."""
        return [weight for weight, _ in self.measured]

    @property
    def signed(self) -> list[Any]:
        """What must be nonnegative: multipliers, weights of squares, and the inverses of V's."""
        return [*self.multipliers.values(), *(weight for weight, _ in self.squares), *(1 / x for x in self.positive)]

    @property
    def defined(self) -> list[Any]:
        """What must have denominators other than 0, too."""
        return [*self.entries.values(), *(c for _, u in (*self.squares, *self.measured) for c in u.parts.values())]

    def proves_at(self, point: Sequence[Any]) -> bool:
        """Whether all signs are right at these parameters, exactly."""
        try:
            return all(at(c, point) >= 0 for c in self.signed)
        except ZeroDivisionError:
            return False


def _entry(form: Form, what: Any) -> Any:
    """The coefficient of a value in a form, or twice the form's product of a basic vector and another vector."""
    if isinstance(what, str):
        return form.values.get(what, ZERO)
    key, vector = what
    total = ZERO
    for (a, b), c in form.products.items():
        if a == key:
            total = total + c * vector.get(b, ZERO)
        if b == key:
            total = total + c * vector.get(a, ZERO)
    return total


def gradients_first(key: Key) -> Any:
    """The turn of a vector in `squares`: those of the state, which remain, show the condition on it."""
    part, name = key
    is_gradient = name[:1] == "g" and name[1:].isdigit()
    return part, not is_gradient, -int(name[1:]) if is_gradient else 0, name
