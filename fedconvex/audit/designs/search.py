"""The search for parameters: a logarithmic grid, then finer ones between the neighbours of the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite, log10
from typing import Any

import numpy as np

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.designs.round_maps import ReachedTarget
from fedconvex.audit.designs.trials import Candidate, Trials
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method

PER_DECADE, FEW = 5, 3  # trials of a parameter; FEW where a trial takes long
REFINED, FEW_REFINED = 6, 4  # between two neighbours: even, since the middle one is tried already
LEADING = 3  # families that are refined
REFINEMENTS = 3  # of the grid
NEAR = 1.02  # neighbours this near are not refined
LONGEST_CHECK, MOST_STEPS = 5000, 100_000  # predicted rounds, and gradient steps, up to which a run checks them
SAME = 1.01  # an earlier family is preferred if it needs at most this multiple of the rounds


@dataclass(frozen=True, eq=False)
class DesignedMethod:
    """A method with the parameters found for it, and its rounds on the model."""

    method: Method
    solver: LocalSolver | None  # None: the method's own
    reached: ReachedTarget
    floor: float  # error floor on the model relative to the first gap; 0 for methods without bias

    @property
    def rounds(self) -> int | None:
        """Rounds to the tolerance on the model, None if the limits or the error floor forbid it."""
        # the model may reach at the start what the problem does not
        return max(ceil(self.reached.rounds - 1e-9), 1) if isfinite(self.reached.rounds) else None

    @property
    def local_steps(self) -> int | None:
        """Gradient steps of a client in a round; None for exact local solutions."""
        solver = self.method.local_solver if self.solver is None else self.solver
        return solver.steps if isinstance(solver, GradientDescent) else None

    @property
    def is_short(self) -> bool:
        """Whether a run takes seconds."""
        rounds = self.rounds
        return rounds is not None and rounds <= LONGEST_CHECK and rounds * (self.local_steps or 1) <= MOST_STEPS


@dataclass(frozen=True, eq=False)
class CandidateFamily:
    """Methods with one free parameter in [low, high]."""

    make: Callable[[float], Candidate]
    low: float
    high: float


def designed(trials: Trials, candidates: Sequence[Candidate], limit: int | None = None) -> list[DesignedMethod]:
    """The candidates, all of one class, with their rounds."""
    reached = trials.every(candidates, limit)
    return [
        DesignedMethod(*candidate, found, trials.floor(candidate))
        for candidate, found in zip(candidates, reached, strict=True)
    ]


def search(trials: Trials, families: Sequence[CandidateFamily], few: bool, bound: float) -> DesignedMethod:
    """The parameter in three digits, and the family, with the fewest rounds; without rounds the least last gap.

    Args:
        few: make fewer trials.
        bound: more rounds are of no use.
    """
    found: list[dict[float, ReachedTarget]] = [{} for _ in families]

    def attempt(points: Sequence[tuple[int, float]]) -> None:
        new = [(i, point) for i, point in dict.fromkeys(points) if point not in found[i]]
        best = min((one.rounds for tried in found for one in tried.values()), default=bound)
        reached = trials.first([families[i].make(point) for i, point in new], min(best, bound)) if new else []
        for (i, point), one in zip(new, reached, strict=True):
            found[i][point] = one

    def order(i: int) -> Any:
        return lambda point: (found[i][point].rounds, found[i][point].gap)

    grids = [_from_the_middle(_grid(family.low, family.high, FEW if few else PER_DECADE)) for family in families]
    attempt([(i, point) for i, grid in enumerate(grids) for point in grid])
    # the rounds of a family that does not reach the target first are unknown: its gap then tells how near it is
    leading = sorted(range(len(families)), key=lambda i: min(map(order(i), found[i])))[:LEADING]
    for _ in range(REFINEMENTS):
        points: list[tuple[int, float]] = []
        for i in leading:
            points += [(i, point) for point in _between_neighbours(found[i], order(i), FEW_REFINED if few else REFINED)]
        attempt(points)
    best = min(one.rounds for tried in found for one in tried.values())
    rounded = []
    for i in sorted(leading):
        point = min(found[i], key=order(i))
        digits = {float(significant(point, 3, mode)) for mode in (Rounding.FLOOR, Rounding.CEILING)}
        rounded.append([families[i].make(value) for value in sorted(digits)])
    candidates = [candidate for group in rounded for candidate in group]
    limit = ceil(SAME * best) + 2 if isfinite(best) else None if bound == inf else ceil(bound)
    designs = designed(trials, candidates, limit)
    if isfinite(best) and not any(isfinite(design.reached.rounds) for design in designs):
        designs = designed(trials, candidates)  # the digits that were lost cost rounds
    chosen: DesignedMethod | None = None
    for group in rounded:
        own, designs = designs[: len(group)], designs[len(group) :]
        best_of_group = min(own, key=lambda design: (design.reached.rounds, design.reached.gap))
        if chosen is None or _better(best_of_group, chosen):
            chosen = best_of_group
    assert chosen is not None
    return chosen


def _better(new: DesignedMethod, old: DesignedMethod) -> bool:
    if isfinite(new.reached.rounds) or isfinite(old.reached.rounds):
        return new.reached.rounds * SAME < old.reached.rounds
    return new.reached.gap * SAME < old.reached.gap


def _grid(low: float, high: float, per_decade: int) -> list[float]:
    count = max(FEW, ceil(per_decade * log10(high / low))) + 1
    return [float(point) for point in np.geomspace(low, high, count)]


def _between_neighbours(found: dict[float, ReachedTarget], order: Any, points: int) -> list[float]:
    grid = sorted(found)
    place = grid.index(min(grid, key=order))
    left, right = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    return [] if right / left < NEAR else [float(point) for point in np.geomspace(left, right, points + 2)[1:-1]]


def _from_the_middle(values: Sequence[float]) -> list[float]:
    """The values ordered by their distance from the middle one: good trials first make the poor ones short."""
    middle = (len(values) - 1) / 2
    return [value for _, value in sorted(enumerate(values), key=lambda pair: abs(pair[0] - middle))]
