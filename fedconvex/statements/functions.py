"""Elementary functions for formulas that run in every arithmetic: each dispatches on the type of its argument.

This module imports no number library: an argument that is a ball or a symbol shows that flint or SymPy is loaded.
"""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

LONGEST = 1 << 16  # bits up to which powers of rational numbers are computed exactly
LARGEST_FLOAT_EXPONENT = 1 << 23  # (1 + eps)^n amplifies the base's rounding n times: beyond, half the digits are lost


class Irrational(Exception):
    """The exact value is irrational, or a rational number of too many digits: the caller must compute in balls."""


class Imprecise(ArithmeticError):
    """A calculation in floats would lose most of its digits: the caller must compute in balls."""


class Undecided(Exception):
    """A ball contains several candidates for an integer result: the caller must raise the precision."""


def home(value: Any) -> str:
    """The library that defines a number's type: "builtins", "fractions", "numpy", "flint", "sympy", "torch", …"""
    return type(value).__module__.partition(".")[0]


def is_rational(value: Any) -> bool:
    """Whether the value is a Fraction or an fmpq, the types of exact rational numbers."""
    return isinstance(value, Fraction) or type(value).__name__ == "fmpq"


def named(symbol: str, value: Any) -> Any:
    """The value; where a formula is displayed, a part of it that the paper writes as this symbol (LaTeX)."""
    return type(value)("named", (symbol, value)) if home(value) == "fedconvex" else value


def sqrt(value: Any) -> Any:
    """The square root; of a Fraction or fmpq the exact root, or `Irrational` is raised."""
    return _rational_sqrt(value) if is_rational(value) else _apply("sqrt", value)


def log(value: Any) -> Any:
    """The natural logarithm; of a Fraction or fmpq `Irrational` is raised, except at 1."""
    if is_rational(value):  # log of a rational number other than 1 is irrational (Lindemann)
        return _zero_only_at(1, value)
    return _apply("log", value)


def exp(value: Any) -> Any:
    """The exponential function; of a Fraction or fmpq `Irrational` is raised, except at 0."""
    if is_rational(value):
        return _zero_only_at(0, value) + 1
    return _apply("exp", value)


def maximum(first: Any, *others: Any) -> Any:
    """The largest argument; of arrays the largest entry at each index."""
    for other in others:
        first = _larger(first, other)
    return first


def minimum(first: Any, *others: Any) -> Any:
    """The smallest argument; of arrays the smallest entry at each index."""
    if any(home(value) == "sympy" for value in (first, *others)):
        return sys.modules["sympy"].Min(first, *others)
    return -maximum(-first, *(-other for other in others))


def total(values: Any, of: Callable[[Any], Any] = lambda value: value) -> Any:
    """Σ of(v) over the values v of the clients."""
    # A term of the claim language stands for the values of all clients.
    return of(values).total() if home(values) == "fedconvex" else sum(map(of, values))


def total_of(of: Callable[..., Any], *values: Any) -> Any:
    """Σ of(v, w, …) over the clients, each with its entries of the arguments, which are equally long."""
    if all(home(value) == "fedconvex" for value in values):
        return of(*values).total()
    return sum(of(*entries) for entries in zip(*values, strict=True))


def count(values: Any) -> Any:
    """How many clients there are."""
    return values.count() if home(values) == "fedconvex" else len(values)


def average(values: Any) -> Any:
    """The plain mean of the clients' values."""
    return values.average() if home(values) == "fedconvex" else sum(values) / len(values)


def power(base: Any, exponent: Any) -> Any:
    """base^exponent for an integer exponent, by multiplications where exponents are exact.

    In floats `Imprecise` is raised where the exponent is so large that the rounding of the base costs half the digits;
    in rational numbers `Irrational` where the result would have more than 65,536 bits.
    """
    if {home(base), home(exponent)} <= {"builtins", "numpy", "torch"} and _exceeds(exponent, LARGEST_FLOAT_EXPONENT):
        raise Imprecise
    if is_rational(base) and abs(exponent) * _length(base) > LONGEST:
        raise Irrational
    if is_rational(exponent):
        return base ** int(exponent)
    if type(exponent).__name__ == "arb":
        # arb ** arb is exp(exponent · log(base)), which fails for base <= 0: use an integer where it is one
        whole = exponent.unique_fmpz() if exponent.is_exact() else None
        return base**exponent if whole is None else base ** int(whole)
    return base**exponent


def maximum_with_root(value: Any, square: Any) -> Any:
    """max(value, √square) for value >= 0; rational arguments need no root where the value is the larger one."""
    if is_rational(square) and value * value >= square:
        return value
    return maximum(value, sqrt(square))


def geometric_sum(excess: Any, terms: Any) -> Any:
    """Σ_{t < terms} (1 + excess)^t = ((1 + excess)^terms − 1)/excess; floats use expm1 to avoid cancellation."""
    homes = {home(excess), home(terms)}
    if homes <= {"builtins", "numpy", "torch"}:
        return _apply("expm1", terms * _apply("log1p", excess)) / excess
    return (power(1 + excess, terms) - 1) / excess


def ceil(value: Any) -> Any:
    """⌈value⌉; of a ball only if all its numbers have the same, else `Undecided` is raised."""
    match type(value).__name__:
        case "fmpq":
            return int(value.ceil())
        case "arb":
            integer = value.ceil().unique_fmpz()
            if integer is None:
                raise Undecided
            return int(integer)
        case "Number":  # a term of the claim language
            return value.ceil()
    return sys.modules["sympy"].ceiling(value) if home(value) == "sympy" else math.ceil(value)


def _exceeds(value: Any, limit: int) -> bool:
    """Whether |value|, or that of some entry, is larger than the limit."""
    found = abs(value) > limit
    return bool(found.any()) if hasattr(found, "any") else bool(found)


def _apply(name: str, value: Any) -> Any:
    match home(value):
        case "numpy" | "sympy" as library:
            return getattr(sys.modules[library], name)(value)
        case "torch" | "flint" | "fedconvex":  # the last: terms of claims
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
    """The number of bits of numerator and denominator together."""
    return sum(int(part).bit_length() for part in _ratio(value))


def _ratio(value: Any) -> tuple[Any, Any]:
    """Numerator and denominator."""
    return (value.p, value.q) if hasattr(value, "p") else (value.numerator, value.denominator)


def _zero_only_at(argument: int, value: Any) -> Any:
    """0, in the type of the value, if the value is that argument; else raises Irrational."""
    if value != argument:
        raise Irrational
    return value - argument
