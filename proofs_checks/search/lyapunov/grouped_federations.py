"""Quadratic clients with unequal numbers of local steps that may be the slowest for a method.

Every group of clients with one number of steps is divided further, into subgroups of clients that have one Hessian, on
a line or in a plane. All clients of a subgroup then do the same, so that a round is a linear map of a few vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
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


@final
@dataclass(frozen=True)
class InSubgroups(AnyFederation):
    """Such clients; `steps` are the numbers of local steps in the order of the clients, which repeats."""

    steps: tuple[int, ...]
    members: tuple[Subgroup, ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the plane, or of the line where that is all."""
        return (0,) if all(one.low == one.high for one in self.members) else (0, 1)

    @property
    def fewest(self) -> int:
        return lcm(len(self.steps), *(one.share.denominator for one in self.members))

    def problem(self, clients: int) -> Quadratic:
        """Client k takes as many steps as client k − len(steps)."""
        kinds = sorted(set(self.steps))
        waiting = {k: [one for one in self.members if one.group == k for _ in range(int(one.share * clients))]
                   for k in range(len(kinds))}  # fmt: skip
        chosen = [waiting[kinds.index(self.steps[k % len(self.steps)])].pop(0) for k in range(clients)]
        hessians = [np.array([[one.hessian[i][j] for j in self.axes] for i in self.axes], dtype=object) for one in chosen]
        pulls = np.array([[Fraction((k + 1) ** (i + 1)) for i in self.axes] for k in range(clients)], dtype=object)
        return Quadratic(hessians, list(pulls - pulls.sum(0) / clients))

    def functions(self, clients: FunctionClass) -> ClientGroups:
        """The subgroups as groups, each a single client."""
        return ClientGroups(*(ClientGroup(clients, one.share, 1) for one in self.members))

    def solver(self, solver: UnequalSteps) -> UnequalSteps:
        """The local solver, with a number of steps for every subgroup."""
        kinds = sorted(set(self.steps))
        return replace(solver, steps=tuple(kinds[one.group] for one in self.members))

    def __str__(self) -> str:
        kinds = sorted(set(self.steps))

        def words(one: Subgroup) -> str:
            curved = f"{one.low}" if one.low == one.high else f"{one.low} and {one.high} tilted by {one.tilt}"
            return f"{curved} (a share {one.share} of the clients, steps: {kinds[one.group]})"

        return f"quadratics of curvature {', '.join(map(words, self.members))}"


@final
@dataclass(frozen=True)
class SubgroupBoard:
    """Gradients of such clients, as of a `Board`: a vector's names begin with the axis of the coordinate."""

    federation: InSubgroups
    functions: ClientGroups

    def gradient(self, point: Any) -> Mixture:
        members = enumerate(self.federation.members)
        shares = tuple(map(to_fmpq, self.functions.shares))
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
    low, high, count = functions.lowest, functions.highest, len(groups.groups)
    splits = [_splits(share, group.clients, len(steps))
              for share, group in zip(groups.shares, groups.groups, strict=True)]  # fmt: skip
    halves = [of_group[0] for of_group in splits]

    def made(chosen: Any, shapes: Any) -> InSubgroups:
        members = [
            Subgroup(k, share, *shape)
            for k, (shares, of_members) in enumerate(zip(chosen, shapes, strict=True))
            for share, shape in zip(shares, of_members, strict=False)
        ]
        return InSubgroups(steps, tuple(members))

    for i in range(BETWEEN + 2):
        a = low + (high - low) * Fraction(i, BETWEEN + 1)
        yield made(halves, [[(a, a)] * 2] * count)
    ends = [(low, low), (high, high)]
    pairs = [(a, b) for a, b in product(ends, repeat=2)]
    options = [
        [(shares, pair) for shares in of_group for pair in pairs if len(shares) == 2 or pair[0] == pair[1]]
        for of_group in splits
    ]
    for place, choice in enumerate(product(*options)):
        if place == MOST_TRIALS:
            break
        yield made([shares for shares, _ in choice], [pair for _, pair in choice])
    for i in range(TILTS):
        t = Fraction(i, TILTS)
        # groups turned against each other, and mirror images inside each
        yield made(halves, [[(low, high, t * k)] * 2 for k in range(count)])
        yield made(halves, [[(low, high, t), (low, high, -t)]] * count)


def _splits(share: Fraction, clients: int | str, total: int) -> list[tuple[Fraction, ...]]:
    """The shares of a group's subgroups, halves first."""
    if clients == 1:
        return [(share,)]
    if clients == "any":
        return [(share * part, share * (1 - part)) for part in SHARES]
    assert isinstance(clients, int)
    ours = dict.fromkeys((clients // 2, 1, clients - 1))
    return [(Fraction(n, total), Fraction(clients - n, total)) for n in ours]
