"""Conditions on arguments: ranges that follow from a parameter's meaning, and hypotheses of a theorem.

Comparisons are exact: a float is taken as the rational number that it is, and 25 − 1e-24 is less than 25. A ball
satisfies a hypothesis only if all its numbers do. For a range by definition (B >= 1) one of its numbers suffices: the
true value lies in the range anyway, and the ball is merely a wide enclosure of it.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.statements.arguments import (
    Numbers,
    entry,
    is_array,
    is_extreme,
    is_rounded,
    name_at,
    parameter_of,
    to_ball,
    to_float,
    to_symbol,
)
from fedconvex.statements.functions import Irrational, home
from fedconvex.statements.notation import Parameter

RELATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    "=": operator.eq,
}
BORDER = 1e-9  # floats with a smaller relative difference are compared again exactly
MAX_PRECISION = 1 << 14

Bound = int | str | Callable[..., Any]


@dataclass(frozen=True)
class Condition:
    """`argument relation bound`, as in mu > L_minus; the bound is a number, a parameter, or a formula of parameters.

    `cure`: what to give instead, where the bound depends on the argument.
    """

    argument: str
    relation: str
    bound: Bound
    by_definition: bool = False
    cure: str = ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The parameters that occur in the bound."""
        if isinstance(self.bound, str):
            return (self.bound,)
        return () if isinstance(self.bound, int) else tuple(signature(self.bound).parameters)

    def bound_at(self, values: Numbers) -> Any:
        """The bound at these values, in their arithmetic."""
        if isinstance(self.bound, int):
            return self.bound
        if isinstance(self.bound, str):
            return values[self.bound]
        return self.bound(**{name: values[name] for name in self.names})

    def expression(self, parameters: Mapping[str, Parameter]) -> Any:
        """The bound as a SymPy expression."""
        return to_symbol(self.bound_at({name: parameters[name].symbol(name) for name in self.names}))

    def text(self, parameters: Mapping[str, Parameter]) -> str:
        """The condition as text, such as `mu > L_minus`."""
        return f"{self.argument} {self.relation} {self.bound_text(parameters)}"

    def bound_text(self, parameters: Mapping[str, Parameter]) -> str:
        """The bound as text, such as `25*L`."""
        return str(self.bound) if isinstance(self.bound, int | str) else str(self.expression(parameters))

    def check(self, name: str, values: Numbers) -> "Offence | None":
        """The violation by the value called `name` (the argument, or an entry `gammas[2]` of it); None if it holds."""
        involved = {other: values[other] for other in self.names}
        if any(is_array(v) for v in (values[name], *involved.values())):
            return self._check_arrays(name, values[name], involved)
        return self._check_one(name, values[name], involved)

    def _check_one(self, name: str, value: Any, involved: Numbers) -> "Offence | None":
        everything = (value, *involved.values())
        if any(home(v) == "sympy" for v in everything):
            left, right = to_symbol(value), to_symbol(self.bound_at({k: to_symbol(v) for k, v in involved.items()}))
            relation = left.equals(right) if self.relation == "=" else RELATIONS[self.relation](left, right)
            return Offence(name, value, right) if relation is False or relation == False else None  # noqa: E712 - SymPy's
        if any(type(v).__name__ == "arb" for v in everything):
            left, right = to_ball(value), to_ball(self.bound_at({k: to_ball(v) for k, v in involved.items()}))
            if self.relation == "=":
                # two balls are proved equal only if both are single numbers; overlap leaves it undecided
                same = left.is_exact() and right.is_exact() and left == right
                return None if same else Offence(name, value, right, undecided=left.overlaps(right))
            if RELATIONS[self.relation](left, right):
                return None
            excluded = RELATIONS[_OPPOSITE[self.relation]](left, right)
            if self.by_definition and not excluded:  # the true value is in the range whatever the ball says
                return None
            return Offence(name, value, right, undecided=not excluded)
        # exact numbers, floats among them
        holds, right = self._compare_exactly(value, involved)
        return None if holds else Offence(name, value, right)

    def _compare_exactly(self, value: Any, involved: Numbers) -> tuple[bool, Any]:
        from fedconvex.arithmetic.rationals import to_fraction

        compare = RELATIONS[self.relation]
        try:
            right = self.bound_at({k: to_fraction(v) for k, v in involved.items()})
            return bool(compare(to_fraction(value), right)), right
        except Irrational:
            pass
        import flint

        precision = 64
        while precision <= MAX_PRECISION:
            with flint.ctx.workprec(precision):
                right, left = self.bound_at({k: to_ball(v) for k, v in involved.items()}), to_ball(value)
                if left < right or left > right:
                    return bool(compare(left, right)), right
            precision *= 2
        equal = right.is_finite()  # up to thousands of digits; an infinite ball means that the bound is undefined
        return equal and self.relation not in (">", "<"), right

    def _check_arrays(self, name: str, value: Any, involved: Numbers) -> "Offence | None":
        """The first violation in arrays or tensors. Floats decide where they can, exact comparison the other entries.

        Those are the entries where both sides nearly agree, or where the bound may have overflowed or underflowed.
        """
        import numpy as np

        left, others = _float_or_nan(value), {k: to_float(v) for k, v in involved.items()}
        with np.errstate(all="ignore"):
            try:
                right = _float_or_nan(self.bound_at(others))
            except (ArithmeticError, ValueError):
                right = float("nan")
            holds = np.asarray(RELATIONS[self.relation](left, right))
            rounded = callable(self.bound) or any(is_rounded(v) for v in (value, *involved.values()))
            if holds.all() and not rounded:
                return None
            doubtful = ~holds  # a violation in floats may be one of rounding only
            if rounded:
                doubtful = doubtful | (abs(left - right) <= BORDER * abs(right))
            if callable(self.bound):  # an intermediate result of the bound's formula may overflow or underflow
                doubtful = doubtful | is_extreme(left) | is_extreme(right)
                for number in others.values():
                    doubtful = doubtful | is_extreme(number) | ((right == 0) & (number != 0))
        for index in map(tuple, np.argwhere(doubtful)):
            at = {k: entry(v, index) for k, v in involved.items()}
            offence = self._check_one(name, entry(value, index), at)
            if offence is not None:
                return Offence(name, offence.value, offence.bound, index=index, shape=np.shape(left))
        return None


