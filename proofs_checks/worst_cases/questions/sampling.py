"""Client sampling: the first two moments of the average over the drawn clients, and every possible draw.

E‖average over the drawn − mean‖² = scale · (1/m)Σ_k‖u_k − mean‖², with scale (m − K)/(K(m − 1)) for K of m clients
without replacement, and 1/K for K independent draws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, final

import numpy as np

from fedconvex.errors import InvalidInput
from fedconvex.participation import Draw, Full, Uniform, Weighted


@final
@dataclass(frozen=True)
class Draws:
    """K of m clients are drawn; K = 0 stands for full participation, m = 0 for any number of clients."""

    K: int = 0
    clients: int = 0
    replaced: bool = False  # with replacement: a client may be drawn several times

    @property
    def everyone(self) -> bool:
        """Whether all clients take part, so that nothing is random."""
        return self.K == 0

    @property
    def scale(self) -> Fraction:
        """The factor between the variance of the drawn average and the variance over the clients."""
        if self.everyone:
            return Fraction(0)
        return Fraction(1, self.K) if self.replaced else Fraction(self.clients - self.K, self.K * (self.clients - 1))

    @property
    def share_of_everyone(self) -> Fraction:
        """K/m: the sum over the drawn clients divided by m, in units of their average."""
        if self.everyone:
            return Fraction(1)
        if self.replaced:
            raise InvalidInput("participation", f"Weighted({self.K})", "draws a client more than once, and sums over "
                               "the distinct clients drawn have other moments", "give Uniform(K)")  # fmt: skip
        return Fraction(self.K, self.clients)

    @property
    def number(self) -> int:
        """How many possible draws there are; the order of the clients does not matter."""
        return comb(self.clients + self.K - 1 if self.replaced else self.clients, self.K)

    def every(self) -> Iterator[tuple[Fraction, Draw]]:
        """Every possible draw, with its probability."""
        if not self.replaced:
            for chosen in combinations(range(self.clients), self.K):
                yield Fraction(1, self.number), Draw(np.asarray(chosen), np.ones(self.K, dtype=np.int64))
            return
        for drawn in combinations_with_replacement(range(self.clients), self.K):
            members, times = np.unique(drawn, return_counts=True)
            # How many of the m^K sequences of draws give this multiset.
            orders = factorial(self.K) // prod(factorial(int(n)) for n in times)
            yield Fraction(orders, self.clients**self.K), Draw(members, times)

    def outcomes(self, enumerated: bool) -> list[tuple[Fraction, Draw]]:
        """The draws of a round and their probabilities. Where not all are enumerated, clients of a half are alike."""
        if self.everyone:
            return [(Fraction(1), Draw())]
        return list(self.every()) if enumerated else self.from_two_halves()

    def from_two_halves(self) -> list[tuple[Fraction, Draw]]:
        """Every draw that differs by how many of its clients are in the first half, with its probability.

        Use it where all clients of a half are alike. With replacement, two clients stand for the halves.
        """
        half = 1 if self.replaced else self.clients // 2
        return list(self.from_classes([0] * half + [1] * half))

    def from_classes(self, classes: Sequence[Any]) -> Iterator[tuple[Fraction, Draw]]:
        """Every draw that differs by how many of its clients are in each class: one class a client, of m clients.

        Use it where all clients of a class are alike; the first ones of each are drawn.
        """
        members = {one: [k for k, other in enumerate(classes) if other == one] for one in dict.fromkeys(classes)}
        for counts in _divided(self.K, [self.K if self.replaced else len(of) for of in members.values()]):
            each = list(zip(counts, members.values(), strict=True))
            if self.replaced:  # multinomial
                orders = factorial(self.K) // prod(factorial(n) for n, _ in each)
                chance = Fraction(orders * prod(len(of) ** n for n, of in each), len(classes) ** self.K)
                drawn = [(of[0], n) for n, of in each if n]
            else:  # hypergeometric
                chance = Fraction(prod(comb(len(of), n) for n, of in each), comb(len(classes), self.K))
                drawn = [(k, 1) for n, of in each for k in of[:n]]
            chosen, times = map(np.array, zip(*sorted(drawn), strict=True))
            yield chance, Draw(chosen, times.astype(np.int64))

    def runs_of(self, kinds: Sequence[Any], rounds: int) -> Iterator[tuple[Fraction, tuple[Draw, ...]]]:
        """Every sequence of draws up to exchanges of clients that are alike, with its probability.

        Clients of one kind are alike as long as they took part in the same rounds. With replacement, clients must
        remember nothing.
        """
        if not rounds:
            yield Fraction(1), ()
            return
        for chance, draw in self.from_classes(kinds):
            assert draw.members is not None
            taking_part = {*draw.members.tolist()} if not self.replaced else set()
            after = [(kind, k in taking_part) for k, kind in enumerate(kinds)]
            for rest, draws in self.runs_of(after, rounds - 1):
                yield chance * rest, (draw, *draws)


def _divided(total: int, most: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as a sum of integers between 0 and these."""
    if not most:
        if not total:
            yield ()
        return
    for first in range(min(total, most[0]) + 1):
        yield from ((first, *rest) for rest in _divided(total - first, most[1:]))


EVERYONE = Draws()  # full participation


def draws_of(participation: Any, num_clients: int | str) -> Draws:
    """The `Draws` of a participation scheme. Raises InvalidInput for a scheme that is not analysed."""
    if participation is None or isinstance(participation, Full):
        return EVERYONE
    if isinstance(participation, Weighted):  # with equal weights, K independent uniform draws
        count = 0 if num_clients == "any" else int(num_clients)
        return EVERYONE if count == 1 else Draws(participation.K, count, replaced=True)
    if isinstance(participation, Uniform):
        if num_clients == "any":
            raise InvalidInput("num_clients", num_clients, "is no number, which Uniform(K) needs", "give m")
        count = int(num_clients)
        if count < participation.K:
            raise InvalidInput("participation", participation, f"draws more than {count} clients", "give K <= m")
        return EVERYONE if count == participation.K else Draws(participation.K, count)
    raise InvalidInput("participation", participation, "is not analysed", "give Full(), Uniform(K) or Weighted(K)")
