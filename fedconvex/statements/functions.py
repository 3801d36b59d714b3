"""The functions that formulas are written with, for every kind of number; each looks at what it is given.

No library is loaded here that the caller has not loaded: a ball comes with flint, a symbol with SymPy.
"""

import math
import sys
from fractions import Fraction
from typing import Any

LONGEST = 1 << 16  # bits of the rational numbers that powers may give
LARGEST_FLOAT_EXPONENT = (
    1 << 23
)  # a float's rounding error, to a higher power than this, costs more than half its digits


class Irrational(Exception):
    """An exact calculation left the rational numbers, or those of bearable length: it must be repeated in balls."""


class Imprecise(ArithmeticError):
    """A calculation in floats would lose most of its digits: it must be repeated in balls."""


class Undecided(Exception):
    """A ball is too wide to say which integer is meant: more precision is needed."""


def home(value: Any) -> str:
    """The library that a number comes from: "builtins", "fractions", "numpy", "flint", "sympy", "torch", …"""
    return type(value).__module__.partition(".")[0]


def is_rational(value: Any) -> bool:
    """Whether it is of a type that holds exact rational numbers: Fraction or fmpq."""
    return isinstance(value, Fraction) or type(value).__name__ == "fmpq"


def sqrt(value: Any) -> Any:
    """The square root; of a rational number exactly where it is rational, else `Irrational` is raised."""
    return _rational_sqrt(value) if is_rational(value) else _apply("sqrt", value)


def log(value: Any) -> Any:
    """The natural logarithm."""
    if is_rational(value):
        return _only(1, value)
    return _apply("log", value)


def exp(value: Any) -> Any:
    """The exponential function."""
    if is_rational(value):
        return _only(0, value) + 1
    return _apply("exp", value)


def maximum(first: Any, *others: Any) -> Any:
    """The largest, entry by entry."""
    for other in others:
        first = _larger(first, other)
    return first


def minimum(first: Any, *others: Any) -> Any:
    """The smallest, entry by entry."""
    if any(home(value) == "sympy" for value in (first, *others)):
        return sys.modules["sympy"].Min(first, *others)
    return -maximum(-first, *(-other for other in others))


def power(base: Any, exponent: Any) -> Any:
    """base to an integer power, which in exact arithmetics is one (and not exp(exponent · log(base))).

    In floats `Imprecise` is raised where the exponent is so large that the base's own rounding shows.
    """
    if {home(base), home(exponent)} <= {"builtins", "numpy", "torch"} and _exceeds(exponent, LARGEST_FLOAT_EXPONENT):
        raise Imprecise
    if is_rational(base) and abs(exponent) * _length(base) > LONGEST:
        raise Irrational
    if is_rational(exponent):
        return base ** int(exponent)
    if type(exponent).__name__ == "arb":
        whole = exponent.unique_fmpz() if exponent.is_exact() else None
        return base**exponent if whole is None else base ** int(whole)
    return base**exponent


def maximum_with_root(value: Any, square: Any) -> Any:
    """max(value, √square), value >= 0; of rational numbers exactly where the value is the larger."""
    if is_rational(square) and value * value >= square:
        return value
    return maximum(value, sqrt(square))


def geometric_sum(excess: Any, terms: Any) -> Any:
    """Σ_{t < terms} (1 + excess)^t = ((1 + excess)^terms − 1)/excess; in floats without cancellation."""
    homes = {home(excess), home(terms)}
    if homes <= {"builtins", "numpy", "torch"}:
        return _apply("expm1", terms * _apply("log1p", excess)) / excess
    return (power(1 + excess, terms) - 1) / excess


def ceil(value: Any) -> Any:
    """The least integer that is not below: of an exact number, of a ball that admits one answer only, of a symbol."""
    match type(value).__name__:
        case "fmpq":
            return int(value.ceil())
        case "arb":
            integer = value.ceil().unique_fmpz()
            if integer is None:
                raise Undecided
            return int(integer)
    return sys.modules["sympy"].ceiling(value) if home(value) == "sympy" else math.ceil(value)


def _exceeds(value: Any, limit: int) -> bool:
    """Whether some entry is larger in size."""
    found = abs(value) > limit
    return bool(found.any()) if hasattr(found, "any") else bool(found)


def _apply(name: str, value: Any) -> Any:
    match home(value):
        case "numpy" | "sympy" as library:
            return getattr(sys.modules[library], name)(value)
        case "torch" | "flint":
            return getattr(value, name)()
    return getattr(math, name)(value)


def _larger(left: Any, right: Any) -> Any:
    homes = {home(left), home(right)}
    if "sympy" in homes:
        return sys.modules["sympy"].Max(left, right)
    if "torch" in homes:
        torch = sys.modules["torch"]
        like = left if isinstance(left, torch.Tensor) else right
        return torch.maximum(*(torch.as_tensor(v, dtype=like.dtype, device=like.device) for v in (left, right)))
    if "numpy" in homes:
        return sys.modules["numpy"].maximum(left, right)
    if hasattr(left, "max") or hasattr(right, "max"):  # balls
        return left.max(right) if hasattr(left, "max") else right.max(left)
    return left if left >= right else right


def _rational_sqrt(value: Any) -> Any:
    p, q = _ratio(value)
    roots = math.isqrt(int(p)), math.isqrt(int(q))
    if roots[0] ** 2 != p or roots[1] ** 2 != q:
        raise Irrational
    return type(value)(*roots)


def _length(value: Any) -> int:
    """Bits of numerator and denominator."""
    return sum(int(part).bit_length() for part in _ratio(value))


def _ratio(value: Any) -> tuple[Any, Any]:
    """Numerator and denominator."""
    return (value.p, value.q) if hasattr(value, "p") else (value.numerator, value.denominator)


def _only(argument: int, value: Any) -> Any:
    """0, of the same type, at the only rational argument where log is rational."""
    if value != argument:
        raise Irrational
    return value - argument
