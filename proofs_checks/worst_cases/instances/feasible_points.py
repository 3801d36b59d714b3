"""A lower bound without quadratics: exact Gram matrices and values that satisfy every inequality of the class.

By interpolation (see `function_classes`) they belong to functions of the class, on which the method has the metric that
they give. They come from a floating-point solution, moved a little towards a strictly feasible point, and rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from flint import fmpq

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.certificate import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.certificates.search import LONG_DENOMINATORS, nearest
from fedconvex.proofs_checks.worst_cases.programs.program import Matrix, Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ZERO
from fedconvex.proofs_checks.worst_cases.programs.refinement import RefinedSolution
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, strictly_feasible


@final
@dataclass(frozen=True, eq=False)
class FeasiblePoint:
    """Gram matrices of the blocks, and function values: feasible for the program, checked exactly when made.

    Raises ValueError where they are not, or where the divisor is not positive.
    """

    program: Program
    grams: tuple[Matrix, ...]
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        forms = [self.at(place + 2) for place in range(len(self.program.inequalities))]
        # With a divisor 0 the ratio would mean nothing.
        if any(form < 0 for form in forms) or not all(map(is_positive_semidefinite, self.grams)) or self.at(0) <= 0:
            raise ValueError("these are no functions of the class")

    def at(self, place: int) -> Any:
        """The value of one of the program's forms, by its place."""
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
        """The metric divided by its divisor: a lower bound on the worst case."""
        return to_fraction(-self.at(1) / self.at(0))


def feasible_point(
    program: Program, proposal: Proposal, refined: Sequence[RefinedSolution] = (), interior: bool = True
) -> FeasiblePoint | None:
    """An exact feasible point near the proposal; None where none is found.

    `interior`: whether a point of the interior, to mix with, is worth a program that finds it.

    Where the worst instance is rational, it is read off the refined solutions, and its metric is the worst case.
    """
    for found in refined:
        for largest in LONG_DENOMINATORS:
            # W M Wᵀ keeps the rank of the worst instance, which rounding its entries would not.
            exact = [(_rationals(W, largest), _rationals(M, largest)) for W, M in found.parts]
            made = _checked(program, [W @ M @ W.T for W, M in exact], [nearest(v, largest) for v in found.values])
            if made is not None:
                return made
    inside = strictly_feasible(program) if interior else None
    if inside is None or not all(np.isfinite(part).all() for part in (*proposal.grams, proposal.values)):
        return None
    *inner_grams, inner_values = (_exact(part) for part in inside)
    rough = [_exact(part) for part in proposal.grams], _exact(proposal.values), range(-11, -2)
    precise = [([W @ M @ W.T for W, M in found.parts], np.asarray(found.values, dtype=object), range(-35, -10, 4))
               for found in refined]  # fmt: skip
    for grams, values, exponents in (*precise, rough):
        for exponent in exponents:  # the smallest move towards the interior that satisfies everything
            share = fmpq(1, 10**-exponent)
            mixed = [gram + (other - gram) * share for gram, other in zip(grams, inner_grams, strict=True)]
            made = _checked(program, mixed, list(values + (inner_values - values) * share))
            if made is not None:
                return made
    return None


def _checked(program: Program, grams: Sequence[np.ndarray], values: Sequence[Any]) -> FeasiblePoint | None:
    try:
        return FeasiblePoint(program, tuple(gram.tolist() for gram in grams), tuple(values))
    except ValueError:
        return None


def _exact(array: np.ndarray) -> np.ndarray:
    """The rational numbers that the floats are, with matrices made symmetric."""
    array = (array + array.T) / 2
    found = np.empty(array.shape, dtype=object)
    found.ravel()[:] = [to_fmpq(float(x)) for x in array.ravel()]
    return found


def _rationals(matrix: np.ndarray, largest: int) -> np.ndarray:
    """The nearest rationals with denominators up to `largest`."""
    found = np.empty(matrix.shape, dtype=object)
    found.ravel()[:] = [nearest(x, largest) for x in matrix.ravel()]
    return found
