"""Rigorous tools for calculators that invert a bound: enclosures of values and roots, and least integers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import is_array, to_ball
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.functions import home
from fedconvex.statements.signs import Sign

ROOT_BITS = 140  # relative accuracy of an enclosed root
LOWEST, HIGHEST = 192, 1 << 13  # working precisions, in bits
GOOD_BITS = 30  # an accuracy at which `sharpened` stops
FARTHEST = 1 << 14  # roots are looked for between 2^−FARTHEST and 2^FARTHEST


def enclosed(calculator: Calculator, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A calculator's value in balls of the working precision, and its arguments (exact numbers or balls) as balls.

    Raises InvalidInput for arrays, tensors and symbols, and where the calculator refuses.
    """
    arguments = calculator.arguments(given)
    for name, value in arguments.values.items():
        if is_array(value) or home(value) == "sympy":
            raise InvalidInput(name, value, "is not one number", "give one number, or loop")
    calculator.check(arguments.values)
    balls = {name: to_ball(value) for name, value in arguments.values.items()}
    return calculator.apply(arguments, balls), balls


def sharpened(result: Callable[[], Any], accuracy: Callable[[Any], int]) -> Any:
    """The result of a computation in balls, repeated at doubled precision until it has 30 accurate bits.

    Where 8,192 bits of precision do not give that many, the most precise usable result.

    Args:
        accuracy: the number of accurate bits of a result, negative for a useless one.

    Raises InvalidInput where no precision gives a usable result: some argument is a ball that is too wide.
    """
    import flint

    precision, best = LOWEST, None
    while precision <= HIGHEST:
        with flint.ctx.workprec(precision):
            found = result()
            bits = accuracy(found)
        if bits > GOOD_BITS:
            return found
        best = found if bits >= 0 else best
        precision *= 2
    if best is None:
        raise InvalidInput("arguments", found, "balls too wide to tell", "give exact numbers, or narrower balls")
    return best


def exactly(value: Any) -> Any:
    """The number as a Fraction; arrays, symbols and flint's numbers stay what they are."""
    if is_array(value) or home(value) in ("sympy", "flint"):
        return value
    from fedconvex.arithmetic.rationals import to_fraction

    return to_fraction(value)


def require_sign(sign: Sign, given: Mapping[str, Any]) -> Sign:
    """The sign, if it is a known one; InvalidInput for UNKNOWN, and for an array of signs."""
    if not isinstance(sign, Sign):
        raise InvalidInput("arguments", dict(given), "hold arrays", "give one number each, or loop")
    if sign is Sign.UNKNOWN:
        if any(type(value).__name__ == "arb" and not value.is_exact() for value in given.values()):
            raise InvalidInput(
                "arguments", dict(given), "leave a sign undecided", "give narrower balls, or exact numbers"
            )
        problem = "leave a sign undecided: two numbers agree to a thousand digits, and are likely equal"
        raise InvalidInput("arguments", dict(given), problem, "move one argument a little")
    return sign


def positive_root(coefficients: Sequence[Any]) -> Any:
    """A ball that contains the only positive root of a polynomial whose values are positive before and negative after.

    Bisection, with the sign at both bounds certified. NaN where no sign change is found.

    Args:
        coefficients: balls, lowest degree first. Their signs change once, from + to −: by Descartes' rule there is one
            positive root.
    """

    def value(x: Any) -> Any:
        total = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            total = total * x + coefficient
        return total

    import flint

    low = high = flint.arb(1)  # moved apart by factors of 2 until the polynomial changes sign between them
    for _ in range(FARTHEST):
        if value(low) > 0 and value(high) < 0:
            break
        low, high = low if value(low) > 0 else low / 2, high if value(high) < 0 else 2 * high
    else:
        return flint.arb("nan")
    while (high - low) > high * flint.arb(2) ** -ROOT_BITS:
        middle = ((low + high) / 2).mid()  # without a radius, which would grow with every bisection
        here = value(middle)
        if here > 0:
            low = middle
        elif here < 0:
            high = middle
        else:
            break  # the sign here depends on where in their balls the coefficients lie
    return low.union(high)


def smallest_integer(holds: Callable[[int], bool], start: int = 1) -> int:
    """The least integer >= start for which a monotone condition holds; loops forever if it holds for none."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
