"""Validation of arguments that choose one of several names."""

from collections.abc import Iterable
from difflib import get_close_matches

from fedconvex.errors import InvalidInput


def one_of(value: object, known: Iterable[str], argument: str) -> str:
    """Return `value` if it is one of the known names; otherwise raise InvalidInput, which suggests the nearest one."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    raise unknown_name(argument, value, names)


def unknown_name(argument: str, value: object, known: Iterable[str]) -> InvalidInput:
    """Return the error for a value that is not among the known names; it suggests the nearest one."""
    names = list(known)
    near = get_close_matches(str(value), names, n=1, cutoff=0.5)
    guess = f"did you mean {near[0]}? " if near else ""
    return InvalidInput(argument, value, "is unknown", f"{guess}known: {', '.join(names)}")
