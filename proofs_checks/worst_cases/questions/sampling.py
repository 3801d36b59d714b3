"""Who takes part in a round, by the first two moments of the average over them (proved in `engines.sampling`).

E‖average over the drawn − mean‖² = scale · (1/m)Σ_k‖u_k − mean‖², with scale (m − K)/(K(m − 1)) for K of m clients
without replacement, and 1/K for K independent draws.
"""

from collections.abc import Iterator
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
    """K of m clients; K = 0 stands for everyone, m = 0 for any number of clients."""

    K: int = 0
    clients: int = 0
    replaced: bool = False  # whether a client may come several times

    @property
    def everyone(self) -> bool:
        """Whether nothing is random."""
        return self.K == 0

    @property
    def scale(self) -> Fraction:
        """Of the average's second moments."""
        if self.everyone:
            return Fraction(0)
        return Fraction(1, self.K) if self.replaced else Fraction(self.clients - self.K, self.K * (self.clients - 1))

    @property
    def share_of_everyone(self) -> Fraction:
        """K/m: (1/m)Σ over those who take part, divided by their average."""
        if self.everyone:
            return Fraction(1)
        if self.replaced:
            raise InvalidInput("participation", f"Weighted({self.K})", "counts a client once in sums over the drawn, "
                               "whose moments are others", "give Uniform(K)")  # fmt: skip
        return Fraction(self.K, self.clients)

    @property
    def number(self) -> int:
        """Of the ways to draw; the order does not matter."""
        return comb(self.clients + self.K - 1 if self.replaced else self.clients, self.K)

    def every(self) -> Iterator[tuple[Fraction, Draw]]:
        """Every way to draw, with its probability."""
        if not self.replaced:
            for chosen in combinations(range(self.clients), self.K):
                yield Fraction(1, self.number), Draw(np.array(chosen), np.ones(self.K, dtype=np.int64))
            return
        for drawn in combinations_with_replacement(range(self.clients), self.K):
            members, times = np.unique(drawn, return_counts=True)
            orders = factorial(self.K) // prod(factorial(int(n)) for n in times)
            yield Fraction(orders, self.clients**self.K), Draw(members, times)

    def of_two_kinds(self) -> list[tuple[Fraction, Draw]]:
        """Every way to draw from two kinds of clients, equally many of each, with its probability.

        Without replacement the first half of the clients is of one kind; with it there are two clients.
        """
        K, half = self.K, self.clients // 2
        found = []
        for first in range(K + 1):
            if self.replaced:
                shares = np.array([first, K - first])
                chosen = np.flatnonzero(shares)
                found.append((Fraction(comb(K, first), 2**K), Draw(chosen, shares[chosen])))
            elif first <= half and K - first <= half:
                chance = Fraction(comb(half, first) * comb(half, K - first), comb(2 * half, K))
                members = np.array([*range(first), *range(half, half + K - first)])
                found.append((chance, Draw(members, np.ones(K, dtype=np.int64))))
        return found


EVERYONE = Draws()


def draws_of(participation: Any, num_clients: int | str) -> Draws:
    """The moments of a scheme. Raises InvalidInput for a scheme that is not analysed."""
    if participation is None or isinstance(participation, Full):
        return EVERYONE
    if isinstance(participation, Weighted):
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
