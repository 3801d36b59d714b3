"""Tools for design calculators: enclosures of formulas and roots, least integers; nothing that is not proved."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import is_array, to_ball
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.functions import home
from fedconvex.statements.signs import Sign

ROOT_BITS = 140  # bits that a root is enclosed to
LOWEST, HIGHEST = 192, 1 << 13  # bits to work with
GOOD_BITS = 30
FARTHEST = 1 << 14  # powers of 2 between which roots are looked for


def enclosed(calculator: Calculator, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A calculator's value in balls of the working precision at exact arguments (or balls), and these as balls.

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
    """The result, worked out in balls of higher and higher precision until its accuracy is good.

    Args:
        accuracy: the bits that a result is good for, negative where it says nothing.

    Raises InvalidInput where it says nothing at any precision: some argument is a ball that is too wide.
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
    """The rational number that a number is; a ball stays."""
    if is_array(value) or home(value) in ("sympy", "flint"):
        return value
    from fedconvex.arithmetic.rationals import to_fraction

    return to_fraction(value)


def require_sign(sign: Sign, given: Mapping[str, Any]) -> Sign:
    """The sign, if it is one, and known; else InvalidInput."""
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
    for _ in range(FARTHEST):
        if value(low) > 0 and value(high) < 0:
            break
        low, high = low if value(low) > 0 else low / 2, high if value(high) < 0 else 2 * high
    else:
        return flint.arb("nan")
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
