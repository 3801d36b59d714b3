"""The bounds that `bounds_for` gives for a run, compared with exact numbers."""

from fractions import Fraction
from typing import Any

from bound_makers import upper

from fedconvex.theory.bounds import Applies


def promised(bounds: Any, identifier: str) -> Any:
    """The number of a statement that applies."""
    entry = bounds[identifier]
    assert isinstance(entry, Applies), f"{identifier} does not apply: {entry.assumption}: {entry.reason}"
    return entry.value


def at_most(left: Fraction, bound: Any) -> bool:
    """Whether an exact number keeps a bound known as a ball."""
    return left <= upper(bound)
