"""The errors that users see. Every one of them says what is wrong with which value, and what to do about it."""

from pathlib import PurePath
from typing import Any


class FedconvexError(Exception):
    """Base of all errors that the project raises on purpose."""


class InvalidInput(FedconvexError, ValueError):
    """An argument that cannot be used: its name, its value, what is wrong, and the cure.

    >>> raise InvalidInput("stepsize", -1, "must be positive", "give a stepsize > 0")
    Traceback (most recent call last):
    fedconvex.errors.InvalidInput: stepsize = -1: must be positive; give a stepsize > 0
    """

    def __init__(self, argument: str, value: Any, problem: str, cure: str) -> None:
        self.argument, self.value, self.problem, self.cure = argument, value, problem, cure
        super().__init__(argument, value, problem, cure)

    def __str__(self) -> str:
        return f"{self.argument} = {short_text(self.value)}: {self.problem}; {self.cure}"


class NoMinimizer(FedconvexError):
    """The objective has no minimiser; `witness` is a direction along which it decreases without end.

    `witness` is a 1-d array of `fractions.Fraction`, checked in exact arithmetic.
    """

    def __init__(self, reason: str, witness: Any = None) -> None:
        super().__init__(reason)
        self.witness = witness


class NoFixedPoint(FedconvexError):
    """The method has no fixed point on this problem; `witness` is a direction along which the iterates drift."""

    def __init__(self, reason: str, witness: Any = None) -> None:
        super().__init__(reason)
        self.witness = witness


class NotConverged(FedconvexError):
    """A numerical search ended without a result that is good enough to be reported."""


class MissingLibrary(FedconvexError, ImportError):
    """An optional library that this call needs is not installed."""

    def __init__(self, library: str, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed; pip install 'fedconvex[{extra}]'")


def short_text(value: Any, limit: int = 80) -> str:
    """The value on one line, cut off where it is long; a path is whole, since its end is what tells."""
    if isinstance(value, PurePath):
        return str(value)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # 0, not np.int64(0)
    try:
        text = str(value) if type(value).__name__ in ("str", "Fraction", "fmpq", "fmpz") else repr(value)
    except ValueError:  # a number too long for Python to write out
        text = "a number of thousands of digits"
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
