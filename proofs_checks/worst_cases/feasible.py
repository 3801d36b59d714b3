"""The attained end without a federation: exact inner products and values that satisfy every inequality of the class.

By interpolation (see `classes`) they belong to functions of the class, on which the method does what they say. They
come from the proposal, moved a little towards inner products that satisfy everything strictly, and rounded.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.proofs_checks.worst_cases.certifying import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.programs import Matrix, Program, Proposal, full, triangle

BITS = 70


@final
@dataclass(frozen=True, eq=False)
class Feasible:
    """Gram matrices of each part, and function values; checked exactly when made."""

    program: Program
    grams: tuple[Matrix, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        forms = [self.at(place + 2) for place in range(len(self.program.inequalities))]
        if any(form < 0 for form in forms) or not all(map(is_positive_semidefinite, self.grams)) or self.at(0) <= 0:
            raise ValueError("these are no functions of the class")

    def at(self, place: int) -> Fraction:
        """The value of one of the program's forms."""
        form, matrices = self.program.forms[place], self.program.matrices[place]
        total = sum(
            (m[i][j] * gram[i][j] for m, gram in zip(matrices, self.grams, strict=True)
             for i in range(len(gram)) for j in range(len(gram)) if m[i][j]),
            Fraction(0),
        )  # fmt: skip
        named = zip(self.program.values, self.values, strict=True)
        return total + sum((form.values.get(name, Fraction(0)) * value for name, value in named), Fraction(0))

    @property
    def metric(self) -> Fraction:
        """The metric divided by what it is measured in: at most the worst."""
        return -self.at(1) / self.at(0)


def feasible(program: Program, proposal: Proposal) -> Feasible | None:
    """Exact inner products near the proposal's; None where none are found."""
    inside = _inside(program)
    outside = (*proposal.grams, proposal.values)
    if inside is None or not all(np.isfinite(part).all() for part in outside):
        return None
    for exponent in range(-11, -2):
        share = 10.0**exponent
        mixed = [(1 - share) * a + share * b for a, b in zip(outside, inside, strict=True)]
        grams = tuple(_rational_matrix(gram) for gram in mixed[:-1])
        try:
            return Feasible(program, grams, tuple(_rational(v) for v in mixed[-1]))
        except ValueError:
            continue
    return None


def _inside(program: Program) -> tuple[np.ndarray, ...] | None:
    """Gram matrices and values that satisfy all with room to spare."""
    import clarabel
    from scipy import sparse

    sizes = [len(seen) for seen in program.seen]
    lines = [_line(program, place) for place in range(len(program.forms))]
    count = len(lines[0])
    rows: list[Any] = [[*lines[0], 0.0]]  # N <= 1
    b = [1.0]
    rows += [[*(-line), 1.0] for line in lines[2:]]  # I_i >= room
    b += [0.0] * (len(lines) - 2)
    cones = [clarabel.NonnegativeConeT(len(rows))]
    place = 0
    for size in sizes:
        length = size * (size + 1) // 2
        for k, entry in enumerate(triangle(np.eye(size))):
            row = np.zeros(count + 1)
            row[place + k] = -1.0
            row[-1] = entry
            rows.append(list(row))
            b.append(0.0)
        cones.append(clarabel.PSDTriangleConeT(size))
        place += length
    rows.append([*np.zeros(count), 1.0])
    b.append(1.0)
    cones.append(clarabel.NonnegativeConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    objective = np.zeros(count + 1)
    objective[-1] = -1.0
    A = sparse.csc_matrix(np.array(rows))
    P = sparse.csc_matrix((count + 1, count + 1))
    x = np.array(clarabel.DefaultSolver(P, objective, A, np.array(b), cones, settings).solve().x)
    if not np.isfinite(x).all() or x[-1] <= 0:
        return None
    found, place = [], 0
    for size in sizes:
        length = size * (size + 1) // 2
        found.append(full(x[place : place + length], size))
        place += length
    return (*found, x[place:-1])


def _line(program: Program, place: int) -> np.ndarray:
    """A form as a row over the matrices' triangles and the values."""
    parts = [triangle(np.array(matrix, dtype=float)) for matrix in program.matrices[place]]
    values = [float(program.forms[place].values.get(name, 0)) for name in program.values]
    return np.array([entry for part in (*parts, values) for entry in part])


def _rational(x: float) -> Fraction:
    return Fraction(round(float(x) * 2**BITS), 2**BITS)


def _rational_matrix(matrix: np.ndarray) -> Matrix:
    n = len(matrix)
    return [[_rational((matrix[i, j] + matrix[j, i]) / 2) for j in range(n)] for i in range(n)]
