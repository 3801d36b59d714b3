"""All random decisions as one sequence of numbers: it can be replayed, and changed in one place."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any, TypeVar, final

T = TypeVar("T")
GRID = 120  # a choice is one of 0, 1, …, GRID: small denominators keep exact numbers short


@final
class Choices:
    """A source of decisions: those of `given` first, then random ones of the seed. `made` has all that were made.

    Changing an entry of `made` and replaying it changes one decision: a search can climb from there, and everything
    that is built stays valid by construction.
    """

    def __init__(self, seed: Any, given: Sequence[int] = ()) -> None:
        self.made: list[int] = []
        self._given, self._random = given, Random(seed)

    def step(self) -> int:
        """One of 0, …, GRID; its ends, where bounds are attained, are likely."""
        place = len(self.made)
        chosen = self._given[place] if place < len(self._given) else self._fresh()
        self.made.append(chosen)
        return chosen

    def _fresh(self) -> int:
        return self._random.choice((0, GRID)) if self._random.random() < 0.2 else self._random.randint(0, GRID)

    def between(self, low: Any, high: Any) -> Fraction:
        """A number in [low, high], both included."""
        return Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(self.step(), GRID)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[min(self.step() * len(options) // (GRID + 1), len(options) - 1)]

    def vector(self, size: int, bound: Any) -> list[Fraction]:
        """A vector with entries in [−bound, bound]."""
        return [self.between(-bound, bound) for _ in range(size)]
