"""Who takes part in a round: all moments of the participants' shares in the average, and every possible draw.

A symbolic round (`random_vectors`) asks of a kind of randomness only the expectations of products of powers of
different clients' shares. For example E‖average over the participants − mean‖² = scale · (1/m)Σ_k‖u_k − mean‖², with
scale (m − K)/(K(m − 1)) for K of m clients without replacement, and 1/K for K independent draws.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, product
from math import comb, factorial, perm, prod
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Full, Participation, Weighted

MOST_ALONE = 500  # clients where the number of participants is random: moments are sums over it


@final
@dataclass(frozen=True)
class Draws:
    """Who takes part in a round, of m equally weighted clients; the average over the participants is plain.

    K of m clients; or K draws with replacement, where a client counts as often as it was drawn; or random numbers of
    clients, where every set of a number is equally likely. With K = 0 and no numbers all clients take part. m = 0
    stands for any number of clients.
    """

    K: int = 0
    clients: int = 0
    replaced: bool = False  # with replacement: a client may be drawn several times
    numbers: tuple[tuple[int, Fraction], ...] = ()  # how many clients may take part, with the probabilities

    @property
    def everyone(self) -> bool:
        """Whether all clients take part, so that nothing is random."""
        return self.K == 0 and not self.numbers

    @property
    def fixed_size(self) -> bool:
        """Whether all draws have equally many participants."""
        return not (self.replaced or self.numbers)

    @property
    def sizes(self) -> tuple[tuple[int, Fraction], ...]:
        """How many clients take part, or are drawn, with the probability."""
        return self.numbers or ((self.K, Fraction(1)),)

    def moment(self, powers: Sequence[int]) -> fmpq:
        """E Π a_k^p over different clients, of given powers: a_k is a client's share in the average over participants.

        The power 0 stands for 1 where the client takes part, and 0 where it does not.
        """
        return _moment(self, tuple(powers))

    @property
    def chance_of_each(self) -> Fraction:
        """The probability that a client takes part."""
        return Fraction(1) if self.everyone else to_fraction(self.moment([0]))

    @property
    def scale(self) -> Fraction:
        """The factor between the variance of the average over the participants and the variance over the clients."""
        if self.everyone:
            return Fraction(0)
        if self.replaced:
            return Fraction(1, self.K)
        return to_fraction(self.clients * (self.moment([2]) - self.moment([1, 1])))

    @property
    def number(self) -> int:
        """How many possible draws there are; the order of the clients does not matter."""
        if self.replaced:
            return comb(self.clients + self.K - 1, self.K)
        return sum(comb(self.clients, size) for size, _ in self.sizes)

    def every(self) -> Iterator[tuple[Fraction, Draw]]:
        """Every possible draw, with its probability."""
        if not self.replaced:
            for size, chance in self.sizes:
                for chosen in combinations(range(self.clients), size):
                    yield chance / comb(self.clients, size), _draw(chosen, [1] * size)
            return
        for drawn in combinations_with_replacement(range(self.clients), self.K):
            members, times = np.unique(drawn, return_counts=True)
            # How many of the m^K sequences of draws give this multiset.
            orders = factorial(self.K) // prod(factorial(int(n)) for n in times)
            yield Fraction(orders, self.clients**self.K), Draw(members, times)

    def outcomes(self, classes: Sequence[Any] | None) -> list[tuple[Fraction, Draw]]:
        """The draws of a round and their probabilities: all, or with a class for every client up to exchanges."""
        if self.everyone:
            return [(Fraction(1), Draw())]
        return list(self.every() if classes is None else self.from_classes(classes))

    def from_classes(self, classes: Sequence[Any]) -> Iterator[tuple[Fraction, Draw]]:
        """Every draw, up to exchanges of clients of a class, with its probability: one class a client, of m clients.

        Use it where all clients of a class are alike; the first ones of each are drawn.
        """
        members = [[k for k, other in enumerate(classes) if other == one] for one in dict.fromkeys(classes)]
        m = len(classes)
        for size, likely in self.sizes:
            for counts in _divided(size, [size if self.replaced else len(of) for of in members]):
                # how often the clients of each class are drawn, and how many choices of clients that stands for
                ways = [
                    list(_multiplicities(n, len(of))) if self.replaced else [((1,) * n, comb(len(of), n))]
                    for n, of in zip(counts, members, strict=True)
                ]
                for chosen in product(*ways):
                    drawn = [
                        (of[i], n) for (times, _), of in zip(chosen, members, strict=True) for i, n in enumerate(times)
                    ]
                    each = Fraction(1, m**size if self.replaced else comb(m, size))
                    if self.replaced:  # orders in which they are drawn
                        each *= factorial(size) // prod(factorial(n) for _, n in drawn)
                    chance = likely * each * prod(number for _, number in chosen)
                    yield chance, _draw(*zip(*sorted(drawn), strict=True))

    def runs_of(self, kinds: Sequence[Any], rounds: int) -> Iterator[tuple[Fraction, tuple[Draw, ...]]]:
        """Every sequence of draws up to exchanges of clients that are alike, with its probability.

        Clients of one kind are alike as long as they took part in the same rounds.
        """
        if not rounds:
            yield Fraction(1), ()
            return
        for chance, draw in self.from_classes(kinds):
            assert draw.members is not None
            taking_part = {*draw.members.tolist()}
            after = [(kind, k in taking_part) for k, kind in enumerate(kinds)]
            for rest, draws in self.runs_of(after, rounds - 1):
                yield chance * rest, (draw, *draws)


@lru_cache(10**4)
def _moment(draws: Draws, powers: tuple[int, ...]) -> fmpq:
    total, m = fmpq(0), draws.clients
    if len(powers) > m:  # there are not so many
        return total
    if not draws.replaced:
        for size, chance in draws.sizes:
            factors = (fmpq(size - i, m - i) for i in range(len(powers)))
            total += prod(factors, start=to_fmpq(chance)) / fmpq(size) ** sum(powers)
        return total
    # One client after the other: the weights of all ways in which so many draws are theirs.
    ways = [fmpq(1), *[total] * draws.K]
    for p in powers:
        each = [fmpq(n, draws.K) ** p / factorial(n) for n in range(1, draws.K + 1)]
        ways = [sum((ways[n - k] * each[k - 1] for k in range(1, n + 1)), total) for n in range(draws.K + 1)]
    others = (fmpq(m - len(powers)) ** (draws.K - n) / factorial(draws.K - n) for n in range(draws.K + 1))
    found = sum((x * y for x, y in zip(ways, others, strict=True)), total)
    return found * factorial(draws.K) / fmpq(m) ** draws.K


def _multiplicities(total: int, clients: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """How often clients are drawn, the most often first, and how many choices of clients that stands for."""
    for times in _descending(total, total, clients):
        yield times, perm(clients, len(times)) // prod(map(factorial, Counter(times).values()))


def _descending(total: int, most: int, terms: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as a sum of at most so many positive integers up to `most`, the largest first."""
    if not total:
        yield ()
    elif terms:
        for first in range(min(total, most), 0, -1):
            yield from ((first, *rest) for rest in _descending(total - first, first, terms - 1))


