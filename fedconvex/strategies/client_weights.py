"""Clients' weights in the objective."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fedconvex.strategies.numbers import Draw, NumberRange, counts
from fedconvex.validation import non_negative, positive


def weights(
    min_value: Any = 0, max_value: Any = 3, *, min_clients: int = 1, max_clients: int = 3, exact: bool = True
) -> st.SearchStrategy[list[Any]]:
    """Lists with one weight per client, not all of them 0; problems normalise them to sum 1.

    For `min_value` = 0 some clients are silent: their weight is 0. Shrinks to one client.

    Args:
        min_value, max_value: of a weight, 0 <= min_value <= max_value, max_value > 0.
        min_clients, max_clients: how many there are.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: for ranges that contain nothing.
    """
    low, high = counts(min_clients, max_clients, "clients")
    non_negative(min_value, "min_value")
    positive(max_value, "max_value")
    span = NumberRange(min_value, max_value, exact)

    @st.composite
    def build(draw: Draw) -> list[Any]:
        return drawn_weights(draw, draw(st.integers(low, high)), span)

    return build()


def drawn_weights(draw: Draw, m: int, span: NumberRange) -> list[Any]:
    """m weights, of which one at least is positive."""
    drawn = span.several(draw, m)
    if not any(drawn):
        drawn[0] = min(1, span.high)
    return drawn


def shares(draw: Draw, m: int, *, positive: bool, exact: bool = True) -> list[Any] | None:
    """A problem's weights: None (equal), or unequal ones."""
    if draw(st.booleans()):
        return drawn_weights(draw, m, NumberRange(Fraction(1, 3) if positive else 0, 3, exact))
    return None
