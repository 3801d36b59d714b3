"""Rational functions of parameters that act as numbers, so that a method's code runs with symbolic parameters.

Where the code compares two of them, their values at a sample decide, and the comparison is recorded: the result is true
for all parameters at which every comparison turns out the same way.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from operator import itemgetter
from typing import Any, final

import sympy
from flint import fmpq, fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.arithmetic.rationals import ExactNumber, to_fmpq
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, number
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.search.scalars import number_of

LARGEST = 1000  # number under a root
NEAR = 1e-9  # a difference that floats do not decide


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
        """A rational expression in the parameters as a number; a number as such."""
        if isinstance(expression, Parametric):
            return expression
        if isinstance(expression, Fraction | fmpq):
            return Parametric(self.field(to_fmpq(expression)), self)
        return Parametric(self.field.from_sympy(sympy.sympify(expression)), self)

    @property
    def numbers(self) -> dict[str, "Parametric"]:
        """The parameters themselves, by name."""
        return {str(symbol): self.number(symbol) for symbol in self.sample}

    @property
    def compared(self) -> list["Parametric"]:
        """What the comparisons so far say is nonnegative."""
        return [self.number(r.gts - r.lts) for r in self.comparisons]

    def domain(self, relations: Iterable[Any]) -> Field:
        """The kernel's functions of the parameters, with their signs where these relations hold."""
        signs = {str(symbol): "positive" for symbol in self.sample}
        return SettingParameters(ClaimSetting(signs=signs, conditions=self.conditions(relations))).field

    def conditions(self, relations: Iterable[Any]) -> tuple[tuple[Number, str, Number], ...]:
        """The relations in the claim language."""
        strict = (sympy.Gt, sympy.Lt)
        sides = ((*self._sides(r), ">" if isinstance(r, strict) else ">=") for r in relations)
        return tuple((larger, relation, smaller) for larger, smaller, relation in sides)

    def _sides(self, relation: Any) -> tuple[Number, Number]:
        """The larger and the smaller side; √2·x and 1 in the place of 2x² and 1, from which more signs follow."""
        difference = sympy.expand(relation.gts - relation.lts)
        terms = sorted((term.as_coeff_Mul() for term in sympy.Add.make_args(difference)), key=itemgetter(0))
        if [c > 0 for c, _ in terms] == [False, True]:
            roots = [(abs(c), sympy.sqrt(x)) for c, x in terms]
            if all(x.is_rational_function() and max(c.p, c.q) <= LARGEST for c, x in roots):
                smaller, larger = (number(Fraction(c.p, c.q)).sqrt() * self.number(x).term for c, x in roots)
                return larger, smaller
        return self.number(relation.gts).term, self.number(relation.lts).term

    def function(self, x: Any) -> "RationalFunction":
        """The rational function that a number is."""
        return RationalFunction.of_function(x.value if isinstance(x, Parametric) else self.field(to_fmpq(x)))

    def functions(self, numbers: Iterable[Any]) -> list["RationalFunction"]:
        """Those of several numbers, each once."""
        return [self.function(x) for x in dict.fromkeys(numbers)]

    def expression(self, polynomials: Iterable["RationalFunction"]) -> Any:
        """Their product as a SymPy expression."""
        return sympy.Mul(*(_expression(x.above, self.field.field.ring) for x in polynomials))


@final
@dataclass(frozen=True, eq=False)
class RationalFunction:
    """Polynomials of FLINT, which factors them far faster than SymPy, with integer coefficients."""

    above: fmpz_mpoly
    below: fmpz_mpoly

    @classmethod
    def of_function(cls, function: Any) -> "RationalFunction":
        """An element of a SymPy field."""
        coefficients = [c for part in (function.numer, function.denom) for c in part.coeffs()]
        common = lcm(*(int(c.denominator) for c in coefficients))
        context = fmpz_mpoly_ctx.get(("x", function.field.ngens), "lex")
        whole = ({m: int(c * common) for m, c in part.terms()} for part in (function.numer, function.denom))
        return cls(*map(context.from_dict, whole))

    def of(self, field: Field) -> Scalar:
        """The same among the kernel's functions, whose first symbols are the parameters."""
        return field.made(*(_in(field, part) for part in (self.above, self.below)))

    @property
    def factors(self) -> list[tuple["RationalFunction", int]]:
        """The irreducible factors with their powers."""
        one = self.above * 0 + 1
        powers = [*self.above.factor()[1], *((f, -n) for f, n in self.below.factor()[1])]
        return [(RationalFunction(factor, one), int(n)) for factor, n in powers]


def _in(field: Field, polynomial: fmpz_mpoly) -> fmpz_mpoly:
    more = (0,) * (len(field.signs) - polynomial.context().nvars())
    return field.context.from_dict({(*m, *more): c for m, c in polynomial.to_dict().items()})


def factored(function: Any) -> Any:
    """An element of a SymPy field as a product of powers of irreducible polynomials, an expression."""
    of, ring = RationalFunction.of_function(function), function.field.ring
    if not of.above:
        return sympy.Integer(0)
    (above, over), (below, under) = of.above.factor(), of.below.factor()
    product = sympy.Mul(*(_expression(f, ring) ** n for f, n in (*over, *((f, -n) for f, n in under))))
    number = sympy.Rational(int(above), int(below))
    # SymPy would distribute a number over a single sum; the factored form is wanted.
    return sympy.Mul(number, product, evaluate=not product.is_Add or number == 1)


def _expression(polynomial: fmpz_mpoly, ring: Any) -> Any:
    return ring.from_dict({m: sympy.QQ(int(c)) for m, c in polynomial.to_dict().items()}).as_expr()


def at(expression: Any, values: Iterable[Any]) -> Any:
    """The value of a rational function, an element of a SymPy field, at a point."""
    point = list(zip(expression.field.ring.gens, values, strict=True))
    return expression.numer.evaluate(point) / expression.denom.evaluate(point)


@final
class Region:
    """The points with positive coordinates at which relations between rational functions hold."""

    def __init__(self, symbols: Sequence[Any], relations: Iterable[Any]):
        functions = sympy.QQ.frac_field(*symbols)
        self._sides = [(functions.from_sympy(r.lhs - r.rhs), _SIGNS[r.rel_op]) for r in relations]
        self._floats = [sympy.lambdify(symbols, r.gts - r.lts, modules=[]) for r in relations]

    def is_far_from(self, values: Iterable[Any]) -> bool:
        """Whether floats say that the point is outside, which takes a fraction of the time of exact numbers."""
        try:
            return any(side(*map(float, values)) < -NEAR for side in self._floats)
        except ZeroDivisionError:
            return True

    def __contains__(self, values: Iterable[Any]) -> bool:
        point = [to_fmpq(value) for value in values]
        try:
            return all(x > 0 for x in point) and all(holds(at(side, point)) for side, holds in self._sides)
        except ZeroDivisionError:  # a side is undefined there
            return False


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
        return factored(self.value)

    @property
    def term(self) -> Number:
        """The function in the claim language."""
        return number_of(self.of.function(self).of(self.of.domain(())))

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
