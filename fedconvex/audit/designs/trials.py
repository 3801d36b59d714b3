"""Trials of candidate parameters on the quadratic model: the rounds that each needs to the tolerance.

Candidates with client memory run together, with a column for each. Those without are matrices of the size of the
server's point, whose powers tell late rounds at once.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import ceil, inf, isfinite
from typing import Any

import numpy as np

from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import (
    DIVERGED,
    DRAWN,
    FORMED,
    MOST,
    SEEDS,
    SINGLE,
    ReachedTarget,
    RoundMap,
    fraction,
)
from fedconvex.audit.designs.spectral_clients import spectral
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Method
from fedconvex.participation import Participation, Schedule
from fedconvex.runs.rounds import Rounds

Candidate = tuple[Method, LocalSolver | None]  # the solver None: the method's own

TRIED = 500  # rounds of a trial with drawn clients
STEPPED, FOLLOWED = 3000, 6  # rounds of the candidates that have the least gaps after SINGLE rounds; so many are kept
LEAST_FLOOR = 1e-30  # of the first gap: a smaller error floor is 0 up to rounding


@dataclass(frozen=True)
class FederationLimits:
    """What a federation allows; None: no limit."""

    rounds: int | None = None
    local_steps: int | None = None
    participation: Participation | None = None


NO_LIMITS = FederationLimits()


@dataclass(frozen=True, eq=False)
class Trials:
    """Candidates on one model for one tolerance, under a federation's limits."""

    model: QuadraticModel
    tolerance: float
    limits: FederationLimits

    def first(self, candidates: Sequence[Candidate], best: float) -> list[ReachedTarget]:
        """Which of some candidates of one class reach the target first, if in hardly more than `best` rounds.

        The others have infinitely many rounds.
        """
        limit = min(self.most, TRIED if self.limits.participation is not None else MOST)
        return self._reached(candidates, min(limit, ceil(best) + 1) if isfinite(best) else limit, SEEDS[:1], False)

    def every(self, candidates: Sequence[Candidate], limit: int | None = None) -> list[ReachedTarget]:
        """When each of some candidates of one class reaches the target; with drawn clients as a mean over seeds."""
        return self._reached(candidates, self.most if limit is None else min(limit, self.most), SEEDS, True)

    @cached_property
    def most(self) -> int:
        """The most rounds of a trial."""
        scheme = self.limits.participation
        drawn = MOST if scheme is None else len(scheme.clients) if isinstance(scheme, Schedule) else DRAWN
        return min(MOST if self.limits.rounds is None else self.limits.rounds, drawn, MOST)

    @property
    def target(self) -> float:
        """The suboptimality to reach."""
        return self.tolerance * self.model.first_gap

    @property
    def floor_counts(self) -> bool:
        """Whether parameters are excluded by their error floor; otherwise by the gap that a run has at the limit."""
        return self.limits.rounds is None and self.limits.participation is None

    def floor(self, candidate: Candidate) -> float:
        """The error floor relative to the first gap; 0 for methods without bias."""
        return self._floor(RoundMap(self.model, *candidate))

    def _floor(self, one: RoundMap) -> float:
        floor = one.floor / self.model.first_gap if has_floor(one.method) else 0.0
        return 0.0 if floor < LEAST_FLOOR else floor

    def _reached(
        self, candidates: Sequence[Candidate], limit: int, seeds: tuple[int, ...], every: bool
    ) -> list[ReachedTarget]:
        found = {candidate: ReachedTarget(inf, inf) for candidate in range(len(candidates))}
        left: list[int] = []
        maps = [RoundMap(self.model, *candidate) for candidate in candidates]
        for i, (method, solver) in enumerate(candidates):
            floor = self._floor(maps[i]) if self.floor_counts else 0.0
            if floor > self.tolerance:  # a run may come near the minimiser only in passing
                found[i] = ReachedTarget(inf, floor * self.model.first_gap)
            elif solver is not None or self._has_local_minimisers(method):
                left.append(i)
        if left:
            chosen = [candidates[i] for i in left]
            if self.limits.participation is not None:
                reached = self._by_draws(chosen, limit, seeds, every)
            elif chosen[0][0].is_stateless:
                reached = self._by_matrices([maps[i] for i in left], limit, every)
            else:
                reached = self._together(chosen, limit, every)
            found.update(zip(left, reached, strict=True))
        return list(found.values())

    def _by_matrices(self, maps: Sequence[RoundMap], limit: int, every: bool) -> list[ReachedTarget]:
        found = []
        for one in maps:
            found.append(one.reached(self.target, limit))
            if not every and isfinite(found[-1].rounds):
                limit = min(limit, ceil(found[-1].rounds) + 1)  # poor parameters cost little
        return found

    def _together(self, candidates: Sequence[Candidate], limit: int, every: bool) -> list[ReachedTarget]:
        """All candidates for some rounds, then those with the least gaps for more, then each by its matrix."""
        found = self._parallel(candidates).reached(self.target, min(limit, SINGLE), every=every)
        for most in (STEPPED, limit):
            reached = [isfinite(one.rounds) for one in found]
            if limit <= SINGLE or all(reached) or (any(reached) and not every):
                break
            left = [i for i in range(len(found)) if not reached[i] and isfinite(found[i].gap)]
            if not every:
                left = sorted(left, key=lambda i: found[i].gap)[:FOLLOWED]
            if not left:
                break
            chosen = [candidates[i] for i in left]
            if most == STEPPED:
                later = self._parallel(chosen).reached(self.target, min(limit, most), every=every)
            else:
                later = self._late(chosen, limit, every)
            found = [later[left.index(i)] if i in left else found[i] for i in range(len(found))]
            if limit <= STEPPED:
                break
        return found

    def _late(self, candidates: Sequence[Candidate], limit: int, every: bool) -> list[ReachedTarget]:
        maps = [RoundMap(self.model, *candidate) for candidate in candidates]
        if not every and maps[0].size > FORMED:  # late rounds take long: only the best candidate runs on
            return [maps[0].reached(self.target, limit), *(ReachedTarget(inf, inf) for _ in maps[1:])]
        return self._by_matrices(maps, limit, every)

    def _by_draws(
        self, candidates: Sequence[Candidate], limit: int, seeds: tuple[int, ...], every: bool
    ) -> list[ReachedTarget]:
        """The mean over some seeds, none of them 0, the seed of the run that checks a design."""
        if candidates[0][0].is_stateless and len(candidates) > 1:  # their formulas may ask whether a parameter is 0
            alone = []
            for candidate in candidates:
                alone += self._by_draws([candidate], limit, seeds, every)
                if not every and isfinite(alone[-1].rounds):
                    limit = min(limit, ceil(alone[-1].rounds) + 1)
            return alone
        trials = self._parallel(candidates)
        runs = [trials.reached(self.target, limit, self.limits.participation, seed, every) for seed in seeds]
        return [
            ReachedTarget(sum(one.rounds for one in own) / len(own), sum(one.gap for one in own) / len(own))
            for own in zip(*runs, strict=True)
        ]

    def _parallel(self, candidates: Sequence[Candidate]) -> "ParallelTrials":
        solvers = [method.local_solver if solver is None else solver for method, solver in candidates]
        return ParallelTrials(self.model, [method for method, _ in candidates], solvers)

    def _has_local_minimisers(self, method: Method) -> bool:
        """Whether the proximal term makes up for clients that are not convex, where subproblems are solved exactly."""
        if self.model.problem.is_convex or not isinstance(method.local_solver, Exact):
            return True
        factors = method.scale(self.model.problem)
        least = min(self.model.problem.mu * (1.0 if factors is None else np.array([float(f) for f in factors])))
        return float(method.proximal_weight) > -float(least)


