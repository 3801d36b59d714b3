"""Two squares a‖u + t·v‖² + e‖v‖² with a long divisor, as the quadratic form a‖u‖² + 2b⟨u, v⟩ + d‖v‖² that they are.

By completing the square, t = b/a and e = d − b²/a have the divisor a. What makes the form ≥ 0 has not: a, d and
a·d − b² are. Rocq then needs no identity with the divisor in it, which takes `field` seconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from fedconvex.claims.terms import Number, Vector, inner, number
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.terms import divided

LONG = 10  # terms of a divisor, with which `field` takes seconds


@final
@dataclass(frozen=True)
class TwoSquares:
    """a‖u‖² + 2b⟨u, v⟩ + d‖v‖²."""

    u: Vector
    v: Vector
    a: Number
    b: Number
    d: Number

    @property
    def difference(self) -> Number:
        """The form itself, which is ≥ 0."""
        return (
            self.a * inner(self.u, self.u) + number(2) * self.b * inner(self.u, self.v) + self.d * inner(self.v, self.v)
        )

    @property
    def signs(self) -> tuple[Number, Number, Number]:
        """What has to be ≥ 0."""
        return self.a, self.d, self.a * self.d - self.b**2


Squares = list[tuple[Number, Vector]]


def with_forms(squares: Squares, parameters: SettingParameters) -> tuple[Squares, list[TwoSquares]]:
    """The other squares, and a form for every two that have a long divisor. Raises Missing."""
    left, forms = list(squares), []
    for first, second, t, u in _pairs(squares, parameters):
        if second not in left:  # a part of another form
            continue
        a, v, e = first[0], second[1], second[0]
        b = parameters.value(a) * parameters.value(t)
        d = b * parameters.value(t) + parameters.value(e)
        forms.append(TwoSquares(u, v, a, divided(b), divided(d)))
        left.remove(first)
        left.remove(second)
    return left, forms


def _pairs(
    squares: Squares, parameters: SettingParameters
) -> Iterator[tuple[tuple[Number, Vector], tuple[Number, Vector], Number, Vector]]:
    """The squares of u + t·v and of v, t, and u, where t has a long divisor."""
    for first in squares:
        match first[1].head, first[1].args:
            case "+", (u, Vector("*", (Number() as t, v))) if is_of_parameters(t):
                second = next((s for s in squares if s[1] == v), None)
                if second is None or not all(map(is_of_parameters, (first[0], second[0]))):
                    continue
                if len(parameters.value(t).below) >= LONG:
                    yield first, second, t, u
