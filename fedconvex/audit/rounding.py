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
    exact = significant(value, digits, rounding)
    nearest = float(exact)  # up to 15 digits survive, and floats print without trailing zeros
    return f"{nearest if math.isfinite(nearest) else exact:.{digits}g}"
