"""Validation of arguments that choose one of several names."""

from collections.abc import Iterable

from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion


def one_of(value: object, known: Iterable[str], argument: str) -> str:
    """Return `value` if it is one of the known names; otherwise raise InvalidInput, which suggests the nearest one."""
    names = list(known)
    if isinstance(value, str) and value in names:
        return value
    raise unknown_name(argument, value, names)


def unknown_name(argument: str, value: object, known: Iterable[str]) -> InvalidInput:
    """Return the error for a value that is not among the known names; it suggests the nearest one."""
    names = list(known)
    return InvalidInput(argument, value, "is unknown", f"{suggestion(value, names)}known: {', '.join(names)}")
