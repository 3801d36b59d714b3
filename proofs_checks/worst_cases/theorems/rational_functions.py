"""Rational functions of parameters that act as numbers, so that a method's code runs with symbolic parameters.

Where the code compares two of them, their values at a sample decide, and the comparison is recorded: the result is true
for all parameters at which every comparison turns out the same way. The functions are the kernel's; SymPy's expressions
are what users write and read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import ge, gt, itemgetter, le, lt
from typing import Any, final

import sympy
from flint import fmpq, fmpz_mpoly

from fedconvex.arithmetic.rationals import ExactNumber, to_fmpq, to_fraction
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, number
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.search.scalars import factors, moved, number_of, polynomial_at, power, value_at

LARGEST = 1000  # number under a root
NEAR = 1e-9  # a difference that floats do not decide
# Relations between expressions, as relations between numbers; and what holds where they do not.
MEANING: Mapping[Any, Callable[[Any, Any], bool]] = {sympy.Lt: lt, sympy.Le: le, sympy.Gt: gt, sympy.Ge: ge}
OPPOSITE = {sympy.Lt: sympy.Ge, sympy.Le: sympy.Gt, sympy.Gt: sympy.Le, sympy.Ge: sympy.Lt}


@final
class Functions:
    """The rational functions of some symbols, which are positive numbers: from and to SymPy's expressions."""

    def __init__(self, symbols: Iterable[Any]):
        self.symbols = tuple(symbols)
        self.field = Field({str(symbol): "positive" for symbol in self.symbols})
        self._known = {x: self.field.symbol(str(x)) for x in self.symbols}

    def of(self, expression: Any) -> Scalar:
        """The function that an expression is. Raises ValueError where it is none."""
        x = sympy.sympify(expression)
        if x in self._known:
            return self._known[x]
        if x.is_Rational:
            return self.field.scalar(Fraction(int(x.p), int(x.q)))
        if x.is_Pow and x.exp.is_Integer:
            return power(self.of(x.base), int(x.exp))
        if not (x.is_Add or x.is_Mul):
            raise ValueError(f"{x} is no rational function of {', '.join(map(str, self.symbols))}")
        parts = iter(self.of(part) for part in x.args)
        total = next(parts)
        for part in parts:
            total = total + part if x.is_Add else total * part
        return total

    def polynomial(self, of: fmpz_mpoly) -> Any:
        """A polynomial as an expression, expanded."""
        return polynomial_at(of, self.symbols, sympy.Integer(0))

    def quotient(self, of: Scalar) -> Any:
        """A function as a quotient of expanded polynomials."""
        return value_at(of, self.symbols, sympy.Integer(0))

    def factored(self, of: Scalar) -> Any:
        """A function as a product of powers of irreducible polynomials, an expression."""
        if not of:
            return sympy.Integer(0)
        product = sympy.Mul(*(self.polynomial(f.above) ** n for f, n in factors(of)))
        content = sympy.Rational(*(int(part.factor()[0]) for part in (of.above, of.below)))
        # SymPy would distribute a number over a single sum; the factored form is wanted.
        return sympy.Mul(content, product, evaluate=not product.is_Add or content == 1)


def at(of: Any, values: Iterable[Any]) -> Any:
    """The value of a function at exact numbers, as one of flint's; of a number itself. Raises ZeroDivisionError."""
    function = of.value if isinstance(of, Parametric) else of
    return value_at(function, [to_fmpq(x) for x in values], fmpq(0)) if isinstance(function, Scalar) else of


