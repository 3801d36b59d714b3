"""Exact local solutions in the rounds of one run, each started where the run's last ones point to.

From round to round answers move little and smoothly. A start that is extrapolated from them saves most of Newton's
steps; where the iteration ends does not depend on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.runs.rounds import Rounds

ORDER = 6  # rounds from which the next one is predicted
RANK = 1e-10  # relative: smaller parts of the last rounds are rounding


def with_continued_solutions(rounds: Rounds) -> Rounds:
    """The rounds for one run of all clients, with a solver that remembers its last answers.

    Use it where a run is neither interrupted nor compared bit by bit: a round of it depends, by rounding, on the rounds
    before it. Other solvers, and clients whose subproblems are linear equations, stay as they are.
    """
    if not isinstance(rounds.solver, Exact) or isinstance(rounds.problem, QuadraticProblem):
        return rounds
    return replace(rounds, solver=ContinuedExact())


@final
@dataclass(frozen=True, eq=False)
class ContinuedExact(LocalSolver):
    """`Exact` in floats, started where the answers of the last rounds point to.

    How far answers are from their usual starts, d_t, is predicted as Σ_j c_j d_{t−j}. The coefficients c, the same for
    all clients and unknowns, are those that would have predicted the last round best.
    """

    _known: list[Array] = field(default_factory=list)  # of all clients in the last rounds, the latest first

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        if draw.members is not None:
            return Answers(clients.minimise(subproblem))
        usual = subproblem.start if subproblem.guess is None else subproblem.guess
        points = clients.minimise(replace(subproblem, guess=usual + self._predicted()))
        self._known[:] = [points - usual, *self._known[:ORDER]]
        return Answers(points)

    def _predicted(self) -> Array:
        if len(self._known) < 2:
            return 0.0
        known = np.stack([known.ravel() for known in self._known], axis=1)
        if not np.isfinite(known).all():  # the run diverges
            return 0.0
        coefficients = np.linalg.lstsq(known[:, 1:], known[:, 0], rcond=RANK)[0]
        return (known[:, :-1] @ coefficients).reshape(self._known[0].shape)

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Raises InvalidInput as `Exact` does."""
        Exact().require(problem, scale, weight)
