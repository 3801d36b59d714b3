"""Arguments in every kind of number, and how a calculator refuses them."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
from statement_makers import of_numbers

from fedconvex.errors import InvalidInput
from fedconvex.statements import Calculator
from fedconvex.statements.notation import Shape

FORMULAS = of_numbers()
NAMES = sorted(FORMULAS)
Kind = Callable[[Any], Any]


def with_first(values: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """The argument (of a sequence, its first entry) replaced."""
    return {**values, name: [value, *values[name][1:]] if isinstance(values[name], list) else value}


def refusal(calculator: Any, values: dict[str, Any]) -> InvalidInput | None:
    try:
        calculator(**values)
    except InvalidInput as error:
        return error
    return None


def names_all(error: InvalidInput | None, calculator: Calculator, argument: str, value: Any) -> bool:
    """Whether the error is one, and says which statement refuses which argument of which value."""
    if error is None or error.argument != argument:
        return False
    same = error.value is value or bool(error.value == value)
    text = str(error)
    shown = str(value) if isinstance(value, Fraction | flint.fmpq) else repr(value)  # 1/9, not Fraction(1, 9)
    return same and calculator.owner in text and text.startswith(f"{argument} = {' '.join(shown.split())[:60]}")


def argument_of(calculator: Calculator, name: str) -> str:
    sequence = calculator.parameters[name].shape in (Shape.SEQUENCE, Shape.VECTORS)
    return f"{name}[0]" if sequence else name


def reason(calculator: Calculator, values: dict[str, Any]) -> str:
    """Why the arguments are refused, if they are."""
    try:
        calculator.check(calculator.arguments(values).values)
    except InvalidInput as error:
        return error.problem
    return ""
