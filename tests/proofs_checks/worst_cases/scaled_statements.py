"""Numbers for `looseness`, and statements whose formula is changed."""

from fractions import Fraction as F
from functools import wraps
from typing import Any

from altered import with_formula

from fedconvex.statements.statement import Statement

EVERYONE = {"num_clients": 10, "num_active": 10}
SOME = {"num_clients": 4, "num_active": 2}
PROX = {"mu": 50, "L": 1, "L_minus": 0, "B": F(6, 5), "gamma": F(1, 10)}


def scaled(statement: Statement, by: Any) -> Statement:
    """The statement with its bound multiplied."""
    formula = statement.calculator.formula
    return with_formula(statement, wraps(formula)(lambda **numbers: formula(**numbers) * by))


def mean(numbers: Any) -> F:
    numbers = list(numbers)
    return sum(numbers, F(0)) / len(numbers)
