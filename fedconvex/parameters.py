"""Dataclass fields that hold real parameters (a stepsize, a weight), convertible to any arithmetic."""

from dataclasses import field, fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any, TypeVar

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.errors import InvalidInput, short_text
from fedconvex.names import CheckedKeywords
from fedconvex.stepsizes import StepsizeSchedule

T = TypeVar("T")


def number(**options: Any) -> Any:
    """A dataclass field for a real parameter: `in_arithmetic` converts it, unlike counts, which stay integers.

    Use it for every real parameter of a method or a local solver.
    """
    return field(metadata={"number": True}, **options)


class ReadableParameters(CheckedKeywords):
    """Base of frozen dataclasses of parameters whose `repr` shortens numbers that Python refuses to write.

    That is all integers and fractions of more than 4,300 digits: a dataclass's own `repr` raises ValueError.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # `dataclass` does not replace a class's own
            cls.__repr__ = _readable  # type: ignore[method-assign]


def _readable(parameters: Any) -> str:
    if not is_dataclass(parameters):  # a subclass of the user's that is none
        return object.__repr__(parameters)
    values = ", ".join(f"{f.name}={_written(getattr(parameters, f.name))}" for f in fields(parameters) if f.repr)
    return f"{type(parameters).__qualname__}({values})"


def _written(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        return short_text(value)


def in_arithmetic(parameters: T, arithmetic: Arithmetic) -> T:
    """The frozen dataclass with its real parameters converted to scalars of this arithmetic.

    These are the `number()` fields, and a method's floats and fractions in other fields.
    """
    converted = {}
    kind: Any = type(parameters)
    plain = getattr(kind, "floats_are_real_parameters", False)
    for name in _names(kind):
        value = getattr(parameters, name)
        # None: chosen by the method itself; a schedule's numbers are converted in their rounds. What is not finite is
        # another thing than a number, such as no bound.
        is_plain = plain and isinstance(value, float | Fraction | np.floating) and bool(-inf < value < inf)
        if is_plain or (name in _numbers(kind) and value is not None and not isinstance(value, StepsizeSchedule)):
            try:
                converted[name] = arithmetic.scalar(value)
            except InvalidInput as error:
                raise InvalidInput(name, value, error.problem, error.cure) from None
    if all(value is getattr(parameters, name) for name, value in converted.items()):
        return parameters
    return replace(parameters, **converted)  # type: ignore[type-var]


def is_scheduled(parameters: Any) -> bool:
    """Whether a method, or a local solver, has a stepsize that changes from round to round."""
    return bool(_schedules(parameters))


def require_rounds(parameters: Any, rounds: int) -> None:
    """Raises InvalidInput where a stepsize that changes has no positive number for one of so many rounds."""
    for name, schedule in _schedules(parameters).items():
        schedule.require(rounds, name)


def require_period(parameters: Any, period: int) -> None:
    """Raises InvalidInput where a stepsize that changes does not repeat after so many rounds; a list is repeated."""
    for name, schedule in _schedules(parameters).items():
        if isinstance(schedule.rule, tuple):
            if len(schedule.rule) != period:
                raise InvalidInput("period", period, f"is not the length of {name} = {short_text(schedule)}",
                                   f"give period={len(schedule.rule)}")  # fmt: skip
            continue
        for t in range(period):
            now, later = (schedule.at(n, name) for n in (t, t + period))
            if now != later:
                which = (
                    f"{name} = {short_text(schedule)}, which is {now} in round {t} and {later} in round {t + period}"
                )
                raise InvalidInput("period", period, f"does not repeat {which}", "give the number of rounds after "
                                   "which it repeats; `worst_case` takes one that never does")  # fmt: skip


def in_round(parameters: T, t: int, arithmetic: Arithmetic) -> T:
    """The method or local solver of round t: a schedule's place is taken by its number in this arithmetic."""
    found = {name: arithmetic.scalar(schedule.at(t, name)) for name, schedule in _schedules(parameters).items()}
    return replace(parameters, **found) if found else parameters  # type: ignore[type-var]


def _schedules(parameters: Any) -> dict[str, StepsizeSchedule]:
    kind: Any = type(parameters)
    found = {}
    for name in _names(kind):
        value = getattr(parameters, name)
        if isinstance(value, StepsizeSchedule):
            found[name] = value
    return found


@lru_cache(maxsize=256)  # asked in every round, and `fields` looks at all of a class
def _names(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields; none of a subclass of the user's that is no dataclass."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else ()


@lru_cache(maxsize=256)
def _numbers(kind: Any) -> tuple[str, ...]:
    """The names of a dataclass's `number()` fields."""
    return tuple(f.name for f in fields(kind) if "number" in f.metadata)


def in_rationals(parameters: T) -> T:
    """The same method or local solver with its numbers as flint's rationals, so that 1/stepsize is not rounded."""
    return in_arithmetic(parameters, arithmetics.get("exact"))
