"""Newton refinement of a floating-point solution to 45 digits, so that rational numbers can be read off.

At the solution the form t·N + C − Σ λ_i I_i vanishes on the worst instance's vectors, and the inequalities with a
positive multiplier hold with equality (complementary slackness). Newton steps on these equations, with the derivative
in floating point and the residual in rationals, gain about seven digits each. The result is a proposal, too: nothing
here is trusted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal

BITS = 240  # of the rationals: without rounding they would double in length at every step
STEPS = 25
ENOUGH = 1e-45  # residual of a solution
DIVERGED = 10**9
ACTIVE = (1e-5, 1e-3, 1e-7)  # relative thresholds, tried in turn: smaller multipliers and eigenvalues count as 0
LARGEST = 500  # unknowns; the derivative is a dense matrix of that size


@final
@dataclass(frozen=True, eq=False)
class RefinedSolution:
    """t, all multipliers, and the instance to 45 digits; each block's Gram matrix is W M Wᵀ."""

    t: Any
    multipliers: list[Any]
    values: list[Any]
    parts: list[tuple[np.ndarray, np.ndarray]]


def refine(program: Program, proposal: Proposal) -> Iterator[RefinedSolution]:
    """Refined solutions near the proposal, one for each guess of which of its numbers are 0.

    Skips guesses that leave more than `LARGEST` unknowns, and those from which Newton's method does not converge.
    """
    if not all(np.isfinite(part).all() for part in (*proposal.grams, proposal.values)):
        return
    tried = []
    for least in ACTIVE:
        equations = _Equations.of(program, proposal, least)
        if equations is not None and len(equations.start) <= LARGEST and equations.guess not in tried:
            tried.append(equations.guess)
            found = equations.solved()
            if found is not None:
                yield found


