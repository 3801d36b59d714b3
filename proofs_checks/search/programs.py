"""The semidefinite program of a proof, at values of the parameters: which inequalities suffice, and how much of each.

    D = Σ_j λ_j I_j + (squares),  λ ≥ 0,

where D is the claim's right side minus its left one, and the I_j ≥ 0 hold. Solved in floating point; only proposals.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import final

import numpy as np

from fedconvex.proofs_checks.kernel.vectors import Quantity
from fedconvex.proofs_checks.search.forms import Unknowns, matrices, values_at
from fedconvex.proofs_checks.worst_cases.programs.solver import Constraints

SLACK = 1e-6  # of the norm of a form that is scaled to norm 1
LARGEST = 1e4  # a multiplier in units: larger ones only seem to prove what holds in a limit
Equation = Sequence[float]  # the coefficients of the multipliers, and the right side


@final
class MultiplierProgram:
    """One sample of the parameters: the goal's and the candidates' forms, in units in which they have similar size."""

    def __init__(
        self,
        goal: Quantity,
        facts: Sequence[Quantity],
        shape: Unknowns,
        ends: Sequence[int | None],
        symbols: Mapping[str, float],
    ):
        forms = [goal, *facts]
        rows: list[list[np.ndarray]] = []
        for end in ends:
            at = [values_at(q, symbols, end) for q in forms]
            values = np.array([[q.get(m, 0.0) for m in shape.values] for q in at]).reshape(len(forms), -1)
            signed = np.array([[q.get(m, 0.0) for m in shape.signed] for q in at]).reshape(len(forms), -1)
            blocks = [matrices(at, b.products, len(b.basics)) for b in shape.blocks]
            rows.append([values, signed, *blocks])
        self._scale(rows, len(forms))

    def _scale(self, rows: list[list[np.ndarray]], count: int) -> None:
        """Units of vectors and of values, then every fact to norm 1."""
        blocks = [m for case in rows for m in case[2:]]
        values = np.hstack([case[0] for case in rows])
        units = [np.ones(m.shape[-1]) for m in blocks]
        norms = np.ones(count)
        for _ in range(3):
            scaled = [np.abs(m) * np.multiply.outer(v, v) for m, v in zip(blocks, units, strict=True)]
            parts = [m.max(axis=(1, 2)) for m in scaled if m.size]
            norms = np.max([*parts, np.zeros(count)], axis=0)
            norms[norms == 0] = 1.0
            for v, m in zip(units, scaled, strict=True):
                size = np.sqrt((m / norms[:, None, None]).max(axis=(0, 1)))
                v /= np.where(size > 0, size, 1.0)
        self.norms = norms[1:] / norms[0]  # multipliers in these units are λ · norm
        self.values = values / norms[:, None]
        size = np.abs(self.values).max(axis=0, initial=0)
        self.values /= np.where(size > 0, size, 1.0)
        self.signed = np.hstack([case[1] for case in rows]) / norms[:, None]
        size = np.abs(self.signed).max(axis=0, initial=0)
        self.signed /= np.where(size > 0, size, 1.0)
        self.blocks = [
            m * np.multiply.outer(v, v) / norms[:, None, None] for m, v in zip(blocks, units, strict=True)
        ]  # fmt: skip

    def solve(
        self, support: Collection[int], costs: np.ndarray | None = None, equations: Sequence[Equation] = ()
    ) -> np.ndarray | None:
        """Multipliers of the facts in the support that minimise Σ cost · λ (in units) and prove the claim; or None."""
        chosen, problem = np.array(sorted(support), int), Constraints()
        problem.equal(self.values[1:][chosen].T, self.values[0])
        if equations:
            made = np.array(equations, float)
            left = made[:, :-1][:, chosen] / self.norms[chosen]
            size = np.maximum(np.abs(left).max(axis=1, initial=0), 1e-30)
            problem.equal(left / size[:, None], made[:, -1] / size)
        problem.at_most(-np.eye(len(chosen)))
        problem.at_most(self.signed[1:][chosen].T, self.signed[0])
        for m in self.blocks:
            problem.positive(m[1:][chosen], m[0])
        found = np.zeros(len(self.norms))
        if chosen.size:
            cost = np.ones(len(chosen)) if costs is None else costs[chosen]
            x, _, _ = problem.least(cost)
            if not np.isfinite(x).all():
                return None
            found[chosen] = x
        return found / self.norms if self.proves(found, equations) else None

    def proves(self, scaled: np.ndarray, equations: Sequence[Equation] = ()) -> bool:
        """Whether multipliers in units prove the claim up to rounding."""
        weights = np.concatenate([[1.0], -scaled])
        size = 1.0 + np.abs(scaled).max(initial=0)
        if size > LARGEST or (scaled < -SLACK * size).any() or (np.abs(weights @ self.values) > SLACK * size).any():
            return False
        if (weights @ self.signed < -SLACK * size).any():
            return False
        for row in equations:
            left = np.asarray(row[:-1]) / self.norms
            if abs(left @ scaled - row[-1]) > SLACK * 10 * (np.abs(left).max() * size + abs(row[-1])):
                return False
        return all(np.linalg.eigvalsh(np.tensordot(weights, m, 1)).min(initial=0) > -SLACK * size for m in self.blocks)
