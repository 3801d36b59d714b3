"""What counts as a proof of an upper bound. Of the search for bounds, only this module has to be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.programs.program import Matrix, Program
from fedconvex.shown import on_screen

LARGE = 12  # rows of a matrix from which on ball arithmetic is faster than elimination in rationals


@final
@dataclass(frozen=True, eq=False)
class DualCertificate:
    """Multipliers λ that prove metric <= t·N: t·N + C − Σ λ_i I_i is positive semidefinite, checked exactly when made.

    Args:
        program: N, C and the inequalities I_i >= 0.
        t: exact, like the multipliers; both become fractions.
        multipliers: λ >= 0, one for every inequality.

    Raises:
        ValueError: these numbers are no proof.
    """

    program: Program
    t: Fraction
    multipliers: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        # flint's rationals, in which the check is ten times as fast as in Fractions.
        if not is_proof(self.program, to_fmpq(self.t), [to_fmpq(m) for m in self.multipliers]):
            raise ValueError("this is no proof")
        object.__setattr__(self, "t", to_fraction(self.t))
        object.__setattr__(self, "multipliers", tuple(map(to_fraction, self.multipliers)))

    def __str__(self) -> str:
        lines = (f"  {multiplier} · ({name})" for name, multiplier in self.used.items())
        return on_screen("\n".join([f"proof of the factor {self.t} by the inequalities", *lines]))

    @property
    def used(self) -> dict[str, Fraction]:
        """The multipliers that are not 0, by the inequalities' names."""
        pairs = zip(self.program.inequalities, self.multipliers, strict=True)
        return {name: multiplier for (name, _), multiplier in pairs if multiplier}


def is_proof(program: Program, t: Any, multipliers: Sequence[Any]) -> bool:
    """Whether λ >= 0, all function values cancel in t·N + C − Σ λ_i I_i, and the form is positive semidefinite."""
    if len(multipliers) != len(program.inequalities) or any(multiplier < 0 for multiplier in multipliers):
        return False
    blocks, values = program.remainder(t, multipliers)
    # Function values have any sign and size, so that only coefficients 0 prove anything.
    return not any(values) and all(map(is_positive_semidefinite, blocks))


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Whether a symmetric rational matrix is positive semidefinite, exactly.

    By elimination: every pivot is positive, or 0 with a zero row and column.
    """
    if len(matrix) > LARGE:
        from fedconvex.arithmetic.definiteness import is_positive_semidefinite as decided

        return decided(np.asarray(matrix, dtype=object))
    rest = [list(row) for row in matrix]
    while rest:
        pivot, *row = rest[0]
        # A pivot 0 beside an entry that is not 0 is part of a 2 × 2 minor that is negative.
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        rest = [
            [entry - row[i] * row[j] / pivot if row[i] and row[j] else entry for j, entry in enumerate(other[1:])]
            for i, other in enumerate(rest[1:])
        ]
    return True
