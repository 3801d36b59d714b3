"""Every statement and calculator of every paper, and admissible arguments for each."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

import flint
import sympy

from fedconvex import theory
from fedconvex.statements import Calculator, Condition, Parameter, Statement
from fedconvex.statements.assumptions import Given, StepsizeAtMost
from fedconvex.statements.functions import Irrational
from fedconvex.statements.notation import Shape

LENGTH = 3  # of sequences


def modules() -> dict[str, ModuleType]:
    from importlib import import_module

    return {name: import_module(f"fedconvex.theory.{name}") for name in theory.papers()}


def statements() -> list[Statement]:
    """The papers', and those of ours that correct or sharpen them."""
    return [s for paper in theory.papers().values() for s in paper.everything]


def calculators() -> dict[str, Calculator]:
    """By "paper.name": the statements' formulas, their left sides, and the calculators without a statement."""
    found: dict[str, Calculator] = {}
    for paper, module in modules().items():
        for statement in module.PAPER.everything:
            found[statement.identifier] = statement.calculator
            if statement.left is not None:
                found[f"{statement.identifier}.left"] = statement.left
        for name, value in vars(module).items():
            if isinstance(value, Calculator):
                found[f"{paper}.{name}"] = value
    return found


def of_numbers() -> dict[str, Calculator]:
    """Those whose arguments are numbers, not matrices."""
    return {
        name: c
        for name, c in calculators().items()
        if all(p.shape is not Shape.MATRICES for p in c.parameters.values())
    }


def arguments(calculator: Calculator, seed: int) -> dict[str, Any]:
    """Random admissible rational arguments, of numbers with few digits."""
    random = Random(f"{calculator.owner} {calculator.name} {seed}")
    for _ in range(200):
        values = {name: _value(name, p, random) for name, p in calculator.parameters.items()}
        for _ in range(3):
            for condition in calculator.conditions:
                _mend(condition, values, calculator.parameters, random)
        try:
            calculator.check(calculator.arguments(values).values)
        except ValueError:
            continue
        return values
    raise AssertionError(f"no admissible arguments were found for {calculator.owner}")


def each(values: dict[str, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    """The arguments converted, entry by entry."""
    return {n: [convert(e) for e in v] if isinstance(v, list) else convert(v) for n, v in values.items()}


def as_float(value: Any) -> Any:
    return value if isinstance(value, int) else float(value)


def dyadic(value: Any) -> Any:
    """The number that its float is."""
    return value if isinstance(value, int) else Fraction(float(value))


def fmpq(value: Any) -> flint.fmpq:
    return flint.fmpq(*Fraction(value).as_integer_ratio())


def ball(value: Any) -> flint.arb:
    return flint.arb(fmpq(value))


def rational(value: Any) -> sympy.Rational:
    return sympy.Rational(*Fraction(value).as_integer_ratio())


def conditions_of(statement: Statement) -> Iterator[Condition]:
    for assumption in statement.assumptions:
        if isinstance(assumption, Given | StepsizeAtMost):
            yield from assumption.conditions


def _value(name: str, parameter: Parameter, random: Random) -> Any:
    if parameter.shape in (Shape.SEQUENCE, Shape.VECTORS):
        return [_number(parameter, random) for _ in range(LENGTH)]
    return _number(parameter, random)


def _number(parameter: Parameter, random: Random) -> Any:
    low = parameter.least if parameter.above is None else parameter.above
    if parameter.integer:
        return random.randint(low or 1, 40)
    if parameter.most is not None:
        return low + Fraction(random.randint(1, 99), 100) * (parameter.most - low)
    if low is None:
        return Fraction(random.randint(-500, 500), 100)
    return low + Fraction(random.randint(1, 999), 100)


def _mend(condition: Condition, values: dict[str, Any], parameters: Any, random: Random) -> None:
    """Moves the argument to the right side of its bound, by an amount of the bound's size."""
    if condition.argument not in values:
        return
    try:
        bound = condition.bound_at({n: Fraction(values[n]) for n in condition.names})
    except Irrational:
        bound = Fraction(condition.bound_at({n: float(values[n]) for n in condition.names})).limit_denominator(1000) + 1
    part = Fraction(random.randint(1, 99), 100)
    value = Fraction(values[condition.argument])
    match condition.relation:
        case ">" | ">=" if value <= bound:
            value = bound + part * (abs(bound) + 1)
        case "<" | "<=" if value >= bound:
            value = bound - part * (abs(bound) if bound else 1)
        case "=":
            value = bound
    if parameters[condition.argument].integer:
        rounded = int(value) if condition.relation[0] == "<" else int(value) + (value != int(value))
        values[condition.argument] = max(rounded, parameters[condition.argument].least or 1)
    else:
        values[condition.argument] = value
