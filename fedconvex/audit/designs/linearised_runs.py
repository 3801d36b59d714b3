"""Predicted rounds on losses that are not quadratic, where the clients' curvature differs from that at the minimiser.

The first rounds are computed on the problem. Those after them follow a round that is linear between the method's limit
and the server's point: with Hessians averaged over the segment the clients' gradients at that point are the problem's
own. The linear round is made anew as the point moves. The limit of a method without bias is the minimiser, that of the
others is their own fixed point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import DIVERGED, ReachedTarget, fraction
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import has_floor
from fedconvex.audit.intervals import gaps_to
from fedconvex.errors import InvalidInput, NoFixedPoint, NotConverged, TooLarge
from fedconvex.fixed_points import fixed_point
from fedconvex.ground_truths import GroundTruth
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import Method, State
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import Rounds, rounds_of

PLAYED = 3  # rounds on the problem
MOVED = 0.2  # of the distance to the limit: a server's point that moves further needs a new linear round
NODES = (0.5 - sqrt(1 / 12), 0.5 + sqrt(1 / 12))  # of Gauss' rule on [0, 1], whose weights are equal
SHORT = 20  # rounds on the model up to which runs are followed where a linear round is costly
LONGER, SPARE, LONGEST = 3, 60, 5000  # a run takes up to LONGER·T + SPARE rounds where the model needs T; never more

Advance = Callable[[State], State]


@dataclass(frozen=True, eq=False)
class LinearisedRuns:
    """Runs from 0 to a target, predicted round by round."""

    model: QuadraticModel
    truth: GroundTruth
    target: float
    is_costly: bool = False  # one linear round for each method, that at its limit, and for short runs only

    def improved(self, design: DesignedMethod, most: int) -> DesignedMethod:
        """The design with these rounds, at most so many, where those on the model say little about its runs."""
        if not self.are_needed(design):
            return design
        longest = min(most, LONGEST if design.rounds is None else LONGER * design.rounds + SPARE, LONGEST)
        try:
            reached = self.reached(design, longest)
        except (NoFixedPoint, NotConverged, TooLarge, InvalidInput):
            return design
        return design if reached is None else replace(design, reached=reached)

    def floor(self, method: Method) -> float:
        """The method's error floor on the problem, relative to the initial suboptimality; inf where none is found."""
        try:
            gap = float(fixed_point(method, self.model.problem).gap) if has_floor(method) else 0.0
        except (NoFixedPoint, NotConverged, TooLarge, InvalidInput):
            return inf
        return gap / self.model.first_gap

    def are_needed(self, design: DesignedMethod) -> bool:
        """Whether the rounds of a design on the model say little about a run on the problem."""
        if isinstance(self.model.problem, QuadraticProblem):
            return False
        if not has_floor(design.method):  # the start may excite slow modes on the model alone
            return design.rounds is not None and not (self.is_costly and design.rounds > SHORT)
        return design.rounds is None or design.rounds <= (SHORT if self.is_costly else LONGEST)

    def reached(self, design: DesignedMethod, longest: int) -> ReachedTarget | None:
        """The round of at most `longest` with a suboptimality of at most the target; None: there is none.

        Raises:
            NoFixedPoint, NotConverged: the method has no fixed point to linearise at, or none was found.
        """
        problem = self.model.problem
        gap_at = gaps_to(problem, self.truth.point)
        rounds = rounds_of(design.method, problem, "float", design.solver)
        limit, is_renewed = np.zeros(problem.dim), self._is_renewed(design)
        with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
            state, begun = rounds.start(limit), limit
            advance: Advance = rounds.advance
            now = first = gap_at(state.server)
            for t in range(longest):
                if t == PLAYED:
                    limit = self._limit(design)
                    if gap_at(limit) > self.target:  # the run only passes the target
                        return None
                    # what starts at the server's point moves with it
                    state = state.with_values(state.flat() - rounds.start(limit).flat())
                moved = np.linalg.norm(state.server - begun) > MOVED * np.linalg.norm(begun)
                if t == PLAYED or (t > PLAYED and is_renewed and moved):
                    begun, advance = state.server, self._linear(design, rounds, limit, state.server)
                state = advance(state)
                before, now = now, gap_at(limit + state.server)
                if now <= self.target:
                    return ReachedTarget(t + fraction(before, now, self.target), now)
                if not now < DIVERGED * first:
                    return None
        return None

    def _limit(self, design: DesignedMethod) -> np.ndarray:
        if not has_floor(design.method):
            return self.truth.point
        return np.asarray(fixed_point(design.method, self.model.problem, local_solver=design.solver).point)

    def _is_renewed(self, design: DesignedMethod) -> bool:
        """Whether curvature at the server's point counts, which after several gradient steps it hardly does.

        A method with bias is differentiated along these steps.
        """
        return not self.is_costly and (has_floor(design.method) or design.local_steps in (None, 1))

    def _linear(self, design: DesignedMethod, rounds: Rounds, limit: np.ndarray, displacement: np.ndarray) -> Advance:
        """The linear round, on states relative to the limit, between the limit and a displacement from it."""
        points = [limit + a * displacement for a in NODES] if self._is_renewed(design) else [limit]
        if has_floor(design.method):
            assert isinstance(rounds.solver, SmoothSolver)
            tangents = [rounds.tangent(State(point)) for point in points]
            return lambda state: State(sum(tangent(state).server for tangent in tangents) / len(tangents))
        clients = rounds.problem.clients("float")
        hessians = [np.asarray(clients.hessians(clients.rows(point))) for point in points]
        between = replace(self.model, hessians=np.mean(hessians, axis=0))
        return between.rounds(design.method, design.solver, np.ones(1)).advance
