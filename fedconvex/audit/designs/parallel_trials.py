"""Many parameters of one method on the quadratic model, round by round together, until the first reaches the target."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from math import inf

import numpy as np

from fedconvex.audit.designs.quadratic_model import QuadraticModel
from fedconvex.audit.designs.round_maps import DIVERGED, ReachedTarget, fraction
from fedconvex.audit.designs.spectral_clients import spectral
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.participation import Participation
from fedconvex.runs.rounds import Rounds


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
