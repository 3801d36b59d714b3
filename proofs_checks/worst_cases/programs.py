"""The semidefinite program behind a worst case, and its solution in floating point: a proposal, never an answer.

    find the least t such that  t·N + C = Σ_i λ_i I_i + (a quadratic form that is not negative),  λ >= 0,

where N is what the metric is measured in, C the metric's negative, and I_i the inequalities that hold. A solution is a
proof of metric <= t·N, for any vectors and functions. (For the least decrease, t is minus the decrease.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.worst_cases.forms import Form, Key

Matrix = list[list[Fraction]]


@final
@dataclass(frozen=True, eq=False)
class Program:
    """`measure` is N, `constant` is C; `inequalities` have names."""

    measure: Form
    constant: Form
    inequalities: tuple[tuple[str, Form], ...]

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """N, C, and the inequalities."""
        return (self.measure, self.constant, *(form for _, form in self.inequalities))

    @cached_property
    def blocks(self) -> tuple[tuple[Key, ...], ...]:
        """The basic vectors of each of the orthogonal parts."""
        keys = sorted({key for form in self.forms for pair in form.products for key in pair})
        parts = dict.fromkeys(part for part, _ in keys)
        return tuple(tuple(key for key in keys if key[0] == part) for part in parts)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The names of function values."""
        return tuple(sorted({name for form in self.forms for name in form.values}))

    @cached_property
    def matrices(self) -> tuple[tuple[Matrix, ...], ...]:
        """Of every form, its symmetric matrix in every block, without directions that no form sees."""
        return tuple(
            tuple(_restricted(_matrix(form, block), seen) for block, seen in zip(self.blocks, self.seen, strict=True))
            for form in self.forms
        )

    @cached_property
    def seen(self) -> tuple[tuple[int, ...], ...]:
        """In every block basic vectors that suffice: M = Bᵀ M[p, p] B for all forms, B reduced, with pivots p."""
        return tuple(_pivots([row for form in self.forms for row in _matrix(form, block)]) for block in self.blocks)

    def remainder(self, t: Fraction, multipliers: Sequence[Fraction]) -> tuple[list[Matrix], list[Fraction]]:
        """t·N + C − Σ λ_i I_i, exactly: its matrices, and the coefficients of the function values."""
        weights = (t, Fraction(1), *(-multiplier for multiplier in multipliers))
        blocks = [
            [
                [sum((w * m[b][i][j] for w, m in zip(weights, self.matrices, strict=True) if w), Fraction(0))
                 for j in range(len(seen))]
                for i in range(len(seen))
            ]
            for b, seen in enumerate(self.seen)
        ]  # fmt: skip
        values = [
            sum(
                (w * form.values.get(name, Fraction(0)) for w, form in zip(weights, self.forms, strict=True)),
                Fraction(0),
            )
            for name in self.values
        ]
        return blocks, values


def _matrix(form: Form, block: tuple[Key, ...]) -> Matrix:
    def entry(a: Key, b: Key) -> Fraction:
        coefficient = form.products.get((a, b) if a <= b else (b, a), Fraction(0))
        return coefficient if a == b else coefficient / 2

    return [[entry(a, b) for b in block] for a in block]


def _restricted(matrix: Matrix, places: tuple[int, ...]) -> Matrix:
    return [[matrix[i][j] for j in places] for i in places]


def _pivots(rows: list[list[Fraction]]) -> tuple[int, ...]:
    """The pivot columns of the rows' reduced echelon form."""
    echelon: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        for place, known in echelon:
            if row[place]:
                factor = row[place]
                row = [a - factor * b for a, b in zip(row, known, strict=True)]
        first = next((i for i, entry in enumerate(row) if entry), None)
        if first is not None:
            scaled = [entry / row[first] for entry in row]
            echelon = [(p, [a - k[first] * b for a, b in zip(k, scaled, strict=True)]) for p, k in echelon]
            echelon.append((first, scaled))
    return tuple(sorted(place for place, _ in echelon))


@final
@dataclass(frozen=True, eq=False)
class Proposal:
    """What the solver gave: t, the multipliers, and the Gram matrices of an instance that is nearly the worst."""

    t: float
    multipliers: np.ndarray
    grams: tuple[np.ndarray, ...]
    values: np.ndarray
    status: str


def propose(program: Program, fixed: float | None = None) -> Proposal:
    """Solves the program in floating point.

    With t `fixed`, the quadratic form is made as positive as possible instead: what is the smallest eigenvalue of its
    matrices is then returned in the place of t.
    """
    import clarabel
    from scipy import sparse

    rows: list[Any] = []
    b: list[Any] = []
    cones = []
    count = len(program.inequalities)
    for name in program.values:
        of_measure, of_constant, *of_others = (float(form.values.get(name, 0)) for form in program.forms)
        rows.append([-of_measure if fixed is None else 0.0, *of_others])
        b.append(of_constant + (0 if fixed is None else fixed * of_measure))
    if program.values:
        cones.append(clarabel.ZeroConeT(len(program.values)))
    rows += [[0.0, *(-1.0 if i == j else 0.0 for j in range(count))] for i in range(count)]
    b += [0.0] * count
    cones.append(clarabel.NonnegativeConeT(count))
    for index, seen in enumerate(program.seen):
        measure, constant, *others = (triangle(np.array(m[index], dtype=float)) for m in program.matrices)
        first = -measure if fixed is None else triangle(np.eye(len(seen)))
        rows += list(np.column_stack([first, *others]))
        b += list(constant if fixed is None else constant + fixed * measure)
        cones.append(clarabel.PSDTriangleConeT(len(seen)))
    objective = np.zeros(1 + count)
    objective[0] = 1.0 if fixed is None else -1.0
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    A = sparse.csc_matrix(np.array(rows, dtype=float))
    P = sparse.csc_matrix((1 + count, 1 + count))
    solution = clarabel.DefaultSolver(P, objective, A, np.array(b, dtype=float), cones, settings).solve()
    x, z = np.array(solution.x), np.array(solution.z)
    place = len(program.values) + count
    grams = []
    for seen in program.seen:
        size = len(seen) * (len(seen) + 1) // 2
        grams.append(full(z[place : place + size], len(seen)))
        place += size
    return Proposal(float(x[0]), x[1:], tuple(grams), z[: len(program.values)], str(solution.status))


def triangle(matrix: np.ndarray) -> np.ndarray:
    """The upper triangle by columns, entries off the diagonal times √2."""
    n = len(matrix)
    return np.array([matrix[i, j] * (1 if i == j else np.sqrt(2)) for j in range(n) for i in range(j + 1)])


def full(entries: np.ndarray, n: int) -> np.ndarray:
    """The symmetric matrix of such a triangle."""
    matrix = np.zeros((n, n))
    places = [(i, j) for j in range(n) for i in range(j + 1)]
    for (i, j), entry in zip(places, entries, strict=True):
        matrix[i, j] = matrix[j, i] = entry if i == j else entry / np.sqrt(2)
    return matrix
