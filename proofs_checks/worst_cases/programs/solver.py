"""Floating-point solutions of semidefinite programs: proposals, of which nothing is trusted.

Clarabel is called without a modelling layer, whose compilation would take longer than most of these programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.worst_cases.programs.program import Program

TOLERANCE = 1e-11
LEAST = 1e-6  # smallest unit, relative to the largest: rounding noise must not become a unit
Units = tuple[list[np.ndarray], np.ndarray, tuple[int, ...]]  # of each block's vectors, of values; block sizes


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """The solver's t and multipliers, the Gram matrices and values of a nearly worst instance, and its status."""

    t: float
    multipliers: np.ndarray
    grams: tuple[np.ndarray, ...]
    values: np.ndarray
    status: str

    @property
    def is_solved(self) -> bool:
        """Whether the solver reports a solution, to any accuracy, and all numbers are finite."""
        return "Solved" in self.status and bool(np.isfinite([self.t, *self.multipliers]).all())


def propose(program: Program, fixed: float | None = None, twice: bool = False) -> Proposal:
    """A floating-point solution of the program: the least t, or with `fixed` a point in the interior for that t.

    For a fixed t the smallest eigenvalue of the quadratic form's matrices (in the solver's units) is maximised instead,
    and returned as t. With `twice`, a solution of reduced accuracy is computed again in the units of its own lengths
    and values; use it for large programs, whose vectors may differ much in length.
    """
    found = _proposed(program, fixed, units(program))
    # A status like AlmostSolved is an answer of reduced accuracy.
    if not twice or found.status == "Solved" or not np.isfinite([*found.values, *map(np.sum, found.grams)]).all():
        return found
    again = _proposed(program, fixed, _units_of(found))
    return again if again.status == "Solved" or (again.is_solved and not found.is_solved) else found


def _units_of(found: Proposal) -> Units:
    """Units in which the solution's vectors have length 1 and its values are 1, bounded below by LEAST."""
    lengths = [np.sqrt(np.maximum(np.diag(gram), 0.0)) for gram in found.grams]
    vectors, value_units = ([np.maximum(x, LEAST * x.max(initial=LEAST)) for x in parts]
                        for parts in (lengths, [np.abs(found.values)]))  # fmt: skip
    return vectors, value_units[0], tuple(map(len, lengths))


