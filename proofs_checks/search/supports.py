"""Which inequalities a proof needs: few that suffice at all samples."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from fedconvex.proofs_checks.search.programs import MultiplierProgram

USED = 1e-5  # a multiplier of this size, in units, counts as used
REUSED = 0.05  # the cost of a fact that is used at another sample, relative to a new one
T = TypeVar("T")


def supports(programs: Sequence[MultiplierProgram], preferences: Sequence[np.ndarray]) -> Iterator[tuple[int, ...]]:
    """Minimal sets of facts that suffice at every sample, one for each preference (costs of the facts)."""
    seen = set()
    for costs in preferences:
        found = _support(programs, costs)
        if found is not None and found not in seen:
            seen.add(found)
            yield found


def _support(programs: Sequence[MultiplierProgram], costs: np.ndarray) -> tuple[int, ...] | None:
    used: set[int] = set()
    for program in programs:
        cost = costs.copy()
        cost[list(used)] *= REUSED
        found = program.solve(range(len(cost)), cost)
        if found is None:
            return None
        used |= {j for j, x in enumerate(found * program.norms) if x > USED}
    # Drop the most costly facts first.
    by_cost = sorted(used, key=lambda j: (-costs[j], -j))
    return tuple(sorted(minimal(by_cost, lambda fewer: all(p.solve(fewer) is not None for p in programs))))


def minimal(of: Iterable[T], suffice: Callable[[list[T]], bool], turn: Callable[[T], Any] | None = None) -> list[T]:
    """What remains where one after the other is left out, by their turn, if the rest suffices."""
    kept = list(of)
    for one in sorted(kept, key=turn) if turn is not None else list(kept):
        fewer = [other for other in kept if other != one]
        if suffice(fewer):
            kept = fewer
    return kept
