"""Participation schemes: which clients take part in a round, how the server weights them, and who is a straggler.

| scheme | participants | server's average over them |
|---|---|---|
| `Full()` | all clients | with the problem's weights |
| `Uniform(K)` | K different clients, each set equally likely | plain |
| `Weighted(K)` | K independent draws, client k with probability weights[k] | plain, over the draws |
| `UniformThenWeighted(K)` | as `Uniform(K)` | with the problem's weights, renormalised |
| `Schedule([[…], …])` | the listed clients | with the problem's weights, renormalised |
| `Bernoulli(p)` | each client independently with probability p | with the problem's weights, renormalised |

Methods whose papers minimise a plain sum or mean (FedSplit, FedDyn, SCAFFOLD, FedPD) have the problem's weights in the
clients' functions; their averages are plain in every scheme, `Weighted` counting a client as often as it was drawn.

All draws depend only on the seed and the round, so that different methods see the same participants.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any, Literal, final

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float, to_fraction
from fedconvex.errors import InvalidInput, short_text
from fedconvex.names import suggestion
from fedconvex.parameters import ReadableParameters
from fedconvex.problems.base import Problem
from fedconvex.randomness import Purpose, stream
from fedconvex.shown import COLUMNS
from fedconvex.validation import integer_at_least, is_choice

MOST_EFFORT = 2**62  # epochs or steps of a round, of which stragglers do a random part


@final
@dataclass(frozen=True, eq=False)
class Draw:
    """The participants of one round."""

    members: np.ndarray | None = None  # (K,) ascending client indices; None: all clients
    shares: np.ndarray | None = None  # (K,) multiplicities in a plain average; None: the method's own weights
    efforts: np.ndarray | None = None  # (K,) epochs or steps of local work; None: the full work
    round: int = 0
    seed: int = 0
    communicates: bool | None = None  # of methods with random communication; None: as the seed says

    def kept(self, mask: np.ndarray) -> "Draw":
        """The draw without the clients whose entry of the mask is False."""
        assert self.members is not None
        shares, efforts = (None if a is None else a[mask] for a in (self.shares, self.efforts))
        return replace(self, members=self.members[mask], shares=shares, efforts=efforts)


class Participation(ReadableParameters, ABC):
    """A rule that selects the participants of every round. Subclasses are frozen dataclasses of its parameters."""

    @abstractmethod
    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        """The participants of round 0, 1, …; the same for the same seed and purpose, whatever the method."""

    def require(self, problem: Problem, rounds: int) -> None:
        """Raises InvalidInput if the scheme does not fit the problem or the number of rounds."""

    def takes_everyone(self, problem: Problem) -> bool:
        """Whether all clients take part in every round."""
        return False

    def sizes(self, num_clients: int) -> Mapping[int, Fraction] | None:
        """How likely each number of participants is, of equally weighted clients; None where more has to be known.

        All sets of a number are then equally likely, independently in every round. `lyapunov`, `worst_case` and other
        proofs need no more of a scheme.
        """
        return None


@final
@dataclass(frozen=True)
class Full(Participation):
    """Full participation: all clients in every round, averaged with the problem's weights.

    The default, and the assumption of most theory: fixed points, FedSplit's rates and ADMM's convergence need it.
    """

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        return Draw(round=round, seed=seed)

    def takes_everyone(self, problem: Problem) -> bool:
        return True

    def sizes(self, num_clients: int) -> dict[int, Fraction]:
        return {num_clients: Fraction(1)}


@dataclass(frozen=True)
class _Draws(Participation):
    """What schemes share that draw K clients."""

    K: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "K", integer_at_least(self.K, 1, "K"))


class _Subset(_Draws):
    """What schemes share that draw K different clients, every set of K equally likely."""

    def members(self, problem: Problem, seed: int, round: int, purpose: Purpose) -> np.ndarray:
        """The participants of the round, ascending."""
        return _subset(stream(seed, purpose, round), problem.num_clients, self.K)

    def require(self, problem: Problem, rounds: int) -> None:
        if (m := problem.num_clients) < self.K:
            raise InvalidInput("K", self.K, f"the problem has {m} clients", f"give K <= {m}")

    def takes_everyone(self, problem: Problem) -> bool:
        return problem.num_clients == self.K

    def sizes(self, num_clients: int) -> dict[int, Fraction]:
        return {self.K: Fraction(1)}


@final
@dataclass(frozen=True)
class Uniform(_Subset):
    """K different clients, every set of K equally likely; the server's average over them is plain.

    Use it for equally weighted clients, or for methods whose paper minimises a plain mean (FedDyn, SCAFFOLD). With
    unequal weights and a method that averages with them (FedAvg, FedProx) it is biased: the expectation of the plain
    average is the unweighted mean of the clients; use `Weighted` or `UniformThenWeighted`.

    Source: FedDyn paper, Algorithm 1 (|P_t| = K).

    Args:
        K: 1 <= K <= m, checked when a run starts.

    Raises:
        InvalidInput: K is not a positive integer.
    """

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        members = self.members(problem, seed, round, purpose)
        # equal shares override the weights with which FedAvg and FedProx would average
        return Draw(members, np.ones(self.K, dtype=np.int64), round=round, seed=seed)


@final
@dataclass(frozen=True)
class UniformThenWeighted(_Subset):
    """K different clients, every set of K equally likely, averaged with the problem's weights, renormalised.

    Use it to reproduce the FedProx paper's experiments (weights proportional to n_k). Its average is a ratio of random
    sums, so that its expectation is near the weighted mean but not equal to it; `Weighted` is unbiased.

    Args:
        K: 1 <= K <= m, checked when a run starts.

    Raises:
        InvalidInput: K is not a positive integer.
    """

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        # without shares the server averages with the problem's weights
        return Draw(self.members(problem, seed, round, purpose), round=round, seed=seed)


@final
@dataclass(frozen=True)
class Weighted(_Draws):
    """K independent draws, client k with probability weights[k]; the average over the K draws is plain.

    Use it for weighted problems with FedAvg or FedProx, and where the theory of FedProx is to apply: the expectation of
    the average is the weighted mean. A client that is drawn twice works once and counts twice, so that a round has at
    most K distinct participants. Source: FedProx paper, Algorithms 1 and 2 and their analysis.

    Args:
        K: >= 1; it may exceed m, since draws are with replacement.

    Raises:
        InvalidInput: K is not a positive integer.
    """

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        drawn = stream(seed, purpose, round).choice(problem.num_clients, size=self.K, p=problem.weights)
        members, times = np.unique(drawn, return_counts=True)  # a client drawn twice works once and counts twice
        return Draw(members, times, round=round, seed=seed)


@final
@dataclass(frozen=True)
class Bernoulli(Participation):
    """Each client independently with probability p; a draw without any client is repeated.

    Use it if the number of available clients varies, and to reproduce the released code of the FedDyn paper.

    Args:
        p: 0 < p <= 1.

    Raises:
        InvalidInput: p is not such a probability.
    """

    p: Any

    def __post_init__(self) -> None:
        if not 0 < to_fraction(self.p, "p") <= 1:
            raise InvalidInput("p", self.p, "is not a probability > 0", "give 0 < p <= 1")

    def draw(self, problem: Problem, seed: int, round: int, purpose: Purpose = Purpose.PARTICIPANTS) -> Draw:
        generator, m, p = stream(seed, purpose, round), problem.num_clients, nearest_float(self.p)
        # Time proportional to the participants, not to m: first draw their number, then a uniform subset of that size.
        # Given that there is one, the first participant's position is a geometric variable truncated at m (sampled by
        # inverting its distribution function); the clients after it take part independently.
        first = 1
        if 0 < p < 1:
            log_absent = np.log1p(-p)
            first = int(np.ceil(np.log1p(generator.random() * np.expm1(m * log_absent)) / log_absent))
        after = m - min(max(first, 1), m)  # rounding may have put `first` outside 1, …, m
        return Draw(_subset(generator, m, 1 + int(generator.binomial(after, p))), round=round, seed=seed)

    def sizes(self, num_clients: int) -> dict[int, Fraction]:
        m, p = num_clients, to_fraction(self.p)
        somebody = 1 - (1 - p) ** m
        return {n: comb(m, n) * p**n * (1 - p) ** (m - n) / somebody for n in range(1, m + 1)}

    def takes_everyone(self, problem: Problem) -> bool:
        return bool(self.p == 1)  # exact: p = 1 − 1e-17 given as a Fraction is not full participation


@final
@dataclass(frozen=True, init=False)
class Schedule(Participation):
    """A fixed schedule, `Schedule([[0, 2], [1], []])`: clients 0 and 2 in the first round, client 1 in the second.

    Use it to replay recorded availability, for counterexamples and in tests. A round without clients changes nothing.
    The average has the problem's weights, renormalised to the participants.

    Args:
        clients: one list of distinct client indices 0, …, m − 1 per round, at least as many lists as rounds.

    Raises:
        InvalidInput: something else than lists of distinct indices; too few rounds or too large indices (when a run
            starts).
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

    def __str__(self) -> str:
        """The schedule's first rounds."""
        return short_text(self, COLUMNS)

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


