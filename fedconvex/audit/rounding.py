"""Decimal digits for people: a printed bound is rounded to the safe side, never to nearest."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def significant(value: float, digits: int, rounding: str) -> Decimal:
    """The float to so many significant decimal digits, in the given direction of `decimal`."""
    exact = Decimal(value)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=rounding) if exact else exact


def at_most(value: float, digits: int) -> str:
    """ "≤ …" with a number that is not below the value."""
    return f"≤ {_text(value, digits, ROUND_CEILING)}"


def at_least(value: float, digits: int) -> str:
    """ "≥ …" with a number that is not above the value."""
    return f"≥ {_text(value, digits, ROUND_FLOOR)}"


def _text(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{significant(value, digits, rounding):.{digits}g}"
