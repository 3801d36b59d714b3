"""Every draw of a participation scheme with its probability: expectations over the draw are then finite sums."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, factorial

import numpy as np

from fedconvex.participation import Draw, Full, Participation, Schedule, Uniform, Weighted
from fedconvex.problems.base import Problem

MOST = 256  # more draws than these are not enumerated

Outcomes = list[tuple[Fraction, Draw]]


def every_draw(scheme: Participation, problem: Problem, round: int = 0, seed: int = 0) -> Outcomes | None:
    """The draws of a round with their probabilities; None where they are too many or the scheme is not known here."""
    m = problem.num_clients
    if isinstance(scheme, Full | Schedule):
        return [(Fraction(1), scheme.draw(problem, seed, round))]
    if isinstance(scheme, Uniform) and (number := comb(m, scheme.K)) <= MOST:
        ones = np.ones(scheme.K, dtype=np.int64)
        return [
            (Fraction(1, number), Draw(np.array(chosen), ones, round=round, seed=seed))
            for chosen in combinations(range(m), scheme.K)
        ]
    if isinstance(scheme, Weighted) and comb(m + scheme.K - 1, scheme.K) <= MOST:
        return [o for times in _divisions(scheme.K, m) if (o := _drawn(times, problem, round, seed))[0] > 0]
    return None


def _divisions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as an ordered sum of that many integers >= 0."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _divisions(total - first, parts - 1))


def _drawn(times: tuple[int, ...], problem: Problem, round: int, seed: int) -> tuple[Fraction, Draw]:
    """Client k is drawn times[k] times: the multinomial probability."""
    probability = Fraction(factorial(sum(times)))
    for count, weight in zip(times, problem.exact_weights, strict=True):
        probability *= weight**count / factorial(count)
    members = np.flatnonzero(times)
    return probability, Draw(members, np.array(times)[members], round=round, seed=seed)
