"""Numbers for strategies: rationals on a coarse grid, which shrink to small integers, or floats; checks of ranges."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, floor, lcm
from typing import Any, final

from hypothesis import strategies as st

from fedconvex.arithmetic.rationals import Scalar, float_at_least, simplest_between, to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.strategies.byte_draws import ByteDraws
from fedconvex.validation import integer_at_least, truth_value

DENOMINATORS = (1, 2, 3)  # entries are integers, halves or thirds: coarse grids make coincidences likely


@final
@dataclass(frozen=True)
class NumberRange:
    """The numbers from `low` to `high`, rational or floats. Raises InvalidInput if there are none."""

    low: Scalar
    high: Scalar
    exact: bool = True

    def __post_init__(self) -> None:
        truth_value(self.exact, "exact")
        low, high = to_fraction(self.low, "min_value"), to_fraction(self.high, "max_value")
        if high < low:
            problem = f"is smaller than min_value = {short_text(self.low)}"
            raise InvalidInput("max_value", self.high, problem, "give max_value >= min_value")

    def denominator(self, draws: ByteDraws) -> int:
        """Whether numbers are integers, halves or thirds: drawn once for a problem."""
        return int(draws.pick(DENOMINATORS)) if self.exact else 1

    def number(self, draws: ByteDraws, denominator: int) -> Any:
        """A number of the range with this denominator; if numbers are floats, sometimes any other of the range.

        Size, sign and fraction are drawn by themselves, so that a counterexample loses its fractions alone.
        """
        size, negative = divmod(draws.below(2 * (self._sizes.stop - self._sizes.start)), 2)
        number = self._rational(size, negative, draws.below(6) % denominator, denominator)
        if self.exact:
            return number
        share, anywhere = draws.below(2**32) / 2**32, draws.below(4) == 3
        low, high = self.float_bounds
        return min(max(low * (1 - share) + high * share, low), high) if anywhere else float(number)

    @cached_property
    def _rational(self) -> Callable[[int, int, int, int], Any]:
        """The number of a size, sign and fraction; kept, since most are drawn many times."""

        @lru_cache(maxsize=4096)
        def rational(size: int, negative: int, numerator: int, denominator: int) -> Any:
            whole, part = Fraction(self._sizes[size], self._unit), Fraction(numerator, denominator)
            sign = -1 if negative else 1
            choices = (sign * (whole + part), sign * whole, -sign * (whole + part), -sign * whole)
            return tidy(next(n for n in choices if self._first <= n * self._unit <= self._last))

        return rational

    @cached_property
    def _bounds(self) -> tuple[Fraction, Fraction]:
        low, high = (self.low, self.high) if self.exact else self.float_bounds
        return to_fraction(low), to_fraction(high)

    @cached_property
    def _unit(self) -> int:
        """1, or where the range has no integer the inverse of a step that leads to both its bounds."""
        low, high = self._bounds
        return 1 if ceil(low) <= floor(high) else lcm(low.denominator, high.denominator)

    @cached_property
    def _first(self) -> Fraction:
        return self._bounds[0] * self._unit

    @cached_property
    def _last(self) -> Fraction:
        return self._bounds[1] * self._unit

    @cached_property
    def _sizes(self) -> range:
        """The absolute values of the range's integers, or of its multiples of 1/unit, times the unit."""
        first, last = ceil(self._first), floor(self._last)
        return range(max(first, -last, 0), max(last, -first) + 1)

    @property
    def float_bounds(self) -> tuple[float, float]:
        """The least and the greatest float of the range. Raises InvalidInput if there are none."""
        low, high = to_fraction(self.low), to_fraction(self.high)
        first, last = float_at_least(low), -float_at_least(-high)
        if first > last:
            raise InvalidInput("max_value", self.high, "leaves no float between", "give a wider range, or exact=True")
        return first, last


def tidy(number: Fraction) -> Any:
    """The number as an int if it is whole, so that Hypothesis prints examples that are easy to read."""
    return int(number) if number.denominator == 1 else number


def count_range(least: Any, most: Any, what: str, smallest: int = 1) -> tuple[int, int]:
    """The range `min_…` to `max_…` of a count, validated; `what` completes the arguments' names in errors."""
    low = integer_at_least(least, smallest, f"min_{what}")
    high = integer_at_least(most, smallest, f"max_{what}")
    if high < low:
        raise InvalidInput(f"max_{what}", high, f"is smaller than min_{what} = {low}", f"give max_{what} >= {low}")
    return low, high


@lru_cache(maxsize=1024)  # Hypothesis examines each new strategy, which takes longer than to draw from it
def numbers_in_interval(
    low: Fraction | None, high: Fraction | None, *, open_low: bool, open_high: bool, integer: bool
) -> Any:
    """A strategy for the rationals (or integers) of an interval; None: unbounded on that side.

    It draws integers, closed endpoints and fractions between, and shrinks to the integer nearest to 0 or, if the
    interval has no integer, to the fraction with the smallest denominator. Raises InvalidInput for an empty interval.
    """
    first = None if low is None else (floor(low) + 1 if open_low else ceil(low))
    last = None if high is None else (ceil(high) - 1 if open_high else floor(high))
    whole = first is None or last is None or first <= last
    empty = low is not None and high is not None and (low > high or (low == high and (open_low or open_high)))
    if empty or (integer and not whole):
        problem = "contains no integer" if integer else "is empty"
        raise InvalidInput("interval", (low, high), problem, "give other bounds")
    # Hypothesis shrinks to the first alternative: the simplest number comes first
    choices: list[Any]
    if whole:
        choices = [st.just(_nearest_to_zero(first, last)), _integers(first, last)]
    else:
        assert low is not None
        assert high is not None
        choices = [st.just(low if low == high else simplest_between(low, high))]
    if integer:
        return st.one_of(choices)
    endpoints = ((low, open_low), (high, open_high))
    choices += [st.just(tidy(endpoint)) for endpoint, is_open in endpoints if endpoint is not None and not is_open]
    if low is None or low != high:
        choices.append(st.integers(1, 23).map(lambda k: tidy(_along(low, high, Fraction(k, 24)))))
    return st.one_of(choices)


def _along(low: Fraction | None, high: Fraction | None, part: Fraction) -> Fraction:
    """low + part·(high − low) for 0 < part < 1; a missing bound is replaced by one some way beyond the other."""
    way = 8 * max(abs(low or Fraction(0)), abs(high or Fraction(0)), Fraction(1))
    if low is None:
        low = -way / 2 if high is None else high - way
    return low + part * (way if high is None else high - low)


def _nearest_to_zero(first: int | None, last: int | None) -> int:
    at_least = 0 if first is None else max(first, 0)
    return at_least if last is None else min(at_least, last)


def _integers(first: int | None, last: int | None) -> Any:
    """Integers near a bound, and occasionally large ones."""
    if first is None:
        return st.integers(-10, 10) if last is None else st.integers(last - 10, last)
    if last is not None:
        return st.integers(first, last)
    return st.integers(first, first + 10) | st.sampled_from([max(first, 100), max(first, 10_000)])
