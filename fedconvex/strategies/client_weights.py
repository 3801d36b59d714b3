"""Strategies for the clients' weights in the objective."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from fedconvex.strategies.byte_draws import ByteDraws, from_bytes
from fedconvex.strategies.numbers import NumberRange, count_range
from fedconvex.validation import non_negative, positive, truth_value


def weights(
    min_value: Any = 0, max_value: Any = 3, *, min_clients: int = 1, max_clients: int = 3, exact: bool = True
) -> st.SearchStrategy[list[Any]]:
    """A strategy for lists of one weight per client, not all 0; problems normalise them to sum 1.

    Use it to test code that takes weights. With `min_value` = 0 some clients have weight 0. Shrinks to one client.

    Args:
        min_value, max_value: the range of a weight, 0 <= min_value <= max_value, max_value > 0.
        min_clients, max_clients: the range of the number of clients, >= 1.
        exact: ints and Fractions; False: floats.

    Raises:
        InvalidInput: for ranges that contain nothing.
    """
    low, high = count_range(min_clients, max_clients, "clients")
    non_negative(min_value, "min_value")
    positive(max_value, "max_value")
    span = NumberRange(min_value, max_value, exact)

    def build(draws: ByteDraws) -> list[Any]:
        return drawn_weights(draws, draws.some(low, high), high, span)

    return from_bytes(build)


def drawn_weights(draws: ByteDraws, clients: Sequence[int], most: int, span: NumberRange) -> list[Any]:
    """The weights of these clients of at most so many, at least one of them positive."""
    denominator = span.denominator(draws)
    drawn = [span.number(draws, denominator) for _ in range(most)]
    chosen = [drawn[k] for k in clients]
    if not any(chosen):  # repaired instead of rejected
        chosen[0] = min(1, span.high)
    return chosen


def optional_weights(
    draws: ByteDraws, clients: Sequence[int], most: int, *, positive: bool, exact: bool = True
) -> list[Any] | None:
    """A problem's weights: None (equal weights) or a list."""
    truth_value(positive, "positive_weights")
    weighted = draws.below(2)
    drawn = drawn_weights(draws, clients, most, NumberRange(Fraction(1, 3) if positive else 0, 3, exact))
    return drawn if weighted else None
