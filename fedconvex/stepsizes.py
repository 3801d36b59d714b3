"""Stepsizes that change from round to round."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn, final

import numpy as np

from fedconvex.arithmetic.rationals import Scalar, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.expressions import parsed
from fedconvex.validation import exact_number, positive

__all__ = ["StepsizeSchedule"]  # for users; the package calls the others, too
EXAMPLE = "'1/(8 + t)'"
CURE = f"give one number, a rule such as {EXAMPLE}, a list of numbers, or a function of the round"
OF_STEPS = "give a rule for the local steps t = 0, 1, … of a round, such as '0.99**t', or a list with a number for each"
MOST_BITS = 2**20  # of a power in a rule: 9**9**9 has 369 million digits


@final
@dataclass(frozen=True)
class StepsizeSchedule:
    """A stepsize for every round t = 0, 1, …: exact rational numbers > 0.

    Methods and local solvers with gradient steps take one for `stepsize`, and where they have it `server_stepsize`:
    `FedGD(stepsize=rule)` makes it of a rule. Use it for the decreasing stepsizes of the theory of sampled clients and
    gradients, and for decays of experiments. Runs take the number of their round; what is computed for a method that
    is the same in all rounds (fixed points, rates, recommendations) refuses a schedule.

    Args:
        rule: text in the letter t with numbers and + − * / **, as "1/(8 + t)" or "0.1 * 0.9**t", decimals being the
            numbers that they denote; or a list with a number for each round, beyond which no run goes; or a function
            of t. Runs with text and lists can be saved and resumed, since these say what the rule is.

    Raises:
        InvalidInput: a rule that is none of these. Numbers <= 0 are refused when a run starts.
    """

    rule: str | tuple[Scalar, ...] | Callable[[int], Scalar]

    def __post_init__(self) -> None:
        rule: Any = self.rule
        if isinstance(rule, str):
            _parsed(rule)
        elif _is_list(rule):
            numbers = tuple(positive(x, f"stepsize[{t}]") for t, x in enumerate(rule))
            if not numbers:
                raise InvalidInput("stepsize", rule, "is empty", CURE)
            object.__setattr__(self, "rule", numbers)
        elif not callable(rule):
            raise InvalidInput("stepsize", rule, "is no rule for stepsizes", CURE)

    def __repr__(self) -> str:
        return repr(self.rule)

    def at(self, t: int, argument: str = "stepsize") -> Fraction:
        """The number of round t. Raises InvalidInput where it is not positive, and after the end of a list."""
        rule = self.rule
        if isinstance(rule, tuple):
            self.require(t + 1, argument)
            return to_fraction(rule[t], argument)
        try:
            found = _value(_parsed(rule), rule, t) if isinstance(rule, str) else to_fraction(rule(t), argument)
        except Exception as error:  # whatever the user's function raises
            raise InvalidInput(argument, self, f"has no value in round {t}: {error}", CURE) from error
        if not found > 0:
            cure = "give a rule whose numbers are positive in every round"
            raise InvalidInput(argument, self, f"is {found} in round {t}", cure)
        return found

    def require(self, rounds: int, argument: str = "stepsize") -> None:
        """Raises InvalidInput where one of the rounds 0, …, rounds − 1 has no positive number."""
        if not isinstance(self.rule, tuple):
            for t in range(rounds):
                self.at(t, argument)
        elif rounds > len(self.rule):
            problem = f"has {len(self.rule)} numbers, and ends before round {len(self.rule)}"
            raise InvalidInput(argument, self, problem, f"give a number for every round, or a rule such as {EXAMPLE}")

    def _no_number(self, *_: Any) -> NoReturn:
        problem = "changes from round to round, which is not analysed"
        raise InvalidInput("stepsize", self, problem, "give one number; runs (`simulate`) take a schedule")

    # No analysis takes a schedule for a number: not even one that never asked.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _no_number
    __pow__ = __rpow__ = __neg__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __int__ = _no_number
    __array_ufunc__ = None


def rule_within_round(rule: Any) -> Any:
    """A rule for the factors of the stepsize within a round, None for none, after a check.

    It is kept as the user wrote it: a `StepsizeSchedule` in a field would be one of rounds.
    """
    if rule is None:
        return None
    try:
        return StepsizeSchedule(rule.rule if isinstance(rule, StepsizeSchedule) else rule).rule
    except InvalidInput as error:
        raise InvalidInput("within_round", rule, error.problem, OF_STEPS) from None


@lru_cache(maxsize=100)
def factors_within_round(rule: Any, steps: int) -> tuple[Fraction, ...]:
    """The factors of the stepsize at the local steps t = 0, …, steps − 1 of a round. Raises InvalidInput."""
    schedule = StepsizeSchedule(rule)
    if isinstance(rule, tuple) and steps > len(rule):
        problem = f"has {len(rule)} numbers, and a client takes {steps} steps in a round"
        raise InvalidInput("within_round", rule, problem, OF_STEPS)
    try:
        return tuple(schedule.at(t) for t in range(steps))
    except InvalidInput as error:
        raise InvalidInput("within_round", rule, error.problem.replace("in round", "at step"), OF_STEPS) from error


def stepsize(value: Any, argument: str = "stepsize") -> Any:
    """A positive number as it is, and any other rule for stepsizes as a `StepsizeSchedule`."""
    if isinstance(value, StepsizeSchedule):
        return value
    is_rule = re.search(r"\bt\b|[(*/]", value) if isinstance(value, str) else _is_list(value) or callable(value)
    if is_rule:
        return StepsizeSchedule(value)
    return positive(value, argument)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


@lru_cache(maxsize=100)
def _parsed(rule: str) -> ast.expr:
    """The rule's syntax tree, of numbers and t alone."""
    tree = parsed(rule, {"t": None}, "stepsize", EXAMPLE)
    allowed = ast.BinOp | ast.UnaryOp | ast.operator | ast.USub | ast.Name | ast.Load
    for node in ast.walk(tree):
        if not (isinstance(node, allowed) or (isinstance(node, ast.Constant) and not isinstance(node.value, str))):
            raise InvalidInput("stepsize", rule, "is no formula of t", f"write such as {EXAMPLE}")
    if not any(isinstance(node, ast.Name) for node in ast.walk(tree)):
        raise InvalidInput("stepsize", rule, "is a text without t", f"give a number, or a rule such as {EXAMPLE}")
    return tree


def _value(node: ast.expr, rule: str, t: int) -> Fraction:
    match node:
        case ast.Constant(value=float()):  # the decimal that was written, not the float nearest to it
            return exact_number(ast.get_source_segment(rule, node) or "", "stepsize")
        case ast.Constant(value=int(value)):
            return Fraction(value)
        case ast.Name():
            return Fraction(t)
        case ast.UnaryOp(operand=operand):
            return -_value(operand, rule, t)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _value(left, rule, t), _value(right, rule, t))
    raise AssertionError(node)


def _combined(op: ast.operator, a: Fraction, b: Fraction) -> Fraction:
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div():
            if b == 0:
                raise ValueError("it divides by 0")
            return a / b
    if b.denominator != 1:
        raise ValueError(f"the exponent {b} is no integer, so that the power need not be rational")
    if abs(b) * max(a.numerator.bit_length(), a.denominator.bit_length()) > MOST_BITS:
        raise ValueError(f"the power {a}**{b} has too many digits")
    if a == 0 and b < 0:
        raise ValueError("it divides by 0")
    power: Fraction = a ** int(b)
    return power
