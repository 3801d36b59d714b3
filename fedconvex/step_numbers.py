"""Numbers of local steps: one for all clients, one for every client, or random ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Scalar
from fedconvex.errors import InvalidInput
from fedconvex.parameters import ReadableParameters
from fedconvex.randomness import Purpose, stream
from fedconvex.validation import integer_at_least, members_of, positive

__all__ = ["RandomNumberOfSteps"]  # for users; the package calls the others, too


@final
@dataclass(frozen=True)
class RandomNumberOfSteps(ReadableParameters):
    """Local steps whose number every client draws anew in every round, independently: `local_steps` of the methods.

    Use it for clients that are at times fast and at times slow; where each has its own speed give a number for every
    client, and where only some are late `participation.Stragglers`. What a client draws depends on the seed, the round
    and the client alone. Methods that divide by the length of the local path (SCAFFOLD's option II, FedNova) do so by
    that of the drawn steps. A round with it is random, so that fixed points and worst cases refuse it.

    Args:
        numbers: the numbers of steps that are drawn, integers >= 1.
        chances: their probabilities, up to a common factor: numbers > 0; default: all alike.

    Raises:
        InvalidInput: no numbers, values out of range, not as many chances as numbers.
    """

    numbers: tuple[int, ...]
    chances: tuple[Scalar, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", _integers(self.numbers, "numbers", "give integers >= 1, such as (1, 2, 5)"))
        if self.chances is None:
            return
        cure = f"give {len(self.numbers)} probabilities, one for every number of steps"
        chances = tuple(positive(p, f"chances[{i}]") for i, p in enumerate(members_of(self.chances, "chances", cure)))
        if len(chances) != len(self.numbers):
            raise InvalidInput("chances", self.chances, f"are not {len(self.numbers)}", cure)
        object.__setattr__(self, "chances", chances)

    def draw(self, seed: int, round: int, members: np.ndarray) -> np.ndarray:
        """The numbers of steps of these clients in the round, integers (K,)."""
        chances = [Fraction(p) for p in self.chances or (1,) * len(self.numbers)]
        limits = np.cumsum([float(p / sum(chances)) for p in chances[:-1]])
        # the first numbers of a stream are the same however many are taken: a client's does not depend on the others
        uniform = stream(seed, Purpose.NUMBERS_OF_STEPS, round).random(int(members.max(initial=-1)) + 1)[members]
        found: np.ndarray = np.array(self.numbers)[np.searchsorted(limits, uniform, side="right")]
        return found


NumberOfSteps = int | Sequence[int] | RandomNumberOfSteps


def numbers_of_steps(value: Any, argument: str) -> int | tuple[int, ...] | RandomNumberOfSteps:
    """Returns an integer >= 1 as an int, one for every client as a tuple, and random ones as they are."""
    if isinstance(value, RandomNumberOfSteps):
        return value
    several = isinstance(value, list | tuple | range) or np.ndim(value) > 0
    return steps_of_every_client(value, argument) if several else integer_at_least(value, 1, argument)


def steps_of_every_client(values: Any, argument: str) -> tuple[int, ...]:
    """Returns integers >= 1, one for every client and at least one of them, as a tuple."""
    return _integers(values, argument, f"give {argument} one integer >= 1 for every client, such as (3, 1, 5)")


def require_one_per_client(steps: Any, num_clients: int, argument: str) -> None:
    """Raises InvalidInput for several numbers of steps that are not as many as the problem's clients."""
    if isinstance(steps, tuple) and len(steps) != num_clients:
        problem = f"has {len(steps)} numbers for {num_clients} clients"
        raise InvalidInput(argument, steps, problem, "give one integer >= 1 for every client of the problem")


def common_steps(steps: NumberOfSteps) -> int | None:
    """The number of local steps that all clients take; None where they differ, or are drawn."""
    if isinstance(steps, int | RandomNumberOfSteps):
        return steps if isinstance(steps, int) else None
    return steps[0] if len(set(steps)) == 1 else None


def _integers(values: Any, argument: str, cure: str) -> tuple[int, ...]:
    found = tuple(integer_at_least(v, 1, f"{argument}[{k}]") for k, v in enumerate(members_of(values, argument, cure)))
    if not found:
        raise InvalidInput(argument, values, "is empty", cure)
    return found
