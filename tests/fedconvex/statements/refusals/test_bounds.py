"""Every bound of every parameter and every condition of every statement is refused just beyond it.

The bounds are found, not listed; for each the nearest number on the wrong side must be refused, and that on the right
side must pass, in every kind of number.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
from problem_makers import fraction
from refusal_makers import FORMULAS, NAMES, Kind, argument_of, names_all, reason, refusal, with_first
from statement_makers import arguments, as_float, ball, dyadic, each, fmpq, rational, statements

from fedconvex.statements import Calculator, Condition
from fedconvex.statements.functions import Irrational

TINY = Fraction(1, 10**24)
DIGITS = 400  # bits of balls
KINDS: dict[str, Kind] = {"Fraction": Fraction, "fmpq": fmpq, "arb": ball, "sympy": rational}


def bound_of(condition: Condition, values: dict[str, Any]) -> tuple[Fraction, bool]:
    """The bound at rational values, and whether that is exact; where it is irrational, to 1000 bits."""
    try:
        return Fraction(condition.bound_at({n: Fraction(values[n]) for n in condition.names})), True
    except Irrational:
        with flint.ctx.workprec(1000):
            return fraction(condition.bound_at({n: ball(values[n]) for n in condition.names}).mid()), False


def sides(
    calculator: Calculator, condition: Condition, values: dict[str, Any]
) -> tuple[list[Fraction], list[Fraction]]:
    """Values that must be refused, and values that must pass: the bound itself and a step to either side."""
    bound, exact = bound_of(condition, values)
    at = [bound] if exact else []
    below, above = bound - TINY, bound + TINY
    if calculator.parameters[condition.argument].integer:
        below, above = Fraction(math.ceil(bound) - 1), Fraction(math.floor(bound) + 1)
        at = [bound] if bound.denominator == 1 else []
    return {
        ">": ([below, *at], [above]),
        ">=": ([below], [*at, above]),
        "<=": ([above], [below, *at]),
        "<": ([*at, above], [below]),
        "=": ([below, above], at),
    }[condition.relation]


def beside(calculator: Calculator, convert: Kind, conditions: tuple[Condition, ...], side: int) -> Iterator[Any]:
    """Every condition with arguments on its wrong (0) or right (1) side, and which these are."""
    for condition in conditions:
        values = arguments(calculator, 0)
        for value in sides(calculator, condition, values)[side]:
            given = each(with_first(values, condition.argument, value), convert)
            yield condition, given, f"{condition.argument} {condition.relation} {condition.bound}: {value}"


def unrefused(calculator: Calculator, convert: Kind, conditions: tuple[Condition, ...]) -> list[str]:
    """The conditions with a wrong value that is let through, or refused without a word on why."""
    found = []
    for condition, given, case in beside(calculator, convert, conditions, 0):
        first = given[condition.argument]
        first = first[0] if isinstance(first, list) else first
        if not names_all(refusal(calculator, given), calculator, argument_of(calculator, condition.argument), first):
            found.append(case)
    return found


def closed(
    calculator: Calculator, convert: Kind, conditions: tuple[Condition, ...], enforced: tuple[Condition, ...]
) -> list[str]:
    """The conditions that refuse, as enforced, what is on their right side; another condition may refuse that."""
    real = dict(zip(conditions, (c.text(calculator.parameters) for c in enforced), strict=True))
    return [
        case
        for condition, given, case in beside(calculator, convert, conditions, 1)
        if re.search(rf"needs {re.escape(real[condition])}( |,|$)", reason(calculator, given))
    ]


def test_there_is_something_to_refuse() -> None:
    assert sum(len(c.all_conditions) for c in FORMULAS.values()) > 300
    assert {c.relation for f in FORMULAS.values() for c in f.all_conditions} >= {">", ">=", "<=", "<"}
    assert sum(callable(c.bound) for f in FORMULAS.values() for c in f.all_conditions) > 15
    assert {s.identifier for s in statements()} - FORMULAS.keys() == {f"fedsplit.equation{i}" for i in (8, 9, 10)}


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
def test_a_step_beyond_the_bound_is_refused(name: str) -> None:
    conditions = FORMULAS[name].all_conditions
    with flint.ctx.workprec(DIGITS):
        found = {kind: unrefused(FORMULAS[name], convert, conditions) for kind, convert in KINDS.items()}
    assert not any(found.values()), found


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
def test_the_bound_itself_passes_where_it_may(name: str) -> None:
    conditions = FORMULAS[name].all_conditions
    exact = set(KINDS) - {"arb"}  # balls cannot tell that numbers are equal
    found = {kind: closed(FORMULAS[name], KINDS[kind], conditions, conditions) for kind in exact}
    assert not any(found.values()), found


STRICTER = {">=": ">", "<=": "<", ">": ">", "<": "<"}


@pytest.mark.parametrize(
    "name", ["fedprox.theorem4", "feddyn.theorem2", "feddyn.theorem3", "fedsplit.optimal_stepsize"]
)
def test_a_lost_condition_would_be_noticed(name: str) -> None:
    calculator = FORMULAS[name]
    lost = calculator.conditions[-1]
    lax = replace(calculator, conditions=calculator.conditions[:-1])
    assert unrefused(calculator, Fraction, (lost,)) == []
    assert len(unrefused(lax, Fraction, (lost,))) > 0


@pytest.mark.parametrize(
    "name", ["feddyn.theorem2", "feddyn.theorem3", "fedsplit.optimal_stepsize", "fedprox.definition3"]
)
def test_a_condition_that_is_too_strict_would_be_noticed(name: str) -> None:
    calculator = FORMULAS[name]
    strict = tuple(replace(c, relation=STRICTER[c.relation]) for c in calculator.conditions)
    assert closed(calculator, Fraction, calculator.conditions, calculator.conditions) == []
    assert len(closed(replace(calculator, conditions=strict), Fraction, calculator.conditions, strict)) > 0


def next_to(bound: Fraction, wrong: bool, relation: str) -> float:
    """The float next to the bound on that side."""
    upwards = (relation[0] == ">") != wrong
    value = float(bound)
    holds = {">": Fraction.__gt__, ">=": Fraction.__ge__, "<": Fraction.__lt__, "<=": Fraction.__le__}[relation]
    while holds(Fraction(value), bound) == wrong:
        value = math.nextafter(value, math.inf if upwards else -math.inf)
    back = math.nextafter(value, -math.inf if upwards else math.inf)
    return back if holds(Fraction(back), bound) != wrong else value


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", NAMES)
def test_the_float_next_to_the_bound(name: str) -> None:
    """Alone and in an array, where the first of two wrong entries is named."""
    calculator = FORMULAS[name]
    values = each(each(arguments(calculator, 0), dyadic), as_float)
    for condition in calculator.all_conditions:
        if calculator.parameters[condition.argument].integer or condition.relation == "=":
            continue
        bound, _ = bound_of(condition, {n: v for n, v in values.items() if n in condition.names})
        value = next_to(bound, True, condition.relation)
        argument = argument_of(calculator, condition.argument)
        error = refusal(calculator, with_first(values, condition.argument, value))
        assert names_all(error, calculator, argument, value), (condition, value, error)
        own = values[condition.argument]
        own = own[0] if isinstance(own, list) else own
        near = next_to(bound, False, condition.relation)
        for right in (own,) if condition.by_definition else (own, near):  # near 0, other conditions may not hold
            if right == near != own and reason(calculator, with_first(values, condition.argument, right)):
                continue  # another condition is the sharper one
            array = np.array([right, right, value, right, value])
            error = refusal(calculator, with_first(values, condition.argument, array))
            if right == own or error.argument.startswith(argument):
                assert names_all(error, calculator, f"{argument}[2]", value), (condition, value, error)
