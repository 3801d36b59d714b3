"""Who takes part in a round, with which weight in the server's average, and who comes late.

| scheme | who | average over those who take part |
|---|---|---|
| `Full()` | everyone | with the problem's weights |
| `Uniform(K)` | K different clients, each set equally likely | plain |
| `Weighted(K)` | K independent draws, client k with probability weights[k] | plain, over the draws |
| `UniformThenWeighted(K)` | as `Uniform(K)` | with the problem's weights, renormalised |
| `Schedule([[…], …])` | as written | with the problem's weights, renormalised |
| `Bernoulli(p)` | each client by itself with probability p | with the problem's weights, renormalised |

Methods whose papers minimise a plain sum or mean (FedSplit, FedDyn, SCAFFOLD, FedPD) carry the problem's weights in the
clients' functions; their averages are plain in every scheme, `Weighted` counting a client as often as it was drawn.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.randomness import Purpose, stream
from fedconvex.validation import integer_at_least


@final
@dataclass(frozen=True, eq=False)
class Draw:
    """One round's participants as plain numbers."""

    members: np.ndarray | None = None  # (K,) ascending client numbers; None: everyone
    shares: np.ndarray | None = None  # (K,) integers, the weights of a plain average; None: the method's own weights
    efforts: np.ndarray | None = None  # (K,) epochs or steps of local work; None: everyone does all of it
    round: int = 0
    seed: int = 0

    def kept(self, mask: np.ndarray) -> "Draw":
        """The same draw without the clients where the mask is False."""
        assert self.members is not None
        shares, efforts = (None if a is None else a[mask] for a in (self.shares, self.efforts))
        return replace(self, members=self.members[mask], shares=shares, efforts=efforts)


class Participation(ABC):
    """Subclasses are frozen dataclasses that say which clients take part in each round."""

    @abstractmethod
    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        """The participants of round 0, 1, …: the same for the same seed, whatever the method."""

    def require(self, problem: Problem, rounds: int) -> None:  # noqa: B027 - most schemes fit every problem
        """Raises InvalidInput where the scheme does not fit the problem or the number of rounds."""

    def takes_everyone(self, problem: Problem) -> bool:
        """Whether everyone takes part in every round."""
        return False


@final
@dataclass(frozen=True)
class Full(Participation):
    """Every client takes part in every round."""

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        return Draw(round=round, seed=seed)

    def takes_everyone(self, problem: Problem) -> bool:
        return True


@final
@dataclass(frozen=True)
class Uniform(Participation):
    """K different clients, every set of K equally likely; the server's average over them is plain.

    FedDyn paper, Algorithm 1 (|P_t| = K). With unequal weights and a method that averages with them (FedAvg, FedProx),
    the plain average aims at the unweighted mean of the clients: see `Weighted` and `UniformThenWeighted`.
    """

    K: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "K", integer_at_least(self.K, 1, "K"))

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        members = _without_replacement(problem, self.K, seed, round, purpose)
        return Draw(members, np.ones(self.K, dtype=np.int64), round=round, seed=seed)

    def require(self, problem: Problem, rounds: int) -> None:
        _at_most_all(self.K, problem)

    def takes_everyone(self, problem: Problem) -> bool:
        return problem.num_clients == self.K


@final
@dataclass(frozen=True)
class UniformThenWeighted(Participation):
    """K different clients, every set of K equally likely, averaged with the problem's weights, renormalised.

    The FedProx paper's experiments (weights proportional to n_k).
    """

    K: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "K", integer_at_least(self.K, 1, "K"))

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        return Draw(_without_replacement(problem, self.K, seed, round, purpose), round=round, seed=seed)

    def require(self, problem: Problem, rounds: int) -> None:
        _at_most_all(self.K, problem)

    def takes_everyone(self, problem: Problem) -> bool:
        return problem.num_clients == self.K


@final
@dataclass(frozen=True)
class Weighted(Participation):
    """K independent draws, client k with probability weights[k]; the average over the K draws is plain.

    The sampling of FedProx's Algorithms 1 and 2 and of its analysis: the average's expectation is the weighted mean. A
    client that is drawn again works once and counts as often as it was drawn.
    """

    K: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "K", integer_at_least(self.K, 1, "K"))

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        drawn = stream(seed, purpose, round).choice(problem.num_clients, size=self.K, p=problem.weights)
        members, times = np.unique(drawn, return_counts=True)
        return Draw(members, times, round=round, seed=seed)


@final
@dataclass(frozen=True)
class Bernoulli(Participation):
    """Every client by itself with probability p, drawn again where that leaves nobody.

    The sampling of the code that was released with the FedDyn paper.
    """

    p: Any

    def __post_init__(self) -> None:
        if not 0 < to_fraction(self.p, "p") <= 1:
            raise InvalidInput("p", self.p, "is not a probability > 0", "give 0 < p <= 1")

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        generator, m, p = stream(seed, purpose, round), problem.num_clients, nearest_float(self.p)
        # how many, then which, to take time only for those who take part: the first one's place, given that there is
        # one, is geometric, cut off at m; those behind it are independent
        first = 1
        if 0 < p < 1:
            log_absent = np.log1p(-p)
            first = int(np.ceil(np.log1p(generator.random() * np.expm1(m * log_absent)) / log_absent))
        behind = m - min(max(first, 1), m)
        return Draw(_subset(generator, m, 1 + int(generator.binomial(behind, p))), round=round, seed=seed)

    def takes_everyone(self, problem: Problem) -> bool:
        return bool(self.p == 1)


