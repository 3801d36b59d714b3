"""The value of a formula at exact arguments, with as many digits as are proved."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from flint import ctx

from fedconvex.arithmetic.balls import lower_float, upper_float
from fedconvex.arithmetic.decimals import Rounding, rounding_context, significant, without_trailing_zeros
from fedconvex.arithmetic.rationals import nearest_float, to_fraction
from fedconvex.commands.bounds.parameters import written
from fedconvex.errors import InvalidInput, NotConverged
from fedconvex.json_files import plain_data
from fedconvex.statements import Calculator, Sign
from fedconvex.statements.arguments import Arguments, parameter_of, to_ball
from fedconvex.statements.functions import Irrational, Undecided
from fedconvex.statements.results import named_parts

DIGITS = 15
PRECISION = 256  # bits
MAX_PRECISION = 1 << 14
LARGEST_POWER = 10_000  # beyond this no rational arithmetic: (1 + 1/3)^T has about T digits
MOST_BITS = 10_000  # of an exact result that is printed in full
SHORT = 24  # characters


@final
@dataclass(frozen=True)
class PrintedNumber:
    """A result: a ball that contains it, and its exact rational value if that is known."""

    ball: Any
    exact: Fraction | None = None

    @property
    def sign(self) -> Sign:
        """The proved sign, or UNKNOWN."""
        if self.exact is not None:
            return Sign.POSITIVE if self.exact > 0 else Sign.NEGATIVE if self.exact < 0 else Sign.ZERO
        return Sign.POSITIVE if self.ball > 0 else Sign.NEGATIVE if self.ball < 0 else Sign.UNKNOWN

    @cached_property
    def ends(self) -> tuple[Decimal, Decimal]:
        """Two decimals between which it lies; equal where it is one of `DIGITS` digits."""
        if not self.ball.is_finite():
            return Decimal("-inf"), Decimal("inf")
        middle, _, radius = self.ball.str(2 * DIGITS).strip("[]").partition("+/-")
        m, r = Decimal(middle.strip() or 0), Decimal(radius.strip() or 0)
        lower = rounding_context(4 * DIGITS, Rounding.FLOOR).subtract(m, r)
        return lower, rounding_context(4 * DIGITS, Rounding.CEILING).add(m, r)

    @cached_property
    def decimal(self) -> Decimal | None:
        """Rounded to nearest, to as many digits (at most `DIGITS`) as are proved; None where not even one is."""
        if self.exact is not None:
            return significant(self.exact, DIGITS, Rounding.NEAREST)
        for digits in range(DIGITS, 0, -1):
            low, high = (significant(end, digits, Rounding.NEAREST) for end in self.ends)
            if low == high:
                return low
        return None

    @property
    def is_accurate(self) -> bool:
        """Whether `DIGITS` digits are proved."""
        return self.exact is not None or (self.decimal is not None and len(self.decimal.as_tuple().digits) == DIGITS)

    @property
    def text(self) -> str:
        """`= 7/3 ≈ 2.33333333333333`, `≈ 0.00786848364598506`; every digit is proved."""
        if self.decimal is None:
            lower, upper = self.ends
            low, high = significant(lower, 3, Rounding.FLOOR), significant(upper, 3, Rounding.CEILING)
            return f"between {low:e} and {high:e}"
        if self.exact is None:
            return f"≈ {_plain(self.decimal)}"
        whole = f"{self.exact}" if self.fits else ""
        rounded = _plain(without_trailing_zeros(self.decimal))
        relation = "=" if Fraction(self.decimal) == self.exact else "≈"
        if whole and len(whole) <= SHORT:
            return f"= {whole}" if self.exact.denominator == 1 else f"= {whole} {relation} {rounded}"
        return f"{relation} {rounded}"

    @property
    def fits(self) -> bool:
        """Whether the exact number is known and short enough to print in full."""
        e = self.exact
        return e is not None and max(e.numerator.bit_length(), e.denominator.bit_length()) <= MOST_BITS

    def to_dictionary(self) -> dict[str, Any]:
        """The number for JSON: nearest float, and bounds rounded outwards; null beyond the range of floats."""
        value = nearest_float(self.ball if self.exact is None else self.exact)
        with ctx.workprec(PRECISION):  # the precision to which ends are rounded
            floats = {"value": value, "lower": lower_float(self.ball), "upper": upper_float(self.ball)}
        return {
            **plain_data(floats),
            "exact": str(self.exact) if self.fits else None,
            "sign": self.sign.name.lower(),
        }


def evaluate(calculator: Calculator, values: Mapping[str, Any]) -> dict[str, PrintedNumber]:
    """The value, or each part of it, by name. Raises InvalidInput for values that violate a condition."""
    given = {name: value for name, value in values.items() if name in calculator.parameters}
    try:
        arguments = calculator.arguments(given)
        calculator.check(arguments.values)
    except InvalidInput as error:
        raise InvalidInput(error.argument, written(error.value), error.problem, error.cure) from None
    try:
        result = _exactly(calculator, arguments)
        return _numbers(calculator, result) if result is not None else _in_balls(calculator, arguments)
    except (ArithmeticError, ValueError):
        names = ", ".join(f"{name} = {written(value)}" for name, value in given.items())
        problem = f"{calculator.owner} has no value there that can be computed"
        raise InvalidInput("parameters", names, problem, "give others") from None


def _exactly(calculator: Calculator, arguments: Arguments) -> Any:
    """The value as a rational number; None if it is irrational or would have too many digits."""
    counts = (v for name, v in arguments.values.items() if calculator.parameters[parameter_of(name)].integer)
    if not calculator.integer and any(count > LARGEST_POWER for count in counts):
        return None
    try:
        return calculator.exactly(arguments)
    except Irrational:
        return None


def _in_balls(calculator: Calculator, arguments: Arguments) -> dict[str, PrintedNumber]:
    """The value in balls, at a precision that doubles until `DIGITS` digits are proved."""
    precision, found = PRECISION, None
    while precision <= MAX_PRECISION:
        try:
            found = _numbers(calculator, calculator.in_balls(arguments, precision))
            if all(number.is_accurate for number in found.values()):
                return found
        except Undecided:
            pass
        precision *= 2
    if found is None:
        raise NotConverged(f"{calculator.owner}: {MAX_PRECISION} bits do not decide between two integers")
    if not all(number.ball.is_finite() for number in found.values()):
        raise ZeroDivisionError
    return found


def _numbers(calculator: Calculator, result: Any) -> dict[str, PrintedNumber]:
    return {name: _number(value) for name, value in named_parts(calculator.name, result).items()}


def _number(value: Any) -> PrintedNumber:
    """A `PrintedNumber` from an arb, int, Fraction or fmpq."""
    if type(value).__name__ != "arb":
        with ctx.workprec(PRECISION):
            return PrintedNumber(to_ball(value), to_fraction(value))
    if value.is_exact():  # a ball of radius 0 is a dyadic rational
        mantissa, exponent = map(int, value.man_exp())
        if abs(exponent) <= MOST_BITS:
            return PrintedNumber(value, mantissa * Fraction(2) ** exponent)
    return PrintedNumber(value)


def _plain(decimal: Decimal) -> str:
    """0.001 and 123000, but 1e-20 and 1.5e+30."""
    if -7 < decimal.adjusted() <= DIGITS or decimal == 0:
        return f"{decimal:f}"
    return f"{decimal:e}"
