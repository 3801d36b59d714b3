"""Every formula has the units that it is said to have: measured in other units, the result changes as it must.

Function values in units of 1/f, lengths in units of 1/x: a parameter with units (i, j) becomes fⁱxʲ times as large.
"""

from fractions import Fraction
from typing import Any

import flint
import pytest
from statement_makers import arguments, ball, each, fmpq, of_numbers

from fedconvex.statements.results import parts
from fedconvex.theory import fedprox

F, X = Fraction(7, 3), Fraction(5, 2)
FORMULAS = {name: c for name, c in of_numbers().items() if not c.integer}


def factor(units: tuple[int, int]) -> Fraction:
    return F ** units[0] * X ** units[1]


def rescaled(values: dict[str, Any], parameters: Any) -> dict[str, Any]:
    scaled = {}
    for name, value in values.items():
        by = factor(parameters[name].units)
        if isinstance(value, list):
            scaled[name] = [by * v for v in value]
        else:
            scaled[name] = value if parameters[name].integer else by * Fraction(value)
    return scaled


def has_units(calculator: Any, units: Any, seed: int = 0) -> bool:
    """Whether every part of the result changes by the factor of its units."""
    values = arguments(calculator, seed)
    with flint.ctx.workprec(200):
        before = list(parts(calculator(**each(values, ball))))
        after = list(parts(calculator(**each(rescaled(values, calculator.parameters), ball))))
        own = units if isinstance(units[0], tuple) else (units,) * len(before)
        triples = zip(before, after, own, strict=True)
        return all((new - old * fmpq(factor(unit))).contains(0) for old, new, unit in triples)


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_units(name: str) -> None:
    assert has_units(FORMULAS[name], FORMULAS[name].units)


def test_wrong_units_are_noticed() -> None:
    assert has_units(fedprox.rho.calculator, (-1, 2))
    assert not has_units(fedprox.rho.calculator, (1, -2))
    assert not has_units(fedprox.rho.calculator, (-1, 1))
