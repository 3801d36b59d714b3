"""Runs on the problem itself: how many rounds a design takes, and better parameters where the model is off.

On losses that are not quadratic the model at the minimiser says little about the first rounds. Where a run shows that,
runs with nearby parameters decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, isfinite

import numpy as np

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.audit.continued_solutions import with_continued_solutions
from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import DIVERGED, ReachedTarget, RoundMap, fraction
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import Candidate, has_floor, with_number
from fedconvex.audit.intervals import gaps_to
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import fixed_point
from fedconvex.ground_truths import GroundTruth
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import without_term
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import rounds_of
from fedconvex.runs.simulator import SimulatedRound, Simulator, Stop, run_rounds

OFF = 0.1  # relative difference of predicted and measured rounds from which on other parameters are run
SHORT = 10  # rounds of a run up to which others are made in any case: one round is more than a tenth of it
TUNED = 500  # rounds of a run up to which others are made
WIDEST, NARROWEST, RUNS = 1.5, 1.02, 20  # factors between a parameter and the next one that is run; the most runs
SLACK, SPARE = 1.5, 20  # a run that checks T rounds has at most SLACK·T + SPARE
FREE = ("stepsize", "alpha", "mu")  # a designed method has one of them


@dataclass(frozen=True, eq=False)
class PlayedRun:
    """A quantity of the server's point in every round of a method on the problem itself, from a start."""

    problem: Problem
    of_point: Callable[[np.ndarray], float]
    start: np.ndarray
    solver: LocalSolver | None = None  # None: the method's own
    participation: Participation | None = None
    seed: int = 0

    def values(self, method: Method, longest: int, target: float = -inf) -> list[float]:
        """From before round 1 to the round that falls to the target, diverges or is the last of `longest`."""
        values = [self.of_point(self.start)]

        def record(t: int, simulated: SimulatedRound) -> Stop | None:
            values.append(self.of_point(simulated.state.server))
            if values[-1] <= target:
                return Stop("reached")
            return None if values[-1] < DIVERGED * values[0] else Stop("diverged")

        rounds = with_continued_solutions(rounds_of(method, self.problem, "float", self.solver))
        simulator = Simulator.of(rounds, self.participation, seed=self.seed)
        with simulator.rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            run_rounds(simulator.next_round, simulator.rounds.start(self.start), range(longest), record)
        return values


@dataclass(frozen=True, eq=False)
class MeasuredRuns:
    """Runs from 0 until the suboptimality falls to a target."""

    truth: GroundTruth
    target: float
    participation: Participation | None = None

    def reached(self, candidate: Candidate, longest: int) -> ReachedTarget:
        """The round in which the suboptimality falls to the target, if at most `longest`, and the last gap."""
        method, solver = candidate
        problem = without_term(self.truth.problem)
        run = PlayedRun(problem, gaps_to(problem, self.truth.point), np.zeros(problem.dim), solver, self.participation)
        gaps = run.values(method, longest, self.target)
        if len(gaps) > 1 and gaps[-1] <= self.target:
            return ReachedTarget(len(gaps) - 2 + fraction(gaps[-2], gaps[-1], self.target), gaps[-1])
        return ReachedTarget(inf, gaps[-1] if isfinite(gaps[-1]) else inf)

    def rounds_to(self, candidate: Candidate, longest: int) -> int | None:
        """The first round with a suboptimality of at most the target; None: not in so many rounds."""
        found = self.reached(candidate, longest).rounds
        return ceil(found) if isfinite(found) else None

    def tuned(self, design: DesignedMethod, longest: int) -> tuple[Method, int | None]:
        """The method of a design, or with a parameter near the design's that takes fewer rounds, and its rounds."""
        own = self.reached((design.method, design.solver), longest)
        rounds = ceil(own.rounds) if isfinite(own.rounds) else None
        is_off = (
            rounds is None or design.rounds is None or abs(rounds - design.rounds) > OFF * rounds or 1 < rounds <= SHORT
        )
        exact = isinstance(self.truth.problem, QuadraticProblem) or self.participation is not None
        if exact or design.solver is not None or not is_off or min(longest, own.rounds) > TUNED:
            return design.method, rounds
        method, found = self._nearby(design.method, own, longest)
        if not isfinite(found.rounds) or ceil(found.rounds) == rounds:  # no whole round is saved
            return design.method, rounds
        return method, ceil(found.rounds)

    def _nearby(self, method: Method, own: ReachedTarget, longest: int) -> tuple[Method, ReachedTarget]:
        """Steps to a better parameter while there is one, longer and longer; then shorter ones to both sides."""
        free = next(name for name in FREE if hasattr(method, name))
        parameter, step = float(getattr(method, free)), WIDEST
        best, tried, upwards = (own.rounds, own.gap), {parameter}, True
        while len(tried) < RUNS and step >= NARROWEST:
            before = parameter
            for factor in (step, 1 / step) if upwards else (1 / step, step):
                point = float(significant(before * factor, 3, Rounding.NEAREST))
                if point in tried:
                    continue
                tried.add(point)
                bound = min(longest, ceil(best[0])) if isfinite(best[0]) else longest
                run = self._admissible_run(with_number(method, free, point), bound)
                if (run.rounds, run.gap) < best:
                    parameter, best, upwards = point, (run.rounds, run.gap), factor > 1
                    break
            step = step**1.5 if parameter != before else step**0.5
        return with_number(method, free, parameter), ReachedTarget(*best)

    @cached_property
    def _model(self) -> QuadraticModel:
        return QuadraticModel.of(without_term(self.truth.problem), self.truth)

    def _admissible_run(self, method: Method, longest: int) -> ReachedTarget:
        """The run, unless the method cannot stay below the target or has local problems without a minimiser."""
        try:
            if not RoundMap(self._model, method).contraction < 1:  # a run from 0 may reach the target before it leaves
                return ReachedTarget(inf, inf)
            if has_floor(method) and fixed_point(method, self.truth.problem).gap > self.target:
                return ReachedTarget(inf, inf)
            return self.reached((method, None), longest)
        except (NoFixedPoint, NotConverged, TooLarge, InvalidInput):
            return ReachedTarget(inf, inf)


def longest_check(rounds: int) -> int:
    """The most rounds of a run for which so many are predicted."""
    return ceil(SLACK * rounds) + SPARE