SCHEMES: tuple[type[Participation], ...] = (Full, Uniform, UniformThenWeighted, Weighted, Bernoulli, Schedule)


@final
@dataclass(frozen=True)
class Stragglers:
    """Systems heterogeneity: a fraction of the participants does only x of its E epochs or steps, x uniform on 1, …, E.

    Use it with local solvers whose work can be divided (`SGD`, `GradientDescent`) to compare how methods cope with
    unequal work. Who is late and by how much depends on the seed and the round alone, so that both policies see the
    same stragglers. Source: FedProx paper, section 5.2.

    Args:
        fraction: in [0, 1], the stragglers' share of the participants; their number is rounded to the nearest integer,
            halves up.
        policy: "drop" ignores the stragglers and averages the others, as FedAvg does (if all are late, the round
            changes nothing); "use" averages their partial work, as FedProx does.

    Raises:
        InvalidInput: values out of range.
    """

    fraction: Any
    policy: Literal["drop", "use"] = "use"

    def __post_init__(self) -> None:
        if not 0 <= to_fraction(self.fraction, "fraction") <= 1:
            raise InvalidInput("fraction", self.fraction, "is not in [0, 1]", "give the fraction of stragglers")
        if not is_choice(self.policy, ("drop", "use")):
            cure = f"{suggestion(self.policy, ('drop', 'use'))}give 'drop' or 'use'"
            raise InvalidInput("policy", self.policy, "is unknown", cure)

    def slow(self, draw: Draw, num_clients: int, effort: int | None) -> Draw:
        """The draw with the stragglers dropped or their efforts reduced; `effort` is E, the full work."""
        members = np.arange(num_clients) if draw.members is None else draw.members
        late_clients = int(to_fraction(self.fraction) * len(members) + Fraction(1, 2))  # exact, halves up
        generator = stream(draw.seed, Purpose.STRAGGLERS, draw.round)
        late = _subset(generator, len(members), late_clients)  # positions in members
        chosen = replace(draw, members=members)
        # Without stragglers return the draw itself: members=None lets methods recognise full participation.
        if self.policy == "drop":
            mask = np.ones(len(members), dtype=bool)
            mask[late] = False
            return chosen.kept(mask) if late_clients else draw
        assert effort is not None
        if effort > MOST_EFFORT:
            raise InvalidInput("local_solver", effort, "is more work than can be drawn from", f"give <= {MOST_EFFORT}")
        efforts = np.full(len(members), effort)
        efforts[late] = generator.integers(1, effort, size=late_clients, endpoint=True)
        return replace(chosen, efforts=efforts) if late_clients else draw


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple | range) or (isinstance(values, np.ndarray) and values.ndim > 0)


def _subset(generator: np.random.Generator, population: int, size: int) -> np.ndarray:
    """A uniformly drawn subset of 0, …, population − 1 with `size` elements, ascending."""
    # no shuffle: sorting makes the order irrelevant, and for small subsets this costs O(size)
    return np.sort(generator.choice(population, size=size, replace=False, shuffle=False))
