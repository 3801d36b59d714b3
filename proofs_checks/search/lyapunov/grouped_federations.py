"""Quadratic clients with unequal numbers of local steps that may be the slowest for a method.

Every group of clients with one number of steps is divided further, into subgroups of clients that have one Hessian, on
a line or in a plane. All clients of a subgroup then do the same, so that a round is a linear map of a few vectors.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice, product
from math import lcm
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, AnyFederation
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, ONE, ZERO, Family, Mixture, of_group
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroup, ClientGroups, FunctionClass

TILTS = 8  # directions that are tried in a plane
SHARES = (Fraction(1, 2), Fraction(1, 4), Fraction(3, 4))  # of a group of any number of clients
MOST_TRIALS = 200


@final
@dataclass(frozen=True)
class Subgroup:
    """Clients with one number of steps and one Hessian: curvatures `low` and `high` in a plane, turned by the tilt.

    The direction of `low` has the slope 2t/(1 − t²) to the first axis, with t the `tilt`. On a line, low is high.
    """

    group: int
    share: Fraction  # of all clients
    low: Fraction
    high: Fraction
    tilt: Fraction = Fraction(0)

    @cached_property
    def hessian(self) -> list[list[Fraction]]:
        t = self.tilt
        c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        across = (self.low - self.high) * c * s
        return [[self.low * c * c + self.high * s * s, across], [across, self.low * s * s + self.high * c * c]]

    @property
    def words(self) -> str:
        """The curvatures."""
        return f"{self.low}" if self.low == self.high else f"{self.low} and {self.high} tilted by {self.tilt}"


@final
@dataclass(frozen=True)
class InSubgroups(AnyFederation):
    """Such clients; `steps` are the numbers of local steps in the order of the clients, which repeats."""

    steps: tuple[int, ...]
    members: tuple[Subgroup, ...]

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """The groups' numbers of steps."""
        return tuple(sorted(set(self.steps)))

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The axes of the plane, or of the line where that is all."""
        return (0,) if all(one.low == one.high for one in self.members) else (0, 1)

    @property
    def fewest(self) -> int:
        return lcm(len(self.steps), *(one.share.denominator for one in self.members))

    def problem(self, clients: int) -> Quadratic:
        """Client k takes as many steps as client k − len(steps)."""
        waiting: dict[int, list[Subgroup]] = {k: [] for k in range(len(self.kinds))}
        for one in self.members:
            waiting[one.group] += [one] * int(one.share * clients)
        numbers = range(clients)
        chosen = [waiting[self.kinds.index(self.steps[k % len(self.steps)])].pop(0) for k in numbers]
        hessians = [[[one.hessian[i][j] for j in self.axes] for i in self.axes] for one in chosen]
        pulls = np.array([[Fraction((k + 1) ** (i + 1)) for i in self.axes] for k in numbers], dtype=object)
        return Quadratic([np.array(H, dtype=object) for H in hessians], list(pulls - pulls.sum(0) / clients))

    def functions(self, clients: FunctionClass) -> ClientGroups:
        """The subgroups as groups, each a single client."""
        return ClientGroups(*(ClientGroup(clients, one.share, 1) for one in self.members))

    def solver(self, solver: UnequalSteps) -> UnequalSteps:
        """The local solver, with a number of steps for every subgroup."""
        return replace(solver, steps=tuple(self.kinds[one.group] for one in self.members))

    def __str__(self) -> str:
        found: list[str] = []
        for k, count in enumerate(self.kinds):
            ours = [one for one in self.members if one.group == k]
            alike = len({(one.low, one.high, one.tilt) for one in ours}) == 1
            whole = sum(one.share for one in ours)
            parts = ours[0].words if alike else ", ".join(f"{one.words} (a share {one.share / whole})" for one in ours)
            found.append(f"{parts} where {count} step{'s are' if count > 1 else ' is'} taken")
        return f"quadratics of curvature {'; '.join(found)}"


@final
@dataclass(frozen=True)
class SubgroupBoard:
    """Gradients of such clients, as of a `Board`: a vector's names begin with the axis of the coordinate."""

    federation: InSubgroups
    functions: ClientGroups

    def gradient(self, point: Any) -> Mixture:
        members = enumerate(self.federation.members)
        shares = tuple(to_fmpq(one.share) for one in self.federation.members)
        return Mixture(shares, tuple(self._times(one, of_group(point, k)) for k, one in members))

    def _times(self, one: Subgroup, u: Family) -> Family:
        found: dict[tuple[str, str], Any] = {}
        for (_, name), c in u.parts.items():
            for axis in self.federation.axes:
                entry = to_fmpq(one.hessian[axis][int(name[0])])
                if entry:
                    key = (MEAN, f"{axis}{name[1:]}")
                    found[key] = found.get(key, ZERO) + entry * c
        return Family({key: c for key, c in found.items() if c})


def vector(numbers: dict[int, Any]) -> Family:
    """A vector whose coordinates are numbers."""
    return Family({(MEAN, f"{axis}"): c for axis, c in numbers.items() if c})


def unknown(name: str, axes: tuple[int, ...]) -> Family:
    """A vector with an unknown number for every axis."""
    return Family({(MEAN, f"{axis} {name}.{axis}"): ONE for axis in axes})


def trial_federations(functions: FunctionClass, groups: ClientGroups, steps: tuple[int, ...]) -> Iterator[InSubgroups]:
    """Federations of the class that are often the slowest: every group in one or two subgroups."""
    (low, high), count = functions.ends, len(groups.groups)
    shared = zip(groups.shares, groups.groups, strict=True)
    splits = [_splits(share, group.clients, len(steps)) for share, group in shared]
    halves = [of_group[0] for of_group in splits]

    def made(chosen: Iterable[Sequence[Fraction]], shapes: Iterable[Sequence[tuple[Fraction, ...]]]) -> InSubgroups:
        members = [
            Subgroup(k, share, *shape)
            for k, (shares, of_members) in enumerate(zip(chosen, shapes, strict=True))
            for share, shape in zip(shares, of_members, strict=False)  # a single client has the first shape
        ]
        return InSubgroups(steps, tuple(members))

    for i in range(BETWEEN + 2):
        a = low + (high - low) * Fraction(i, BETWEEN + 1)
        yield made(halves, [[(a, a)] * 2] * count)
    for i in range(TILTS):
        t = Fraction(i, TILTS)
        # groups turned against each other, and mirror images inside each
        yield made(halves, [[(low, high, t * k)] * 2 for k in range(count)])
        yield made(halves, [[(low, high, t), (low, high, -t)]] * count)
    pairs = list(product([(low, low), (high, high)], repeat=2))
    if count > 2:  # fewer ways for every group
        splits, pairs = [of_group[:1] for of_group in splits], pairs if count == 3 else pairs[::3]
    alike = [pair for pair in pairs if pair[0] == pair[1]]
    options = [product(of_group, pairs if len(of_group[0]) == 2 else alike) for of_group in splits]
    for choice in islice(product(*options), MOST_TRIALS):
        yield made([shares for shares, _ in choice], [pair for _, pair in choice])


def _splits(share: Fraction, clients: int | str, total: int) -> list[tuple[Fraction, ...]]:
    """The shares of a group's subgroups, halves first."""
    if clients == 1:
        return [(share,)]
    if clients == "any":
        return [(share * part, share * (1 - part)) for part in SHARES]
    assert isinstance(clients, int)
    ours = dict.fromkeys((clients // 2, 1, clients - 1))
    return [(Fraction(n, total), Fraction(clients - n, total)) for n in ours]
