"""Which Lyapunov functions and multipliers prove an attained rate at numbers, in floating point: only proposals.

A proof of that rate is an equality on the attaining vectors, so that its form vanishes on them. These are linear
equations; on what is orthogonal to these vectors the form is to be positive semidefinite.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import in_units, matrices_of_function
from fedconvex.proofs_checks.search.rate_theorems.equations import Unknown
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints, units

SOLVED = 1e-9  # a margin below 0 that is left to the solver where the largest one is not sought
NOISE = 1e-7  # what the solver does not tell from 0
Rows = Any  # arrays


@final
class RateProgram:
    """rate·V − V⁺ − Σ λ_i I_i >= 0, λ >= 0, V >= 0, in V's entries and the multipliers λ.

    Args:
        posed: the round, at numbers.
        rate: the factor by which V is to contract.
        zeros: vectors on which the form vanishes.
    """

    def __init__(self, posed: PosedRound, rate: float, zeros: Sequence[Mapping[Key, Any]]):
        program, count, n = posed.parts, len(posed.inequalities), len(posed.pairs)
        self.pairs, names = posed.pairs, [name for name, _ in posed.inequalities]
        self.unknowns: list[Unknown] = [*self.pairs, *names]

        def combined(forms: Rows) -> Rows:
            """From inequalities, squares before and squares after to the unknowns' forms."""
            return np.concatenate([rate * forms[count : count + n] - forms[count + n :], -forms[:count]])

        self.sizes, values, on_zeros, self.blocks = in_units(program, units(program)[:2], zeros, combined)
        self.equations = np.vstack([values, on_zeros])

    def solve(
        self, support: Collection[str], fixed: Mapping[Unknown, float], objective: Mapping[Unknown, float] | None = None
    ) -> dict[Unknown, float] | None:
        """V's entries and the multipliers with the largest margin, or with the least Σ objective·x; None without any.

        Only inequalities of the support are used; some numbers are `fixed`.
        """
        kept = [i for i, x in enumerate(self.unknowns) if x in support or x in self.pairs]
        problem = self._constraints(kept, fixed, objective is None)
        costs = np.zeros(1 + len(kept))  # the first variable is the margin
        if objective is None:
            costs[0] = -1.0
        else:
            costs[1:] = [objective.get(self.unknowns[i], 0.0) / self.sizes[i] for i in kept]
        x, _, _ = problem.least(costs)
        # Where there is no solution, the solver returns something, too. The margin need not be exact.
        size = 1 + np.abs(x).max()
        if not np.isfinite(x).all() or x[0] < -NOISE or problem.violation(np.array([0.0, *x[1:]])) > NOISE * size:
            return None
        return {self.unknowns[i]: float(c / self.sizes[i]) for i, c in zip(kept, x[1:], strict=True)}

    def _constraints(self, kept: list[int], fixed: Mapping[Unknown, float], with_margin: bool) -> Constraints:
        n, found = len(kept), Constraints()
        of_equations = np.hstack([np.zeros((len(self.equations), 1)), self.equations[:, kept]])
        size = np.abs(of_equations).max(axis=1, initial=0)
        found.equal(of_equations[size > SOLVED] / size[size > SOLVED, None])
        known = [(place, self.unknowns[i]) for place, i in enumerate(kept) if self.unknowns[i] in fixed]
        given = np.zeros((len(known), 1 + n))
        given[range(len(known)), [1 + place for place, _ in known]] = 1.0
        found.equal(given, [fixed[x] * self.sizes[kept[place]] for place, x in known])
        found.at_most(np.outer((1.0, -1.0), np.eye(1 + n)[0]), (1.0, 1.0) if with_margin else (0.0, SOLVED))
        found.at_most(-np.eye(1 + n)[[1 + place for place, i in enumerate(kept) if i >= len(self.pairs)]])
        margins = [np.concatenate([-np.eye(m.shape[-1])[None], m[kept]]) for m in self.blocks]
        for m in (*margins, *matrices_of_function(self.pairs, 1 / self.sizes, 1, n - len(self.pairs)).values()):
            found.positive(-m)
        return found