def _float_or_nan(value: Any) -> Any:
    """The value in floats; an integer that no float holds as NaN, of which every comparison is decided exactly."""
    found = to_float(value)
    try:
        return float(found) if isinstance(found, int) else found
    except OverflowError:
        return float("nan")


_OPPOSITE = {">": "<=", ">=": "<", "<=": ">", "<": ">="}


@dataclass(frozen=True)
class Offence:
    """A violation: the value, the bound, and the index into the broadcast arrays; `undecided` if a ball is too wide."""

    name: str
    value: Any
    bound: Any
    undecided: bool = False
    index: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()

    @property
    def argument(self) -> str:
        """The entry's name, such as `mu[2, 0]`."""
        return name_at(self.name, self.index, self.shape)


def by_definition(name: str, parameter: Parameter) -> tuple[Condition, ...]:
    """The conditions that follow from a parameter's meaning."""
    bounds = ((">", parameter.above), (">=", parameter.least), ("<=", parameter.most))
    return tuple(Condition(name, relation, b, by_definition=True) for relation, b in bounds if b is not None)


def refuse(statement: str, condition: Condition, offence: Offence, parameters: Mapping[str, Parameter]) -> InvalidInput:
    """The error for a violation: it names the statement, the condition and the value."""
    text = f"{parameter_of(offence.name)} {condition.relation} {condition.bound_text(parameters)}"
    here = "" if isinstance(condition.bound, int) else f" = {_written(offence.bound)} here"
    if offence.undecided:
        problem, cure = f"{statement} needs {text}{here}, which this ball does not decide", "give a narrower ball"
    else:
        problem, cure = f"{statement} needs {text}{here}", condition.cure or f"give {text}"
    return InvalidInput(offence.argument, offence.value, problem, cure)


def _written(number: Any) -> str:
    try:
        text = str(number)
    except ValueError:  # too long for Python to write out
        return "a number of thousands of digits"
    return text if len(text) <= 40 else f"{text[:39]}…"