@final
@dataclass(frozen=True, eq=False)
class _Equations:
    """The optimality equations in t, the active multipliers, the function values, and the Gram matrices.

    A Gram matrix of rank r is W M Wᵀ with W = (I; Y) up to the order of its rows: M and Y are free numbers, so that the
    rank is fixed and the equations have a regular derivative.
    """

    program: Program
    active: list[int]
    orders: list[np.ndarray]
    ranks: list[int]
    start: np.ndarray

    @classmethod
    def of(cls, program: Program, proposal: Proposal, least: float) -> "_Equations | None":
        largest = max(proposal.multipliers, default=0.0)
        active = [i for i, x in enumerate(proposal.multipliers) if x > least * largest]
        orders, ranks, parts = [], [], []
        biggest = max((float(np.abs(gram).max()) for gram in proposal.grams if gram.size), default=0.0)
        for gram in proposal.grams:
            order, rank = _pivoted(gram, least * biggest)
            M = gram[np.ix_(order[:rank], order[:rank])]  # the independent rows; the others are Y times these
            Y = gram[np.ix_(order[rank:], order[:rank])] @ np.linalg.pinv(M)
            orders.append(order)
            ranks.append(rank)
            parts += [M[np.triu_indices(rank)], Y.ravel()]
        start = np.concatenate([[proposal.t], proposal.multipliers[active], proposal.values, *parts])
        return cls(program, active, orders, ranks, start) if np.isfinite(start).all() else None

    @property
    def guess(self) -> tuple[list[int], list[int]]:
        """The active multipliers, and the ranks: equal for guesses that are the same."""
        return self.active, self.ranks

    def solved(self) -> RefinedSolution | None:
        """The limit of Newton's method; None where it does not converge."""
        unknown = _exact(self.start)
        for step in range(STEPS):
            errors = self.residuals(unknown)
            largest = max(map(abs, errors))
            if largest > DIVERGED:
                return None
            size = float(largest)
            if size < ENOUGH:
                multipliers = [ZERO] * len(self.program.inequalities)
                for place, i in enumerate(self.active):
                    multipliers[i] = unknown[1 + place]
                _, _, values, parts = self._split(unknown)
                return RefinedSolution(unknown[0], multipliers, list(values), parts)
            if step < 3:  # later the derivative hardly changes, and its pseudoinverse is most of the work
                inverse = np.linalg.pinv(self.derivative(unknown.astype(float)), rcond=1e-10)
            scale = to_fmpq(size)
            change = inverse @ np.asarray([float(x / scale) for x in errors])
            if not np.isfinite(change).all():
                return None
            unknown = _rounded(unknown - _exact(change) * scale)
        return None

    def residuals(self, unknown: np.ndarray) -> list[Any]:
        """The residuals of the equations, exactly."""
        t, multipliers, values, parts = self._split(unknown)
        weights = [ZERO] * len(self.program.inequalities)
        for place, i in enumerate(self.active):
            weights[i] = multipliers[place]
        blocks, of_values = self.program.remainder(t, weights)
        found = list(of_values)
        grams = []
        for block, (W, M) in zip(blocks, parts, strict=True):
            # Z·W = 0 for the form's matrix Z: as many equations as W has entries.
            found += list((np.asarray(block, dtype=object).reshape(len(W), len(W)) @ W).ravel())
            grams.append(W @ M @ W.T)
        named = dict(zip(self.program.values, values, strict=True))
        # N = 1, and the active inequalities hold with equality.
        for place in (0, *(i + 2 for i in self.active)):
            form = self.program.forms[place]
            total = sum((c * named[name] for name, c in form.values.items()), ZERO) - (ONE if place == 0 else ZERO)
            for gram, matrix in zip(grams, self.program.matrices[place], strict=True):
                total += sum((c * gram[i, j] * (1 if i == j else 2) for (i, j), c in matrix.items()), ZERO)
            found.append(total)
        return found

    def derivative(self, x: np.ndarray) -> np.ndarray:
        """The Jacobian of `residuals` in floating point: a column for each unknown, in the order of `start`."""
        blocks, of_values = self.program.floats
        t, multipliers, values, parts = self._split(x)
        places = [i + 2 for i in self.active]
        columns: list[np.ndarray] = []
        linear = [0, *places]
        signs = [1.0, *(-1.0 for _ in places)]
        images = [
            [s * (m[k] @ W) for k, s in zip(linear, signs, strict=True)]
            for m, (W, _) in zip(blocks, parts, strict=True)
        ]
        pad = np.zeros(len(linear))  # t and the multipliers do not occur in the equations of the instance
        for place, (k, s) in enumerate(zip(linear, signs, strict=True)):
            columns.append(np.concatenate([s * of_values[k], *(image[place].ravel() for image in images), pad]))
        sizes = [W.size for W, _ in parts]
        above = len(self.program.values) + sum(sizes)
        columns += [np.concatenate([np.zeros(above), of_values[linear, v]]) for v in range(len(values))]
        offset = len(self.program.values)
        for m, (W, M), order, rank in zip(blocks, parts, self.orders, self.ranks, strict=True):
            # The form's matrix, whose derivative by W is the matrix itself; columns of M, then of Y.
            R = t * m[0] + m[1] - np.tensordot(multipliers, m[places], 1) if places else t * m[0] + m[1]
            for i, j in zip(*np.triu_indices(rank), strict=True):
                E = np.zeros((rank, rank))
                E[i, j] = E[j, i] = 1.0
                columns.append(np.concatenate([np.zeros(above), np.tensordot(m[linear], W @ E @ W.T, 2)]))
            for row in order[rank:]:
                for column in range(rank):
                    D = np.zeros_like(W)
                    D[row, column] = 1.0
                    top = np.zeros(above)
                    top[offset : offset + W.size] = (R @ D).ravel()
                    change = D @ M @ W.T
                    columns.append(np.concatenate([top, np.tensordot(m[linear], change + change.T, 2)]))
            offset += W.size
        return np.column_stack(columns)

    def _split(self, unknown: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
        """t, the active multipliers, the values, and (W, M) of every block."""
        place = 1 + len(self.active) + len(self.program.values)
        zero, one = (ZERO, ONE) if unknown.dtype == object else (0.0, 1.0)
        parts = []
        for order, rank in zip(self.orders, self.ranks, strict=True):
            M = np.full((rank, rank), zero, dtype=unknown.dtype)
            rows, columns = np.triu_indices(rank)
            M[rows, columns] = M[columns, rows] = unknown[place : place + len(rows)]
            place += len(rows)
            W = np.full((len(order), rank), zero, dtype=unknown.dtype)
            W[order[:rank], range(rank)] = one
            count = (len(order) - rank) * rank
            W[order[rank:]] = unknown[place : place + count].reshape(-1 if rank else len(order), rank)
            place += count
            parts.append((W, M))
        first = 1 + len(self.active)
        return unknown[0], unknown[1:first], unknown[first : first + len(self.program.values)], parts


def _pivoted(gram: np.ndarray, least: float) -> tuple[np.ndarray, int]:
    """An order in which the first rows are independent, and their number (pivoted Cholesky)."""
    rest, order, rank = gram.copy(), np.arange(len(gram)), 0
    while rank < len(gram):
        diagonal = np.diag(rest)[order[rank:]]
        best = rank + int(np.argmax(diagonal))
        if diagonal.max() <= least:
            break
        order[[rank, best]] = order[[best, rank]]
        p = order[rank]
        rest = rest - np.outer(rest[:, p], rest[p]) / rest[p, p]
        rank += 1
    return order, rank


def _exact(floats: np.ndarray) -> np.ndarray:
    """The rational numbers that the floats are."""
    return np.asarray([to_fmpq(float(x)) for x in floats], dtype=object)


def _rounded(numbers: np.ndarray) -> np.ndarray:
    return np.asarray([fmpq((x * (1 << BITS)).floor(), 1 << BITS) for x in numbers], dtype=object)
