"""Numbers as they were meant: every accepted entry is one exact rational number.

Integers, `fractions.Fraction` and flint's `fmpz`/`fmpq` are taken as they are; a float is the dyadic rational that it
is.
"""

import math
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

import numpy as np

from fedconvex.errors import InvalidInput

LARGEST_FLOAT_INTEGER = 2**53  # every integer up to here is a float

Array = Any  # (…)-shaped: numpy (float64 or objects) or a torch tensor; the arithmetic says which
Scalar = Any  # float, Fraction, fmpq or arb


class ExactNumber:
    """A number with exact arithmetic of its own, such as a rational function of parameters: it stays what it is."""


def to_fraction(value: Any, argument: str = "value") -> Fraction:
    """The rational number that `value` is. Raises InvalidInput for NaN, infinities and anything that is no number."""
    if type(value) is Fraction:  # the common cases first: Fraction and the abstract classes are slow to ask
        return value
    if type(value) is int:
        return Fraction(value)
    if type(value).__name__ == "fmpq":
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_):
        raise InvalidInput(argument, value, "is a truth value", "give a number")
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, float | np.floating):
        if not np.isfinite(value):
            raise InvalidInput(argument, value, "is not finite", "give a finite number")
        return Fraction(float(value)) if float(value) == value else Fraction(*value.as_integer_ratio())
    if type(value).__module__.startswith("flint"):
        if type(value).__name__ == "fmpz":
            return Fraction(int(value))
        raise InvalidInput(argument, value, "is not an exact number", "give an int, Fraction, fmpq or float")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return to_fraction(value.item(), argument)
    if isinstance(value, ExactNumber):
        return value  # type: ignore[return-value]
    raise InvalidInput(argument, value, "is not a number", "give an int, Fraction, fmpq or float")


def to_fmpq(value: Any, argument: str = "value") -> Any:
    """The same number as a flint `fmpq`."""
    import flint  # and then its names, since `from flint import fmpq` takes longer than the rest

    fmpq = flint.fmpq
    if type(value) is fmpq:
        return value
    if isinstance(value, float):  # the common case, and much faster than through Fraction
        try:
            return fmpq(*value.as_integer_ratio())
        except (OverflowError, ValueError):
            raise InvalidInput(argument, value, "is not finite", "give a finite number") from None
    if type(value) is int:
        return fmpq(value)
    if type(value) is Fraction:
        return fmpq(value.numerator, value.denominator)
    exact = to_fraction(value, argument)
    return exact if isinstance(exact, ExactNumber) else fmpq(exact.numerator, exact.denominator)


def rectangular(values: Any) -> np.ndarray:
    """A copy as an array; a list that mixes floats and integers too long for them keeps both exactly, as objects.

    Raises ValueError where rows differ in length.
    """
    array = np.array(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        entries = np.array(values, dtype=object)
        if any(isinstance(v, Integral) and abs(int(v)) > LARGEST_FLOAT_INTEGER for v in entries.ravel().tolist()):
            return entries
    return array


def is_exactly_typed(values: np.ndarray) -> bool:
    """Whether the array holds Python objects (Fractions, flint numbers, long integers) and not machine numbers."""
    return values.dtype == object


def fraction_array(values: Any) -> np.ndarray:
    """An object array of the same shape whose entries are `fractions.Fraction`."""
    values = np.asarray(values)
    result = np.empty(values.shape, dtype=object)
    result.ravel()[:] = [to_fraction(v) for v in values.ravel().tolist()]
    return result


def float_array(values: Any) -> np.ndarray:
    """A float64 array of the same shape, each entry rounded to nearest; balls give their midpoints."""
    values = np.asarray(values)
    if values.dtype == object:
        values = np.array([nearest_float(v) for v in values.ravel()]).reshape(values.shape)
    return np.asarray(values, dtype=np.float64)


def nearest_float(value: Any) -> float:
    """The float nearest to a rational or to the midpoint of a ball; beyond the largest float, an infinity."""
    if type(value).__name__ == "arb":
        return float(value.mid())
    if hasattr(value, "detach"):  # a torch tensor with one entry
        return float(value)
    exact = to_fraction(value)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def float_at_least(value: Any) -> float:
    """The least float that is not below a rational number: use it to hand an exact upper bound on as a float."""
    exact = to_fraction(value)
    nearest = nearest_float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)