def _draw(members: Sequence[int], times: Sequence[int]) -> Draw:
    return Draw(np.array(members), np.array(times, dtype=np.int64))


def _divided(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as a sum of integers between 0 and these."""
    if not most:
        if not total:
            yield ()
        return
    for first in range(min(total, most[0]) + 1):
        yield from ((first, *rest) for rest in _divided(total - first, most[1:]))


EVERYONE = Draws()  # full participation


def _numbers(participation: Participation, count: int) -> tuple[tuple[int, Fraction], ...]:
    """The scheme's `sizes`, checked: positive integers with probabilities."""
    given: Any = participation.sizes(count)
    if isinstance(given, Mapping) and all(isinstance(n, int | np.integer) and n is not True and n > 0 for n in given):
        numbers = [(int(n), to_fraction(chance, "participation.sizes")) for n, chance in given.items()]
        if all(chance >= 0 for _, chance in numbers) and sum(chance for _, chance in numbers) == 1:
            return tuple((n, chance) for n, chance in numbers if chance)
    raise InvalidInput("participation", participation, f"has `sizes` that are no probabilities of numbers: {given!r}",
                       "give {n: chance, …} for n >= 1, with chances >= 0 that sum to 1")  # fmt: skip


def draws_of(participation: Any, num_clients: int | str) -> Draws:
    """The `Draws` of a participation scheme, of equally weighted clients. Raises InvalidInput for one without any."""
    if participation is None or isinstance(participation, Full):
        return EVERYONE
    if isinstance(participation, Weighted):  # with equal weights, K independent uniform draws
        count = 0 if num_clients == "any" else int(num_clients)
        return EVERYONE if count == 1 else Draws(participation.K, count, replaced=True)
    if not isinstance(participation, Participation) or participation.sizes(1) is None:
        cure = "give Full(), Uniform(K), Weighted(K), Bernoulli(p), or a scheme of yours with `sizes`"
        raise InvalidInput("participation", participation, "is no draw in which all clients are alike", cure)
    if num_clients == "any":
        raise InvalidInput("num_clients", num_clients, f"is no number, which {participation} needs", "give m")
    count = int(num_clients)
    numbers = _numbers(participation, count)
    if any(n > count for n, _ in numbers):
        raise InvalidInput("participation", participation, f"draws more than {count} clients", "give K <= m")
    if len(numbers) == 1:
        [(K, _)] = numbers
        return EVERYONE if count == K else Draws(K, count)
    if count > MOST_ALONE:
        raise InvalidInput("num_clients", count, "are too many to sum over the numbers of participants",
                           f"give at most {MOST_ALONE} where their number is random")  # fmt: skip
    return EVERYONE if count == 1 else Draws(0, count, numbers=numbers)
