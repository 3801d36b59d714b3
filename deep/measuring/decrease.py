"""The expected decrease of the objective in one round, over the random choice of clients."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, nan, prod
from typing import Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.participation import Draw, Participation, Schedule, Uniform, UniformThenWeighted, Weighted
from fedconvex.problems.base import Problem
from fedconvex.randomness import Purpose
from fedconvex.runs.measurements import RoundMeasurements
from fedconvex.runs.rounds import RoundResult, Rounds

FEWEST = 8  # sampled draws of which a standard error says something: two may be alike by chance


@final
@dataclass(frozen=True)
class Decrease:
    """f(w^t) − E_{S_t} f(w^{t+1}), and its standard error.

    That is 0 if all sets S_t were enumerated, NaN for fewer than `FEWEST` sampled ones.
    """

    mean: float
    error: float
    draws: int
    inexactness: float  # the largest γ_k of all clients, drawn or not: E f(w^{t+1}) depends on all of them


def require_memoryless(rounds: Rounds) -> None:
    """Raise InvalidInput unless a client's answer depends on the server's point alone."""
    if not rounds.method.is_stateless or rounds.method.gradients_from != "nobody":
        name = type(rounds.method).__name__
        raise InvalidInput(
            "measure", "decrease", f"is for methods whose clients have no memory, not {name}", "leave it out"
        )


def round_of_all(rounds: Rounds, state: State, t: int, seed: int) -> RoundResult:
    """Round t from `state` as if all clients took part, with the mini-batches of the run."""
    result = rounds.play(state, Draw(np.arange(rounds.problem.num_clients), round=t, seed=seed))
    assert result is not None
    return result


def expected_decrease(
    rounds: Rounds,
    participation: Participation,
    state: State,
    t: int,
    seed: int,
    most: int = 30,
    result: RoundResult | None = None,
) -> Decrease:
    """Compute the expected decrease of round t from `state`, exactly if there are at most `most` sets of clients.

    Otherwise `most` sets are sampled. Every client computes its answer once, and each set costs one more evaluation of
    the objective. The expectation is over the participants; mini-batches are those of the run (they depend on the round
    and the client alone). Use it to compare a round with theorems on f(w^t) − E f(w^{t+1}).

    result: what `round_of_all` returned, if the round has been played.
    """
    everyone = Draw(np.arange(rounds.problem.num_clients), round=t, seed=seed)
    result = round_of_all(rounds, state, t, seed) if result is None else result
    inexactness = float(RoundMeasurements(rounds, (), None).inexactness(everyone, result).max())
    found = outcomes(participation, rounds.problem, t, most)
    if found == []:  # a schedule without this round
        return Decrease(nan, nan, 0, inexactness)
    if found is not None:
        draws, chances = zip(*found, strict=True)
    else:
        # A random stream of their own: measuring must not change which clients the run draws.
        draws = tuple(participation.draw(rounds.problem, seed, i, Purpose.PROBES) for i in range(most))
        chances = (1 / most,) * most
    before = float(rounds.objective(state.server))
    falls = []
    for draw in draws:
        # Round and seed choose the mini-batches: those that the run itself would use.
        placed = replace(draw, round=t, seed=seed)
        places = rounds.places(rounds.here(draw))
        answers = result.answers if places is None else result.answers.of(places)
        after = rounds.play(state, placed, answers=answers)
        # No participants: the model stays, and the decrease is 0.
        falls.append(0.0 if after is None else before - float(rounds.objective(after.state.server)))
    mean = float(np.dot(chances, falls))
    if found is not None:
        return Decrease(mean, 0.0, len(falls), inexactness)
    error = float(np.std(falls, ddof=1) / most**0.5) if most >= FEWEST else nan
    return Decrease(mean, error, most, inexactness)


def outcomes(participation: Participation, problem: Problem, t: int, most: int) -> list[tuple[Draw, float]] | None:
    """All possible draws of round t with their probabilities; [] after the end of a schedule.

    None if there are more than `most`, or if the scheme's draws cannot be enumerated here.
    """
    m = problem.num_clients
    if isinstance(participation, Schedule):
        return [(participation.draw(problem, 0, t), 1.0)] if t < len(participation.clients) else []
    if participation.takes_everyone(problem):  # every round has the same draw
        return [(participation.draw(problem, 0, 0), 1.0)]
    if isinstance(participation, Uniform | UniformThenWeighted) and comb(m, participation.K) <= most:
        return list(_sets(participation, m))
    if isinstance(participation, Weighted) and comb(m + participation.K - 1, participation.K) <= most:
        return list(_tuples(participation.K, problem))
    return None


def _sets(participation: Uniform | UniformThenWeighted, m: int) -> Iterator[tuple[Draw, float]]:
    K = participation.K
    shares: Any = np.ones(K, dtype=np.int64) if isinstance(participation, Uniform) else None
    for members in combinations(range(m), K):
        yield Draw(np.array(members), shares), 1 / comb(m, K)


def _tuples(K: int, problem: Problem) -> Iterator[tuple[Draw, float]]:
    """K independent draws with replacement: every multiset, with its multinomial probability."""
    for drawn in combinations_with_replacement(range(problem.num_clients), K):
        members, times = np.unique(drawn, return_counts=True)
        orders = factorial(K) // prod(factorial(int(n)) for n in times)
        yield Draw(members, times), orders * float(np.prod(problem.weights[list(drawn)]))