@final
@dataclass(frozen=True, init=False)
class Schedule(Participation):
    """Round t's clients as written: `Schedule([[0, 2], [1], []])`; in a round with nobody, nothing changes.

    Args:
        clients: one list of distinct client numbers 0, …, m − 1 per round, at least as many as there are rounds.
    """

    clients: tuple[tuple[int, ...], ...]

    def __init__(self, clients: Sequence[Sequence[int]]) -> None:
        if not _is_list(clients) or not len(clients):
            raise InvalidInput("clients", clients, "is not a list with one list of clients per round", "give [[0, 1]]")
        rounds = []
        for t, chosen in enumerate(clients):
            if not _is_list(chosen):
                raise InvalidInput(
                    f"clients[{t}]", chosen, "is not a list of client numbers", "give for example [0, 2]"
                )
            numbers = [integer_at_least(k, 0, f"clients[{t}]") for k in chosen]
            if len(set(numbers)) < len(numbers):
                raise InvalidInput(f"clients[{t}]", chosen, "names a client twice", "name every client once")
            rounds.append(tuple(sorted(numbers)))
        object.__setattr__(self, "clients", tuple(rounds))

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        return Draw(np.array(self.clients[round], dtype=np.int64), round=round, seed=seed)

    def takes_everyone(self, problem: Problem) -> bool:
        return all(len(chosen) == problem.num_clients for chosen in self.clients)

    def require(self, problem: Problem, rounds: int) -> None:
        if len(self.clients) < rounds:
            cure = f"add to the schedule, or run {len(self.clients)} rounds"
            raise InvalidInput("rounds", rounds, f"the schedule has {len(self.clients)} rounds", cure)
        for t, chosen in enumerate(self.clients):
            if chosen and chosen[-1] >= problem.num_clients:
                largest = problem.num_clients - 1
                raise InvalidInput(f"clients[{t}]", list(chosen), f"the clients are 0, …, {largest}", "name only these")


@final
@dataclass(frozen=True)
class Stragglers:
    """A part of the chosen clients manages only x epochs (or steps) of its E, x uniform on 1, …, E.

    FedProx paper, section 5.2. Who is late and by how much depends on the seed and the round alone, not on the policy.

    Args:
        fraction: in [0, 1], of the clients that take part; their number is rounded to the nearest, halves upwards.
        policy: "drop" leaves the late ones out, as FedAvg does (a client of full work is no longer averaged with them;
            where all are late, the round changes nothing); "use" averages what they have got, as FedProx does.
    """

    fraction: Any
    policy: Literal["drop", "use"] = "use"

    def __post_init__(self) -> None:
        if not 0 <= to_fraction(self.fraction, "fraction") <= 1:
            raise InvalidInput(
                "fraction", self.fraction, "is not in [0, 1]", "give the part of the clients that is late"
            )
        if self.policy not in ("drop", "use"):
            raise InvalidInput("policy", self.policy, "is unknown", "give 'drop' or 'use'")

    def slow(self, draw: Draw, num_clients: int, effort: int | None) -> Draw:
        """The draw after the late clients have been dropped or their efforts cut; `effort` is E, the full work."""
        members = np.arange(num_clients) if draw.members is None else draw.members
        late_clients = int(to_fraction(self.fraction) * len(members) + Fraction(1, 2))
        generator = stream(draw.seed, Purpose.STRAGGLERS, draw.round)
        late = _subset(generator, len(members), late_clients)
        chosen = replace(draw, members=members)
        if self.policy == "drop":
            mask = np.ones(len(members), dtype=bool)
            mask[late] = False
            return chosen.kept(mask) if late_clients else draw
        assert effort is not None
        efforts = np.full(len(members), effort)
        efforts[late] = generator.integers(1, effort, size=late_clients, endpoint=True)
        return replace(chosen, efforts=efforts) if late_clients else draw


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple | range) or (isinstance(values, np.ndarray) and values.ndim > 0)


def _without_replacement(problem: Problem, K: int, seed: int, round: int, purpose: Purpose) -> np.ndarray:
    return _subset(stream(seed, purpose, round), problem.num_clients, K)


def _subset(generator: np.random.Generator, population: int, size: int) -> np.ndarray:
    """`size` different numbers below `population`, ascending."""
    return np.sort(generator.choice(population, size=size, replace=False, shuffle=False))


def _at_most_all(K: int, problem: Problem) -> None:
    if problem.num_clients < K:
        raise InvalidInput("K", K, f"the problem has {problem.num_clients} clients", f"give K <= {problem.num_clients}")