def _proposed(program: Program, fixed: float | None, scales: Units) -> Proposal:
    (blocks, of_values), (vectors, value_units, sizes) = program.floats, scales
    scaled = [m * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
    values = of_values * value_units
    norms = np.max([np.abs(m).max(axis=(1, 2)) for m in scaled] + ([np.abs(values).max(1)] if values.size else []), 0)
    norms[norms == 0] = 1.0
    # Every form is scaled to norm 1; the results are scaled back at the end.
    # Primal variables of the solver are t and the multipliers; the Gram matrices and values are its dual variables.
    count = len(program.inequalities)

    def constraint(part: np.ndarray, margin: Any) -> tuple[np.ndarray, np.ndarray]:
        if fixed is None:
            return np.concatenate([-part[:1], part[2:]]), part[1]
        return np.concatenate([margin[None], part[2:]]), part[1] + fixed * norms[0] / norms[1] * part[0]

    problem = Constraints()
    of_values, right = constraint(values / norms[:, None], np.zeros(values.shape[1]))
    problem.equal(of_values.T, right)
    problem.at_most(-np.eye(1 + count)[1:])
    for m, size in zip(scaled, sizes, strict=True):
        # For a fixed t the first variable is s in (form) − s·I ⪰ 0.
        problem.positive(*constraint(m / norms[:, None, None], np.eye(size)))
    objective = np.zeros(1 + count)
    objective[0] = 1.0 if fixed is None else -1.0
    x, z, status = problem.least(objective)
    grams = _gram_matrices(z[len(program.values) + count :], vectors)
    t = x[0] * (norms[1] / norms[0] if fixed is None else 1.0)
    return Proposal(float(t), x[1:] * norms[1] / norms[2:], grams, z[: len(program.values)] * value_units, status)


def strictly_feasible(program: Program) -> tuple[np.ndarray, ...] | None:
    """Gram matrices and values with the largest room s, a point in the interior; None where the solver finds no s > 0.

    N <= 1, I_i >= s, all eigenvalues >= s and s <= 1, with the rows scaled alike.
    """
    (blocks, of_values), (vectors, value_units, _) = program.floats, units(program)
    scaled = [m * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
    rows = np.column_stack([*(triangles(m) for m in scaled), of_values * value_units])
    rows /= np.maximum(np.abs(rows).max(1, keepdims=True), np.finfo(float).tiny)
    count, others = rows.shape[1], len(rows) - 2
    room = np.concatenate([[0.0], np.ones(others)])  # the coefficients of s in N <= 1 and I_i >= s
    problem = Constraints()
    problem.at_most(np.column_stack([np.vstack([rows[0], -rows[2:]]), room]), np.eye(1 + others)[0])
    place = 0
    for size in program.sizes:
        length = size * (size + 1) // 2
        part = np.zeros((length, count + 1))
        part[:, place : place + length] = -np.eye(length)
        part[:, -1] = triangles(np.eye(size)[None])[0]
        problem.add("PSDTriangleConeT", part, None, size)
        place += length
    last = np.eye(count + 1)[-1]
    problem.at_most(last[None], np.ones(1))
    x, _, _ = problem.least(-last)
    if not np.isfinite(x).all() or x[-1] <= 0:
        return None
    return (*_gram_matrices(x[:place], vectors), x[place:-1] * value_units)


def _gram_matrices(entries: np.ndarray, vectors: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The blocks of a solver's variables, one triangle after the other, in the units of the vectors."""
    found, place = [], 0
    for vector in vectors:
        size = len(vector)
        length = size * (size + 1) // 2
        found.append(symmetric(entries[place : place + length], size) * np.multiply.outer(vector, vector))
        place += length
    return tuple(found)


@final
class Constraints:
    """On unknowns x: equations, bounds, and linear matrix inequalities. Right sides and constants are 0 by default."""

    def __init__(self) -> None:
        self._parts: list[tuple[str, np.ndarray, np.ndarray, int]] = []

    def equal(self, A: np.ndarray, b: Any = None) -> None:
        """A x = b."""
        self.add("ZeroConeT", A, b, len(A))

    def at_most(self, A: np.ndarray, b: Any = None) -> None:
        """A x <= b."""
        self.add("NonnegativeConeT", A, b, len(A))

    def positive(self, F: np.ndarray, G: np.ndarray | None = None) -> None:
        """G − Σ x_i F_i is positive semidefinite."""
        self.add("PSDTriangleConeT", triangles(F).T, None if G is None else triangles(G[None])[0], F.shape[-1])

    def add(self, cone: str, A: np.ndarray, b: Any, size: int) -> None:
        """b − A x is in Clarabel's cone of this name and size."""
        if size:
            self._parts.append((cone, A, np.zeros(len(A)) if b is None else np.asarray(b, dtype=float), size))

    def violation(self, x: np.ndarray) -> float:
        """By how much x violates them at most; of a matrix, minus its least eigenvalue."""
        return max((_outside(cone, b - A @ x, size) for cone, A, b, size in self._parts), default=0.0)

    def least(self, objective: np.ndarray) -> tuple[Any, Any, str]:
        """min objective·x: x, the dual solution, and the solver's status; not finite where the constraints are not."""
        import clarabel
        from scipy import sparse
        from scipy.linalg import cython_blas, cython_lapack  # noqa: F401  Clarabel panics if Ctrl-C ends its import

        cones, rows, right, sizes = zip(*self._parts, strict=True)
        A, b = np.vstack(rows), np.concatenate(right)
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            return np.full(len(objective), np.nan), np.full(len(b), np.nan), "InvalidData"
        made = [getattr(clarabel, cone)(size) for cone, size in zip(cones, sizes, strict=True)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
        rows, columns = A.shape
        by_columns = A.T != 0  # SciPy's own conversion takes as long as a small program
        places = (np.nonzero(by_columns)[1], np.concatenate([[0], np.cumsum(by_columns.sum(1))]))
        compressed = sparse.csc_matrix((A.T[by_columns], *places), shape=(rows, columns))
        P = sparse.csc_matrix((np.zeros(0), np.zeros(0, int), np.zeros(columns + 1, int)), shape=(columns, columns))
        try:
            solution = clarabel.DefaultSolver(P, objective, compressed, b, made, settings).solve()
        except BaseException as failure:  # Clarabel panics where its eigenvalues do not converge
            if type(failure).__name__ != "PanicException":
                raise
            return np.full(len(objective), np.nan), np.full(len(b), np.nan), "Panic"
        return np.asarray(solution.x), np.asarray(solution.z), str(solution.status)


def _outside(cone: str, rest: np.ndarray, size: int) -> float:
    if cone == "ZeroConeT":
        return float(np.abs(rest).max())
    return -float((rest if cone == "NonnegativeConeT" else np.linalg.eigvalsh(symmetric(rest, size))).min())


def triangles(matrices: np.ndarray) -> np.ndarray:
    """Clarabel's vectors of symmetric matrices: (k, n, n) to (k, n(n + 1)/2).

    Upper triangles by columns, with off-diagonal entries times √2, so that inner products are kept.
    """
    columns, rows = np.tril_indices(matrices.shape[-1])
    found: np.ndarray = matrices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2))
    return found


def symmetric(entries: np.ndarray, n: int) -> np.ndarray:
    """The symmetric (n, n) matrix of such a vector."""
    columns, rows = np.tril_indices(n)
    matrix = np.zeros((n, n))
    matrix[rows, columns] = matrix[columns, rows] = entries * np.where(rows == columns, 1.0, np.sqrt(0.5))
    return matrix


def units(program: Program) -> Units:
    """Units of the basic vectors and of the values in which the forms' entries have similar size.

    For a curvature of 10⁶, gradients are that much longer than points; without scaling the solver fails.
    """
    blocks, of_values = program.floats
    vectors = [np.ones(size) for size in program.sizes]
    value_units = np.ones(len(program.values))
    for _ in range(2):  # twice, since new units change the norms that they come from
        scaled = [np.abs(m) * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
        values = np.abs(of_values) * value_units
        parts = [m.max(axis=(1, 2)) for m in scaled] + ([values.max(1)] if values.size else [])
        norms = np.max(parts, 0)
        norms[norms == 0] = 1.0
        for vector, m in zip(vectors, scaled, strict=True):
            vector /= np.sqrt((m / norms[:, None, None]).max(axis=(0, 1)))
        if values.size:
            value_units /= (values / norms[:, None]).max(0)
    return vectors, value_units, program.sizes