@final
@dataclass(eq=False)
class Parameters:
    """Symbols, the sample that decides comparisons, and the comparisons so far, as relations."""

    sample: Mapping[Any, Fraction]  # by symbol
    comparisons: dict[Any, None] = field(default_factory=dict)  # as an ordered set

    def __post_init__(self) -> None:
        self.functions = Functions(self.sample)
        self.values = [to_fmpq(value) for value in self.sample.values()]

    def number(self, expression: Any) -> "Parametric":
        """A rational expression in the parameters as a number; a number, or one of fewer parameters, as such."""
        if isinstance(expression, Parametric):
            same = expression.of is self
            return expression if same else Parametric(moved(expression.value, self.functions.field), self)
        if isinstance(expression, fmpq):
            expression = to_fraction(expression)
        if isinstance(expression, Fraction):
            return Parametric(self.functions.field.scalar(expression), self)
        return Parametric(self.functions.of(expression), self)

    @property
    def numbers(self) -> dict[str, "Parametric"]:
        """The parameters themselves, by name."""
        return {str(symbol): self.number(symbol) for symbol in self.sample}

    @property
    def example(self) -> dict[str, Fraction]:
        """The sample, by name."""
        return {str(symbol): value for symbol, value in self.sample.items()}

    @property
    def compared(self) -> list["Parametric"]:
        """What the comparisons so far say is nonnegative."""
        return [self.number(r.gts - r.lts) for r in self.comparisons]

    def domain(self, relations: Iterable[Any]) -> Field:
        """The kernel's functions of the parameters, with their signs where these relations hold."""
        signs = {str(symbol): "positive" for symbol in self.sample}
        return SettingParameters(ClaimSetting(signs=signs, conditions=self.conditions(relations))).field

    def shows(self, domain: Field, x: Any, strictly: bool = False) -> bool:
        """Whether the expression, or number, is seen to be >= 0, or > 0, in a domain."""
        of = moved(self.number(x).value, domain)
        return domain.is_positive(of) if strictly else domain.is_nonnegative(of)

    def follows(self, relation: Any, domain: Field) -> bool:
        """Whether the relation is seen to hold in a domain."""
        return self.shows(domain, relation.gts - relation.lts, isinstance(relation, sympy.Gt | sympy.Lt))

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


@final
class Region:
    """The points with positive coordinates at which relations between rational functions hold."""

    def __init__(self, symbols: Sequence[Any], relations: Sequence[Any]):
        functions = Functions(symbols)
        self._sides = [(functions.of(r.lhs - r.rhs), MEANING[r.func]) for r in relations]
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
            return all(x > 0 for x in point) and all(holds(at(side, point), 0) for side, holds in self._sides)
        except ZeroDivisionError:  # a side is undefined there
            return False


def _operator(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def applied(self: "Parametric", other: Any) -> Any:
        converted = self.converted(other)
        return NotImplemented if converted is None else Parametric(operation(self.value, converted), self.of)

    return applied


def _comparison(relation: Any) -> Callable[[Any, Any], bool]:
    def applied(self: "Parametric", other: Any) -> bool:
        converted = self.converted(other)
        if converted is None:
            raise TypeError(f"{self} is compared with {other!r}")
        # Decided at the sample, and recorded as a condition under which all that follows is true.
        difference = self.value - converted
        holds = MEANING[relation](at(difference, self.of.values), 0)
        seen = (relation if holds else OPPOSITE[relation])(self.of.functions.quotient(difference), 0)
        if seen not in (True, sympy.true):
            self.of.comparisons[seen] = None
        return holds

    return applied


@final
@dataclass(frozen=True, eq=False)
class Parametric(ExactNumber):
    """A rational function of the parameters."""

    value: Scalar
    of: Parameters

    @property
    def expression(self) -> Any:
        """The function as a SymPy expression, factored."""
        return self.of.functions.factored(self.value)

    @property
    def term(self) -> Number:
        """The function in the claim language."""
        return number_of(self.value)

    @property
    def sampled(self) -> Any:
        """Its value at the sample."""
        return at(self.value, self.of.values)

    __add__ = __radd__ = _operator(lambda a, b: a + b)
    __sub__ = _operator(lambda a, b: a - b)
    __rsub__ = _operator(lambda a, b: b - a)
    __mul__ = __rmul__ = _operator(lambda a, b: a * b)
    __truediv__ = _operator(lambda a, b: a * power(b, -1))
    __rtruediv__ = _operator(lambda a, b: b * power(a, -1))

    def __pow__(self, exponent: int) -> "Parametric":
        return Parametric(power(self.value, exponent), self.of)

    def __neg__(self) -> "Parametric":
        return Parametric(-self.value, self.of)

    def __bool__(self) -> bool:
        """Whether it is not the zero function."""
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same function of the parameters."""
        converted = self.converted(other)
        return converted is not None and self.value == converted

    def __hash__(self) -> int:
        return hash(self.value)

    __lt__, __le__, __gt__, __ge__ = map(_comparison, (sympy.Lt, sympy.Le, sympy.Gt, sympy.Ge))

    def __repr__(self) -> str:
        return str(self.expression)

    def converted(self, other: Any) -> Scalar | None:
        """The other number in the same field; None for anything else."""
        if isinstance(other, Parametric | int | Fraction | fmpq):
            return self.of.number(Fraction(other) if isinstance(other, int) else other).value
        return None
