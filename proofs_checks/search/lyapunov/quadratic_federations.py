"""Federations of quadratic clients that may be the slowest for a method.

A federation here is a symmetry of the round: with points ū + ũ_k, where ū and the deviations ũ_k each keep to one line,
gradients are again of this kind, so that all vectors of a round have two coordinates, of the mean and of the deviation,
and the clients' Hessians act on these as one 2 × 2 matrix, the `action`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SimilarClients

BETWEEN = 8  # curvatures between the extreme ones that all clients may share
SHARES = 8  # denominators of the shares that are tried for any number of clients
TILTS = 12  # directions that are tried in a plane

Action = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


class AnyFederation(ABC):
    """Quadratic clients with minimiser 0."""

    @property
    @abstractmethod
    def fewest(self) -> int:
        """The fewest clients."""

    @abstractmethod
    def problem(self, clients: int) -> Quadratic:
        """The federation of that many clients, whose gradients at the minimiser 0 differ."""


class QuadraticFederation(AnyFederation, ABC):
    """Those on which a round has such a symmetry."""

    @property
    @abstractmethod
    def action(self) -> Action:
        """How the Hessians act on the coordinates (mean, deviation)."""


@final
@dataclass(frozen=True)
class OnALine(QuadraticFederation):
    """A share of the clients are first·x²/2, the others second·x²/2."""

    first: Fraction
    second: Fraction
    share: Fraction

    @property
    def action(self) -> Action:
        a, b, p = self.first, self.second, self.share
        # The two groups' points are mean + (1 − p)·deviation and mean − p·deviation.
        return (p * a + (1 - p) * b, p * (1 - p) * (a - b)), (a - b, (1 - p) * a + p * b)

    @property
    def fewest(self) -> int:
        return self.share.denominator

    @property
    def in_short(self) -> Quadratic:
        """One client for each curvature, with its share as weight."""
        shares = [self.share, 1 - self.share]
        each = [(a, p) for a, p in zip((self.first, self.second), shares, strict=True) if p]
        return Quadratic([_array([[a]]) for a, _ in each], [_array([0])] * len(each), [p for _, p in each])

    def groups(self, clients: int) -> list[tuple[Fraction, int]]:
        """The curvatures, with how many of so many clients have each."""
        ours = int(self.share * clients)
        return [(a, n) for a, n in ((self.first, ours), (self.second, clients - ours)) if n]

    def problem(self, clients: int) -> Quadratic:
        alike = self.first == self.second  # then one client's gradient may be unlike those of the others
        ours = 1 if alike else int(self.share * clients)
        hessians = [_array([[self.first]])] * ours + [_array([[self.second]])] * (clients - ours)
        share = Fraction(ours, clients)
        return Quadratic(hessians, [_array([1 - share])] * ours + [_array([-share])] * (clients - ours))

    def __str__(self) -> str:
        if self.first == self.second:
            return f"quadratics of curvature {self.first}"
        return f"quadratics of curvature {self.first} (a share {self.share} of the clients) and {self.second}"


@final
@dataclass(frozen=True)
class InAPlane(QuadraticFederation):
    """Clients with curvatures low and high in two directions of a plane, turned around an axis by a full circle.

    The direction of `low` has the slope 2t/(1 − t²) to the axis, with t the `tilt`. Means stay on the axis, and the m
    clients' deviations on m lines across it, of which each client's is turned by 2π/m against the next; across its
    plane a client has curvature `low`. Two clients are mirror images, in one plane.
    """

    low: Fraction
    high: Fraction
    tilt: Fraction

    @property
    def action(self) -> Action:
        t = self.tilt
        c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        across = (self.low - self.high) * c * s
        return (self.low * c * c + self.high * s * s, across), (across, self.low * s * s + self.high * c * c)

    @property
    def fewest(self) -> int:
        return 2

    def problem(self, clients: int) -> Quadratic:
        """Exact for even numbers, of which half are alike; else in floating point."""
        (a, b), (_, d) = self.action
        if clients % 2 == 0:
            mirrored = [_array([[a, b], [b, d]]), _array([[a, -b], [-b, d]])] * (clients // 2)
            return Quadratic(mirrored, [_array([Fraction(0), Fraction(sign)]) for sign in (1, -1)] * (clients // 2))
        flat = np.array([[a, b, 0], [b, d, 0], [0, 0, self.low]], dtype=float)
        angles = [2 * np.pi * k / clients for k in range(clients)]
        turns = [np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]) for x in angles]
        hessians = [turn @ flat @ turn.T for turn in turns]
        return Quadratic([(H + H.T) / 2 for H in hessians], [turn[:, 1] for turn in turns])

    def __str__(self) -> str:
        return f"quadratics of curvatures {self.low} and {self.high} in planes, tilted by {self.tilt}"


def _array(rows: Any) -> np.ndarray:
    return np.array(rows, dtype=object)


def trial_federations(functions: FunctionClass, num_clients: int | str) -> Iterator[QuadraticFederation]:
    """Federations of the class that are often the slowest, for that number of clients."""
    low, high = functions.ends
    steps = range(BETWEEN + 2)
    for a in dict.fromkeys([low, high, *(low + (high - low) * Fraction(i, BETWEEN + 1) for i in steps)]):
        yield OnALine(a, a, Fraction(1))
    if low == high:
        return
    if num_clients == "any":
        shares = {Fraction(i, n) for n in range(2, SHARES + 1) for i in range(1, n)}
    else:
        assert isinstance(num_clients, int)
        few = (1, 2, num_clients // 2, num_clients - 2, num_clients - 1)
        shares = {Fraction(i, num_clients) for i in few if 0 < i < num_clients}
    if isinstance(functions, SimilarClients):
        yield from _similar(functions, sorted(shares), num_clients)
        return
    for share in sorted(shares):
        yield OnALine(low, high, share)
    if num_clients != 1:
        for i in range(1, TILTS):
            yield InAPlane(low, high, Fraction(i, TILTS))


def _similar(clients: SimilarClients, shares: list[Fraction], num_clients: int | str) -> Iterator[QuadraticFederation]:
    """Such federations whose Hessians are as far from their mean as similarity allows, at both ends of the range."""
    low, high, delta = clients.lowest, clients.highest, to_fraction(clients.delta)
    for share in shares:
        width = min(high - low, delta / max(share, 1 - share))
        for least in dict.fromkeys((low, high - width)):
            yield OnALine(least, least + width, share)
    if num_clients == "any" or int(num_clients) % 2 == 0:  # mirror images, whose mean is diagonal
        for t in (Fraction(i, TILTS) for i in range(1, TILTS)):
            width = min(high - low, delta / (2 * t * (1 - t * t) / (1 + t * t) ** 2))
            for least in dict.fromkeys((low, high - width)):
                yield InAPlane(least, least + width, t)
