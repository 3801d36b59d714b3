"""Tools for design calculators: enclosures of formulas and roots, least integers; nothing that is not proved."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import is_array, to_ball
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.signs import Sign

PRECISION = 192  # bits to work with
ROOT_BITS = 140  # bits that a root is enclosed to


def working() -> Any:
    """A context in which balls have the working precision."""
    import flint

    return flint.ctx.workprec(PRECISION)


def enclosed(calculator: Calculator, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A calculator's value in balls at exact arguments (or balls), and these arguments as balls.

    Raises InvalidInput for arrays, tensors and symbols, and where the calculator refuses.
    """
    arguments = calculator.arguments(given)
    for name, value in arguments.values.items():
        if is_array(value) or not hasattr(type(value), "__float__"):
            raise InvalidInput(name, value, "is not one number", "give one number, or loop")
    calculator.check(arguments.values)
    with working():
        balls = {name: to_ball(value) for name, value in arguments.values.items()}
        return calculator.apply(arguments, balls), balls


def require_sign(sign: Sign, given: Mapping[str, Any]) -> Sign:
    """The sign, if it is known; else InvalidInput."""
    if sign is Sign.UNKNOWN:
        raise InvalidInput("arguments", dict(given), "leave a sign undecided", "give exact numbers, or narrower balls")
    return sign


def positive_root(coefficients: Sequence[Any]) -> Any:
    """A ball around the only positive root of a polynomial (lowest degree first, balls) with one change of sign from
    + to −; its sign is proved on both sides.
    """

    def value(x: Any) -> Any:
        total = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            total = total * x + coefficient
        return total

    import flint

    low = high = flint.arb(1)
    while not value(low) > 0:
        low /= 2
    while not value(high) < 0:
        high *= 2
    while (high - low) > high * flint.arb(2) ** -ROOT_BITS:
        middle = ((low + high) / 2).mid()
        here = value(middle)
        if here > 0:
            low = middle
        elif here < 0:
            high = middle
        else:
            break  # closer than the coefficients are known
    return low.union(high)


def smallest_integer(holds: Callable[[int], bool], start: int = 1) -> int:
    """The least integer >= start for which a monotone condition holds; it must hold for some."""
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
