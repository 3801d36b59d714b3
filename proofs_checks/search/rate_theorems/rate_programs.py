"""Which Lyapunov functions and multipliers prove an attained rate at numbers, in floating point: only proposals.

A proof of that rate is an equality on the attaining vectors, so that its form vanishes on them. These are linear
equations; on what is orthogonal to these vectors the form is to be positive semidefinite.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound
from fedconvex.proofs_checks.search.lyapunov.semidefinite import orthogonal
from fedconvex.proofs_checks.search.rate_theorems.equations import Unknown
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Key
from fedconvex.proofs_checks.worst_cases.programs.solver import conic, triangles, units

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
        (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)

        def combined(forms: Rows) -> Rows:
            """From inequalities, squares before and squares after to the unknowns' forms."""
            return np.concatenate([rate * forms[count : count + n] - forms[count + n :], -forms[:count]])

        scaled = [combined(m[2:] * np.multiply.outer(v, v)) for m, v in zip(blocks, vectors, strict=True)]
        values = combined(of_values[2:] * value_units)
        parts = [*(np.abs(m).max(axis=(1, 2)) for m in scaled), np.abs(values).max(axis=1, initial=0)]
        self.sizes = np.max(parts, 0)  # unknowns are measured in units in which their forms have norm 1
        self.sizes[self.sizes == 0] = 1.0
        self.blocks, equations = [], [values.T / self.sizes]
        on_zeros = [program.coordinates(zero) for zero in zeros]
        for place, (m, v) in enumerate(zip(scaled, vectors, strict=True)):
            m = m / self.sizes[:, None, None]
            room, along = orthogonal([zero[place] for zero in on_zeros], v)
            equations.append((m @ along).reshape(len(m), -1).T)
            if room.size:
                self.blocks.append(room.T @ m @ room)
        self.equations = np.vstack(equations)

    def solve(
        self, support: Collection[str], fixed: Mapping[Unknown, float], objective: Mapping[Unknown, float] | None = None
    ) -> dict[Unknown, float] | None:
        """V's entries and the multipliers with the largest margin, or with the least Σ objective·x; None without any.

        Only inequalities of the support are used; some numbers are `fixed`.
        """
        kept = [i for i, x in enumerate(self.unknowns) if x in support or x in self.pairs]
        A, b, cones = self._constraints(kept, fixed, objective is None)
        costs = np.zeros(1 + len(kept))  # the first variable is the margin
        if objective is None:
            costs[0] = -1.0
        else:
            costs[1:] = [objective.get(self.unknowns[i], 0.0) / self.sizes[i] for i in kept]
        x, _, _ = conic(np.vstack(A), np.concatenate(b), cones, costs)
        if not self._is_solution(x, A, b, kept):
            return None
        return {self.unknowns[i]: float(c / self.sizes[i]) for i, c in zip(kept, x[1:], strict=True)}

    def _constraints(
        self, kept: list[int], fixed: Mapping[Unknown, float], with_margin: bool
    ) -> tuple[list[Rows], list[Rows], list[Any]]:
        """Equations, then bounds, then positive semidefinite matrices: b − Ax in the cones."""
        import clarabel

        n = len(kept)
        of_equations = np.hstack([np.zeros((len(self.equations), 1)), self.equations[:, kept]])
        size = np.abs(of_equations).max(axis=1, initial=0)
        of_equations = of_equations[size > SOLVED] / size[size > SOLVED, None]
        known = [(place, self.unknowns[i]) for place, i in enumerate(kept) if self.unknowns[i] in fixed]
        given = np.zeros((len(known), 1 + n))
        given[range(len(known)), [1 + place for place, _ in known]] = 1.0
        values = [fixed[x] * self.sizes[kept[place]] for place, x in known]
        signed = [1 + place for place, i in enumerate(kept) if i >= len(self.pairs)]
        bounds = np.zeros((2 + len(signed), 1 + n))
        bounds[:2, 0] = 1.0, -1.0  # the margin
        bounds[range(2, len(bounds)), signed] = -1.0
        of_margin = (1.0, 1.0) if with_margin else (0.0, SOLVED)
        A = [np.vstack([of_equations, given]), bounds]
        b = [np.array([*np.zeros(len(of_equations)), *values]), np.array([*of_margin, *np.zeros(len(signed))])]
        cones = [clarabel.ZeroConeT(len(A[0])), clarabel.NonnegativeConeT(len(bounds))]
        margins = [np.concatenate([-np.eye(m.shape[-1])[None], m[kept]]) for m in self.blocks]
        for m in (*margins, *self._matrices_of_function(n)):
            A.append(-triangles(m).T)
            b.append(np.zeros(len(A[-1])))
            cones.append(clarabel.PSDTriangleConeT(m.shape[-1]))
        return A, b, cones

    def _matrices_of_function(self, unknowns: int) -> list[Rows]:
        """V's matrices, of the means and of the deviations; its entries come first among the unknowns."""
        found = []
        for part in dict.fromkeys(a[0] for a, _ in self.pairs):
            size = 1 + max(i for (p, i), _ in self.pairs if p == part)
            m = np.zeros((1 + unknowns, size, size))
            for place, ((p, i), (_, j)) in enumerate(self.pairs):
                if p == part:
                    m[1 + place, i, j] = m[1 + place, j, i] = 1 / self.sizes[place]
            found.append(m)
        return found

    def _is_solution(self, x: Rows, A: list[Rows], b: list[Rows], kept: list[int]) -> bool:
        """Whether it is one up to rounding: where there is none, the solver returns something, too."""
        if not np.isfinite(x).all() or x[0] < -NOISE:
            return False
        size = 1 + np.abs(x).max()
        if np.abs(A[0] @ x - b[0]).max(initial=0) > NOISE * size or (A[1] @ x - b[1]).max(initial=0) > NOISE * size:
            return False
        matrices = [np.tensordot(x[1:], m[kept], 1) for m in self.blocks]
        matrices += [np.tensordot(x, m, 1) for m in self._matrices_of_function(len(kept))]
        return all(np.linalg.eigvalsh(m).min() >= -NOISE * size for m in matrices)
