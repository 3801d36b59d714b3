"""Predicted rounds where the quadratic model at the minimiser says little: short runs, and error floors that it misses.

On losses that are not quadratic the clients' curvature at the first points differs from that at the minimiser. The
first rounds are then played on the problem. The others follow the linearised round: that at the minimiser, for a method
without bias; for the others that at the method's own fixed point, where they end.
"""

from collections.abc import Callable

import numpy as np

from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import DIVERGED, ReachedTarget, fraction
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import has_floor
from fedconvex.audit.intervals import gaps_to
from fedconvex.fixed_points import fixed_point
from fedconvex.ground_truths import GroundTruth
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.base import State
from fedconvex.problems.composite import without_term
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.runs.rounds import Rounds, rounds_of

PLAYED = 3  # rounds on the problem, before those of the linearised round
SHORT = 20  # rounds of a run in which the first ones, far from the minimiser, are a good part


def needs_first_rounds(design: DesignedMethod, truth: GroundTruth) -> bool:
    """Whether the rounds of a design on the model say little about a run on the problem."""
    if isinstance(truth.problem, QuadraticProblem) or not design.method.linear:
        return False
    if has_floor(design.method):
        return design.rounds is None
    return design.rounds is not None and design.rounds <= SHORT


def reached_from_first_rounds(
    design: DesignedMethod, model: QuadraticModel, truth: GroundTruth, target: float, limit: int
) -> ReachedTarget | None:
    """The round of at most `limit` with a suboptimality of at most the target; None: there is none.

    Raises:
        NoFixedPoint, NotConverged: the method has no fixed point to linearise at, or none was found.
    """
    problem = without_term(truth.problem)
    gap_at = gaps_to(problem, truth.point)
    rounds = rounds_of(design.method, problem, "float", design.solver)
    with rounds.arithmetic.context(), np.errstate(over="ignore", invalid="ignore"):
        state = rounds.start(np.zeros(problem.dim))
        now = first = gap_at(state.server)
        center = np.zeros(problem.dim)
        advance: Callable[[State], State] = rounds.advance
        for t in range(limit):
            if t == PLAYED:
                center, state, advance = _linearised(design, model, truth, rounds, state)
                if has_floor(design.method) and gap_at(center) > target:
                    return None
            state = advance(state)
            before, now = now, gap_at(center + state.server)
            if now <= target:
                return ReachedTarget(t + fraction(before, now, target), now)
            if not now < DIVERGED * first:
                return None
    return None


def _linearised(
    design: DesignedMethod, model: QuadraticModel, truth: GroundTruth, rounds: Rounds, state: State
) -> tuple[np.ndarray, State, Callable[[State], State]]:
    """The point at which the round is linearised, the state relative to it, and the linearised round."""
    if has_floor(design.method):
        assert isinstance(rounds.solver, SmoothSolver)
        end = fixed_point(design.method, truth.problem, local_solver=design.solver).point
        return end, State(state.server - end), rounds.tangent(State(end))
    # a translation by x* moves what starts at the server's point, and nothing else
    origin = rounds.start(truth.point)
    relative = state.with_values(state.flat() - origin.flat())
    return truth.point, relative, model.rounds(design.method, design.solver, np.ones(1)).advance
