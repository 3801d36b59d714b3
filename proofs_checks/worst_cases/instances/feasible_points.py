"""The attained end without a federation: exact inner products and values that satisfy every inequality of the class.

By interpolation (see `classes`) they belong to functions of the class, on which the method does what they say. They
come from the proposal, moved a little towards inner products that satisfy everything strictly, and rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.search import is_positive_semidefinite, nearest
from fedconvex.proofs_checks.worst_cases.programs.program import Matrix, Program
from fedconvex.proofs_checks.worst_cases.programs.refinement import Polished
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, conic, full, triangles, units
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import ZERO


@final
@dataclass(frozen=True, eq=False)
class Feasible:
    """Gram matrices of each part, and function values; checked exactly when made."""

    program: Program
    grams: tuple[Matrix, ...]
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        forms = [self.at(place + 2) for place in range(len(self.program.inequalities))]
        if any(form < 0 for form in forms) or not all(map(is_positive_semidefinite, self.grams)) or self.at(0) <= 0:
            raise ValueError("these are no functions of the class")

    def at(self, place: int) -> Any:
        """The value of one of the program's forms."""
        form, matrices = self.program.forms[place], self.program.matrices[place]
        total = sum(
            (entry * gram[i][j] * (1 if i == j else 2) for matrix, gram in zip(matrices, self.grams, strict=True)
             for (i, j), entry in matrix.items()),
            ZERO,
        )  # fmt: skip
        named = zip(self.program.values, self.values, strict=True)
        return total + sum((form.values.get(name, ZERO) * value for name, value in named), ZERO)

    @property
    def metric(self) -> Fraction:
        """The metric divided by what it is measured in: at most the worst."""
        return to_fraction(-self.at(1) / self.at(0))


def feasible(program: Program, proposal: Proposal, near: Sequence[Polished] = ()) -> Feasible | None:
    """Exact inner products near the proposal's; None where none are found.

    Where the worst instance is rational, it can be read off the polished numbers.
    """
    for found in near:
        for largest in (10**4, 10**8, 10**12):
            exact = [(_rationals(W, largest), _rationals(M, largest)) for W, M in found.parts]
            made = _checked(program, [W @ M @ W.T for W, M in exact], [nearest(v, largest) for v in found.values])
            if made is not None:
                return made
    inside = _inside(program)
    if inside is None or not all(np.isfinite(part).all() for part in (*proposal.grams, proposal.values)):
        return None
    *room, heights = (_exactly(part) for part in inside)
    rough = [_exactly(part) for part in proposal.grams], _exactly(proposal.values), range(-11, -2)
    polished = [([W @ M @ W.T for W, M in found.parts], np.array(found.values, dtype=object), range(-35, -10, 4))
                for found in near]  # fmt: skip
    for grams, values, exponents in (*polished, rough):
        for exponent in exponents:
            share = fmpq(1, 10**-exponent)
            mixed = [gram + (other - gram) * share for gram, other in zip(grams, room, strict=True)]
            made = _checked(program, mixed, list(values + (heights - values) * share))
            if made is not None:
                return made
    return None


def _checked(program: Program, grams: Sequence[np.ndarray], values: Sequence[Any]) -> Feasible | None:
    try:
        return Feasible(program, tuple(gram.tolist() for gram in grams), tuple(values))
    except ValueError:
        return None


def _inside(program: Program) -> tuple[np.ndarray, ...] | None:
    """Gram matrices and values that satisfy all with room to spare, in units in which the inequalities are alike."""
    import clarabel

    (blocks, of_values), (vectors, heights, _) = program.floats, units(program)
    scaled = [m * np.multiply.outer(v, v) for m, v in zip(blocks, vectors, strict=True)]
    lines = np.column_stack([*(triangles(m) for m in scaled), of_values * heights])
    lines /= np.maximum(np.abs(lines).max(1, keepdims=True), np.finfo(float).tiny)
    count, others = lines.shape[1], len(lines) - 2
    room = np.concatenate([[0.0], np.ones(others)])  # N <= 1, I_i >= room
    parts = [np.column_stack([np.vstack([lines[0], -lines[2:]]), room])]
    right = [np.concatenate([[1.0], np.zeros(others)])]
    cones: list[Any] = [clarabel.NonnegativeConeT(1 + others)]
    place = 0
    for size in program.sizes:
        length = size * (size + 1) // 2
        part = np.zeros((length, count + 1))
        part[:, place : place + length] = -np.eye(length)
        part[:, -1] = triangles(np.eye(size)[None])[0]
        parts.append(part)
        right.append(np.zeros(length))
        cones.append(clarabel.PSDTriangleConeT(size))
        place += length
    least = np.zeros(count + 1)
    least[-1] = 1.0
    x, _, _ = conic(np.vstack([*parts, least]), np.concatenate([*right, [1.0]]),
                    [*cones, clarabel.NonnegativeConeT(1)], -least)  # fmt: skip
    if not np.isfinite(x).all() or x[-1] <= 0:
        return None
    found, place = [], 0
    for size, vector in zip(program.sizes, vectors, strict=True):
        length = size * (size + 1) // 2
        found.append(full(x[place : place + length], size) * np.multiply.outer(vector, vector))
        place += length
    return (*found, x[place:-1] * heights)


def _exactly(array: np.ndarray) -> np.ndarray:
    """The dyadic rationals that the floats are; matrices become symmetric."""
    array = (array + array.T) / 2
    found = np.empty(array.shape, dtype=object)
    found.ravel()[:] = [to_fmpq(float(x)) for x in array.ravel()]
    return found


def _rationals(matrix: np.ndarray, largest: int) -> np.ndarray:
    found = np.empty(matrix.shape, dtype=object)
    found.ravel()[:] = [nearest(x, largest) for x in matrix.ravel()]
    return found
