"""Rational functions of parameters that act as numbers, so that a method's code runs with symbolic parameters.

Where the code compares two of them, their values at a sample decide, and the comparison is recorded: the result is true
for all parameters at which every comparison turns out the same way.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import sympy
from flint import fmpq

from fedconvex.arithmetic.rationals import ExactNumber, to_fmpq
from fedconvex.proofs_checks.engines.algebra import factored


@final
@dataclass(eq=False)
class Parameters:
    """Symbols, the sample that decides comparisons, and the comparisons so far, as relations."""

    sample: Mapping[Any, Fraction]  # by symbol
    comparisons: dict[Any, None] = field(default_factory=dict)  # as an ordered set

    def __post_init__(self) -> None:
        self.field = sympy.QQ.frac_field(*self.sample)
        self.values = [to_fmpq(value) for value in self.sample.values()]

    def number(self, expression: Any) -> "Parametric":
        """A rational expression in the parameters as a number."""
        return Parametric(self.field.from_sympy(sympy.sympify(expression)), self)

    @property
    def numbers(self) -> dict[str, "Parametric"]:
        """The parameters themselves, by name."""
        return {str(symbol): self.number(symbol) for symbol in self.sample}


def at(expression: Any, values: Iterable[Any]) -> Any:
    """The value of a rational function, an element of a SymPy field, at a point."""
    point = list(zip(expression.field.ring.gens, values, strict=True))
    return expression.numer.evaluate(point) / expression.denom.evaluate(point)


@final
class Region:
    """The points with positive coordinates at which relations between rational functions hold."""

    def __init__(self, symbols: Iterable[Any], relations: Iterable[Any]):
        functions = sympy.QQ.frac_field(*symbols)
        self._sides = [(functions.from_sympy(r.lhs - r.rhs), _SIGNS[r.rel_op]) for r in relations]

    def __contains__(self, values: Iterable[Any]) -> bool:
        point = [to_fmpq(value) for value in values]
        return all(x > 0 for x in point) and all(holds(at(side, point)) for side, holds in self._sides)


_SIGNS: Mapping[str, Callable[[Any], bool]] = {
    ">": lambda x: x > 0, ">=": lambda x: x >= 0, "<": lambda x: x < 0, "<=": lambda x: x <= 0,
}  # fmt: skip


@final
@dataclass(frozen=True, eq=False)
class Parametric(ExactNumber):
    """A rational function of the parameters."""

    value: Any  # an element of the parameters' field
    of: Parameters

    @property
    def expression(self) -> Any:
        """The function as a SymPy expression, factored."""
        return factored(self.value.as_expr())

    @property
    def sampled(self) -> Any:
        """Its value at the sample."""
        return at(self.value, self.of.values)

    def __add__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, exponent: int) -> "Parametric":
        return Parametric(self.value**exponent, self.of)

    def __neg__(self) -> "Parametric":
        return Parametric(-self.value, self.of)

    def __bool__(self) -> bool:
        """Whether it is not the zero function."""
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same function of the parameters."""
        converted = self._converted(other)
        return converted is not None and bool(self.value == converted)

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, sympy.Lt, sympy.Ge)

    def __le__(self, other: Any) -> bool:
        return self._compared(other, sympy.Le, sympy.Gt)

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, sympy.Gt, sympy.Le)

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, sympy.Ge, sympy.Lt)

    def __repr__(self) -> str:
        return str(self.expression)

    def _converted(self, other: Any) -> Any:
        """The other number in the same field; None for anything else."""
        if isinstance(other, Parametric):
            return other.value
        if isinstance(other, int | Fraction | fmpq):
            return self.of.field(to_fmpq(other))
        return None

    def _with(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        converted = self._converted(other)
        return NotImplemented if converted is None else Parametric(operation(self.value, converted), self.of)

    def _compared(self, other: Any, relation: Any, opposite: Any) -> bool:
        converted = self._converted(other)
        if converted is None:
            raise TypeError(f"{self} is compared with {other!r}")
        # Decided at the sample, and recorded as a condition under which all that follows is true.
        difference = self.value - converted
        holds = bool(relation(_number(at(difference, self.of.values)), 0))
        seen = (relation if holds else opposite)(difference.as_expr(), 0)
        if seen not in (True, sympy.true):
            self.of.comparisons[seen] = None
        return holds


def _number(x: Any) -> Any:
    return sympy.Rational(int(x.p), int(x.q))
