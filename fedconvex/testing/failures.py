"""How an assertion ends: it passes, raises AssertionError with the numbers, or raises `NotDecided`."""

from typing import Any, NoReturn

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.errors import short_text

DIGITS = 6
MOST_ENTRIES = 8


class NotDecided(AssertionError):
    """Neither the assertion nor its negation could be proved."""


def refuted(headline: str, **numbers: Any) -> NoReturn:
    """Raises AssertionError: the headline, then one line for each number."""
    raise AssertionError(message(headline, **numbers))


def undecided(headline: str, **numbers: Any) -> NoReturn:
    """Raises NotDecided: the headline, then one line for each number."""
    raise NotDecided(message(headline, **numbers))


def decide(square: Any, bound: Any, headline: str, **numbers: Any) -> None:
    """Passes if square <= bound is proved, refutes if square > bound is; both are exact numbers or balls."""
    if square <= bound:  # of balls, `<=` and `>` are true only if every pair of numbers in them compares so
        return
    if square > bound:
        refuted(headline, **numbers)
    undecided(f"not decided whether {headline.replace(' is not ', ' is ', 1)}: the enclosure is too wide", **numbers)


def message(headline: str, **numbers: Any) -> str:
    """The headline, then one line for each number."""
    width = max(map(len, numbers), default=0)
    lines = [f"  {name.replace('_', ' '):{width}}  {shown(value)}" for name, value in numbers.items()]
    return "\n".join([headline, *lines])


def shown(value: Any) -> str:
    """A number with a readable number of digits; long arrays are cut off."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | list | tuple):
        entries = [shown(v) for v in np.asarray(value, dtype=object).ravel()[:MOST_ENTRIES]]
        return f"[{', '.join(entries)}{', …' if np.size(value) > MOST_ENTRIES else ''}]"
    if type(value).__name__ == "arb":
        return str(value.str(2 * DIGITS, radius=float(value.rad()) > 1e-12))
    text = str(value)
    is_long_number = len(text) > 2 * DIGITS and hasattr(value, "__truediv__")
    return f"{nearest_float(value):.{DIGITS}g}" if is_long_number else short_text(text)
