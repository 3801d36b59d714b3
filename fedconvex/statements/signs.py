"""Certified signs of formulas: a computed float of 1e-17 may stand for a negative number, a certified sign may not."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import Arguments, NumberType, entry, is_array
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.functions import Irrational, Undecided
from fedconvex.statements.notation import Shape
from fedconvex.statements.results import broadcast_shape


class Sign(Enum):
    """POSITIVE, NEGATIVE and ZERO are proved; UNKNOWN: the largest precision, or a given ball, does not decide.

    A sign has no truth value, so that `if sign:` cannot mistake NEGATIVE or UNKNOWN for POSITIVE.
    """

    POSITIVE = 1
    ZERO = 0
    NEGATIVE = -1
    UNKNOWN = None

    def __bool__(self) -> bool:
        raise TypeError(f"{self} has no truth value; compare it: sign is Sign.POSITIVE")


def sign(calculator: CheckedFormula, given: Mapping[str, Any], *, precision: int = 64, limit: int = 1 << 12) -> Any:
    """The certified sign of a calculator's value: a `Sign`, or for arrays an object array of signs.

    Use it wherever a decision depends on the sign of a bound; a float near 0 does not decide it. The formula is
    evaluated in balls of `precision` bits; if the result contains 0, in rational arithmetic, which alone can prove
    that the value is exactly 0; then at doubled precision until that exceeds `limit`.

    Args:
        given: the calculator's arguments: int, float (taken as the rational number that it is), Fraction, fmpq, or
            balls (more precision does not make those narrower); or arrays of them.
    """
    if any(parameter.shape is Shape.MATRICES for parameter in calculator.parameters.values()):
        raise InvalidInput("formula", calculator.name, "is made of matrices", "request the sign of one of numbers")
    arguments = calculator.arguments(given)
    if isinstance(calculator.units[0], tuple):
        raise InvalidInput("formula", calculator.name, "has several parts", "request the sign of a formula of one part")
    if arguments.kind in (NumberType.SYMBOL, NumberType.TENSOR):
        raise InvalidInput("arguments", given, "have no certified sign", "give numbers or NumPy arrays")
    if not any(is_array(value) for value in arguments.values.values()):
        calculator.check(arguments.values)
        return _sign(calculator, arguments, precision, limit)
    import numpy as np

    values = arguments.values
    shape = broadcast_shape(values)
    calculator.check_arrays(arguments)
    signs = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        at = {name: entry(value, index) for name, value in values.items()}
        signs[index] = _sign(calculator, Arguments(at, arguments.sequences, arguments.kind), precision, limit)
    return signs


def _sign(calculator: CheckedFormula, arguments: Arguments, precision: int, limit: int) -> Sign:
    enclosed = any(type(value).__name__ == "arb" for value in arguments.values.values())
    tried_exactly = enclosed  # a ball has no exact value to try
    while precision <= limit:
        try:
            ball = calculator.in_balls(arguments, precision)
            if ball > 0:
                return Sign.POSITIVE
            if ball < 0:
                return Sign.NEGATIVE
        except Undecided:  # a ⌈·⌉ in the formula needs a narrower ball
            pass
        # 0 is in the ball: more precision never ends if the value is exactly 0, so try rational numbers once
        if not tried_exactly:
            tried_exactly = True
            try:
                value = calculator.exactly(arguments)
                return Sign.POSITIVE if value > 0 else Sign.NEGATIVE if value < 0 else Sign.ZERO
            except Irrational:
                pass
        precision *= 2
    return Sign.UNKNOWN