def has_floor(method: Method) -> bool:
    """Whether a designed method has in general an error floor."""
    return method.is_stateless and getattr(method.local_solver, "steps", None) != 1


def with_number(method: Method, name: str, value: float) -> Method:
    """The method with another real parameter."""
    changed: Callable[..., Any] = replace
    other: Method = changed(method, **{name: value})
    return other


@dataclass(frozen=True, eq=False)
class ParallelTrials:
    """B methods of one class that differ in real parameters and local steps alone: one column each."""

    model: QuadraticModel
    methods: Sequence[Method]
    solvers: Sequence[LocalSolver]  # all exact, or all gradient steps

    def reached(
        self, target: float, limit: int, participation: Participation | None = None, seed: int = 0, every: bool = False
    ) -> list[ReachedTarget]:
        """Which trials reach the target in the round in which the first of them does, or when each of them does.

        The others have infinitely many rounds, and the last gap that was computed.
        """
        rounds, width = self.rounds, len(self.methods)
        first = self.model.gap(self.model.start)
        alive, missing, gaps = np.ones(width, dtype=bool), np.ones(width, dtype=bool), np.full(width, first)
        found: dict[int, ReachedTarget] = {}
        with rounds.arithmetic.context(), np.errstate(all="ignore"):
            state = rounds.start(np.repeat(self.model.start, width))
            for t in range(limit):
                if participation is None:
                    state = rounds.advance(state)
                else:
                    state = rounds.advance(state, participation.draw(self.model.problem, seed, t))
                before, gaps = gaps, self.model.gaps(state.server.reshape(-1, width).T)
                alive &= gaps < DIVERGED * first
                here = alive & missing & (gaps <= target)
                if here.any():
                    for i in np.flatnonzero(here).tolist():
                        found[i] = ReachedTarget(t + fraction(before[i], gaps[i], target), float(gaps[i]))
                    missing &= ~here
                if not (alive & missing).any() or (found and not every):
                    break
        return [found.get(i, ReachedTarget(inf, float(gaps[i]) if alive[i] else inf)) for i in range(width)]

    @property
    def rounds(self) -> Rounds:
        """The method's rounds, with a column for each of the parameters."""
        clients = self.model.clients(self.methods[0], np.ones(len(self.methods)))
        columns = _with_columns(self.methods, len(self.model.start))
        return Rounds(columns, spectral(self.solvers), self.model.problem, clients, clients.arithmetic)


def _with_columns(methods: Sequence[Method], d: int) -> Method:
    """The methods as one whose real parameters are arrays, of d·B numbers as the points are."""
    # a method's formulas take arrays for its parameters; only its constructor asks for single numbers
    columns = copy(methods[0])
    for parameter in fields(columns):  # type: ignore[arg-type]
        if "number" in parameter.metadata:
            values = np.array([float(getattr(method, parameter.name)) for method in methods])
            if any(values != values[0]):
                object.__setattr__(columns, parameter.name, np.tile(values, d))
    return columns
