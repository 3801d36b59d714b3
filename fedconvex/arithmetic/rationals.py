"""Conversions between floats, Fractions and flint's rationals: every accepted number is one exact rational number.

A float stands for the binary fraction that it stores: 0.1 is 3602879701896397/2⁵⁵, not 1/10.
"""

import math
from fractions import Fraction
from functools import cache
from numbers import Integral, Rational
from typing import Any

import numpy as np

from fedconvex.errors import InvalidInput

LARGEST_FLOAT_INTEGER = 2**53  # every integer up to here is a float

Array = Any  # (…)-shaped: numpy (float64 or objects) or a torch tensor; the arithmetic says which
Scalar = Any  # float, Fraction, fmpq or arb


class ExactNumber:
    """Base of numbers with an exact arithmetic of their own (rational functions of parameters); never converted."""


def to_fraction(value: Any, argument: str = "value") -> Fraction:
    """The value as a Fraction, exactly; raises InvalidInput for NaN, infinities, balls and anything but a number."""
    if type(value) is Fraction:  # common types first: `isinstance` with Fraction and the abstract classes is slow
        return value
    if type(value) is int:
        return Fraction(value)
    if type(value) is float and math.isfinite(value):
        return Fraction(value)
    if type(value).__name__ == "fmpq":
        p, q = int(value.p), int(value.q)
        return Fraction(p) if q == 1 else Fraction(p, q)  # of integers there is nothing to cancel
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
        # a long double may not be a float
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


@cache
def _fmpq() -> Any:
    from flint import fmpq

    return fmpq


def to_fmpq(value: Any, argument: str = "value") -> Any:
    """The same number as a flint `fmpq`."""
    fmpq = _fmpq()
    if type(value) is fmpq:
        return value
    if type(value) is Fraction:
        return fmpq(value.numerator, value.denominator)
    if type(value) is int:
        return fmpq(value)
    if isinstance(value, float):  # much faster than by way of Fraction
        try:
            return fmpq(*value.as_integer_ratio())
        except (OverflowError, ValueError):
            raise InvalidInput(argument, value, "is not finite", "give a finite number") from None
    exact = to_fraction(value, argument)
    return exact if isinstance(exact, ExactNumber) else fmpq(exact.numerator, exact.denominator)


def rectangular(values: Any) -> np.ndarray:
    """A copy as an array; raises ValueError where rows differ in length.

    A list of floats and of integers beyond 2⁵³ becomes an object array, since float64 would round the integers.
    """
    array = np.array(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        entries = np.array(values, dtype=object)
        if any(isinstance(v, Integral) and abs(int(v)) > LARGEST_FLOAT_INTEGER for v in entries.ravel().tolist()):
            return entries
    return array


def is_exactly_typed(values: np.ndarray) -> bool:
    """Whether the array holds Python objects (Fractions, flint numbers, long integers) instead of machine numbers."""
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
        flat = values.ravel().tolist()
        if flat and all(v is flat[0] for v in flat):  # equal weights of very many clients
            return np.full(values.shape, nearest_float(flat[0]))
        values = np.array([nearest_float(v) for v in flat]).reshape(values.shape)
    return np.asarray(values, dtype=np.float64)


def nearest_float(value: Any) -> float:
    """The float nearest to a rational number, or to the midpoint of a ball; ±inf beyond the largest float."""
    if type(value) is float and math.isfinite(value):
        return value + 0.0  # a zero without sign, as of every other number
    if type(value).__name__ == "arb":
        return float(value.mid())
    if hasattr(value, "detach"):  # a torch tensor with one entry
        return float(value)
    exact = to_fraction(value)
    try:
        return exact.numerator / exact.denominator  # Python rounds a quotient of integers correctly
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


def float_at_least(value: Any) -> float:
    """The least float that is not below a rational number: use it to hand an exact upper bound on as a float."""
    exact = to_fraction(value)
    nearest = nearest_float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def rational_root(x: Fraction) -> Fraction | None:
    """√x of x >= 0 where it is rational."""
    root = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    return root if root**2 == x else None


def root_below(x: Fraction, unit: Fraction) -> Fraction:
    """√x of x >= 0 where it is rational, else the largest multiple of the unit below it."""
    root = rational_root(x)
    return math.isqrt(math.floor(x / unit**2)) * unit if root is None else root


def root_above(x: Fraction, unit: Fraction) -> Fraction:
    """√x of x >= 0 where it is rational, else the least multiple of the unit above it."""
    below = root_below(x, unit)
    return below if below**2 == x else below + unit


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """A short fraction in an open interval of one sign: the least integer there in size, else the least denominator."""
    if low < 0:
        return -simplest_between(-high, -low)
    whole = math.floor(low)
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:  # 1/n for the least n above 1/(high − whole)
        return whole + 1 / Fraction(math.floor(1 / (high - whole)) + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))
