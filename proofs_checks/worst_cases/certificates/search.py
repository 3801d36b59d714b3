"""From a proposal in floating point to a proof: rational multipliers, an exact identity, exact positivity."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any, final

import numpy as np
from flint import fmpq, fmpq_mat

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.programs.program import Matrix, Program
from fedconvex.proofs_checks.worst_cases.programs.refinement import Polished, polish
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import ONE, ZERO

DENOMINATORS = (12, 1000, 10**6)
CLOSE = 1e-6  # how near to a proposal simple fractions are tried
SAME = 1e-30  # how well a rational must agree with polished digits
LARGE = 12  # rows of matrices for which balls are tried before elimination

Vectors = Sequence[Sequence[Any]]  # one vector for every block


@final
@dataclass(frozen=True, eq=False)
class Certified:
    """A proof of metric <= t·N: t·N + C − Σ λ_i I_i is a quadratic form that is not negative, exactly."""

    program: Program
    t: Fraction
    multipliers: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not holds(self.program, to_fmpq(self.t), [to_fmpq(m) for m in self.multipliers]):
            raise ValueError("this is no proof")

    @property
    def used(self) -> dict[str, Fraction]:
        """The multipliers that are not 0, with the inequalities' names."""
        pairs = zip(self.program.inequalities, self.multipliers, strict=True)
        return {name: multiplier for (name, _), multiplier in pairs if multiplier}


def certify(program: Program, proposal: Proposal) -> tuple[Certified | None, list[Polished]]:
    """A proof whose t is the proposal's, or little more; None where none is found. And the proposal polished."""
    if not proposal.is_solved:
        return None, []
    near = list(polish(program, proposal))
    ways = (_simple(program, proposal), _polished(program, proposal, near), _from_inside(program, proposal))
    return _first(program, chain(*ways)), near


def certify_read_off(program: Program, proposal: Proposal) -> Certified | None:
    """A proof of the proposal's t as a rational number, where it is one; None where many digits do not show that."""
    return _first(program, _read_off(program, polish(program, proposal))) if proposal.is_solved else None


def forced(program: Program, t: Fraction, worst: Iterable[Vectors]) -> Certified | None:
    """A proof of this t whose multipliers follow from what must vanish on some instances, without a solver."""
    ones = [ONE] * len(program.inequalities)
    found = balanced(program, to_fmpq(t), ones, worst)
    return None if found is None else _first(program, iter([(to_fmpq(t), found)]))


def certify_exactly(program: Program, proposal: Proposal, t: Fraction, worst: Sequence[Vectors]) -> Certified | None:
    """A proof of exactly this t, which some instances attain; None where none is found.

    On the vectors of a worst instance the quadratic form vanishes, and where it does not, so do the multipliers: that
    is a system of linear equations for the multipliers, from which rational ones are found, of any size.
    """
    if not proposal.is_solved or abs(float(t) - proposal.t) > CLOSE * max(1.0, abs(proposal.t)):
        return None
    largest = max(proposal.multipliers, default=0.0)
    tried: list[list[Any]] = []
    for least in (1e-7, 1e-5, 1e-3):
        numbers = [nearest(float(x), 10**6) if x > least * largest else ZERO for x in proposal.multipliers]
        if numbers not in tried:
            tried.append(numbers)
    exact = to_fmpq(t)
    adjusted = (balanced(program, exact, numbers, worst) for numbers in tried)
    return _first(program, ((exact, found) for found in adjusted if found is not None))


def _first(program: Program, candidates: Iterator[tuple[Any, list[Any]]]) -> Certified | None:
    for t, multipliers in candidates:
        if all(multiplier >= 0 for multiplier in multipliers):
            try:
                return Certified(program, to_fraction(t), tuple(map(to_fraction, multipliers)))
            except ValueError:
                continue
    return None


def holds(program: Program, t: Any, multipliers: Sequence[Any]) -> bool:
    """Whether these numbers are a proof."""
    if len(multipliers) != len(program.inequalities) or any(multiplier < 0 for multiplier in multipliers):
        return False
    blocks, values = program.remainder(t, multipliers)
    return not any(values) and all(map(is_positive_semidefinite, blocks))


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Exactly, by elimination: a pivot is positive, or its row and column vanish."""
    if len(matrix) > LARGE:
        from fedconvex.arithmetic.definiteness import is_positive_semidefinite as decided

        return decided(np.array(matrix, dtype=object))
    rest = [list(row) for row in matrix]
    while rest:
        pivot, *row = rest[0]
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        rest = [
            [entry - row[i] * row[j] / pivot if row[i] and row[j] else entry for j, entry in enumerate(other[1:])]
            for i, other in enumerate(rest[1:])
        ]
    return True


def _simple(program: Program, proposal: Proposal) -> Iterator[tuple[Any, list[Any]]]:
    """Numbers with small denominators near the proposal: often it is one of them that is meant."""
    floats = (proposal.t, *map(float, proposal.multipliers))
    for largest in DENOMINATORS:
        numbers = [nearest(x, largest) for x in floats]
        if all(abs(float(n) - x) <= CLOSE * max(1, abs(x)) for n, x in zip(numbers, floats, strict=True)):
            t, *multipliers = numbers
            adjusted = balanced(program, t, multipliers)
            if adjusted is not None:
                yield t, adjusted


def _from_inside(program: Program, proposal: Proposal) -> Iterator[tuple[Any, list[Any]]]:
    """The proposal, moved a little towards room."""
    multipliers = [to_fmpq(max(float(x), 0.0)) for x in proposal.multipliers]
    yield from _towards(program, proposal.t, to_fmpq(proposal.t), multipliers, range(-13, 0))


def _towards(
    program: Program, rough: float, t: Any, multipliers: Sequence[Any], exponents: range
) -> Iterator[tuple[Any, list[Any]]]:
    """On the way to multipliers that prove something larger than `rough`, with room to spare."""
    for more in (abs(rough), 1e-2, 1.0, 1e2):
        larger = rough + more
        inside = propose(program, fixed=larger)
        if not inside.is_solved or inside.t <= 0:
            continue
        there = [to_fmpq(float(x)) for x in inside.multipliers]
        for exponent in exponents:
            share = fmpq(1, 10**-exponent)
            mixed = [m + share * (other - m) for m, other in zip(multipliers, there, strict=True)]
            further = t + share * (to_fmpq(larger) - t)
            adjusted = balanced(program, further, mixed)
            if adjusted is not None:
                yield further, adjusted


def _polished(program: Program, proposal: Proposal, near: list[Polished]) -> Iterator[tuple[Any, list[Any]]]:
    """Rationals that agree with many digits; or those digits, moved a very little towards room."""
    yield from _read_off(program, near)
    if near:
        yield from _towards(program, proposal.t, near[0].t, near[0].multipliers, range(-35, -9, 5))


def _read_off(program: Program, near: Iterable[Polished]) -> Iterator[tuple[Any, list[Any]]]:
    """Rationals that agree with many digits."""
    for found in near:
        for largest in (10**4, 10**8, 10**12):
            t, *multipliers = (nearest(x, largest) for x in (found.t, *found.multipliers))
            if abs(float(t - found.t)) < SAME * abs(float(t)):
                adjusted = balanced(program, t, multipliers)
                if adjusted is not None:
                    yield t, adjusted


def balanced(program: Program, t: Any, multipliers: Sequence[Any], worst: Iterable[Vectors] = ()) -> list[Any] | None:
    """Multipliers next to these with which the function values cancel exactly: the largest ones are changed.

    On the vectors of `worst`, the quadratic form vanishes, too: on as many of them as it takes to tell all multipliers.
    None where that is impossible.
    """
    order = sorted((i for i, m in enumerate(multipliers) if m), key=lambda i: -multipliers[i])
    weights, width = [multipliers[i] for i in order], len(order) + 1
    places = (0, 1, *(i + 2 for i in order))
    table: list[Any] = []
    reduced, rank = fmpq_mat(0, width), 0
    for vectors in chain((None,), worst):
        for N, C, *row in zip(*(_seen(program, place, vectors) for place in places), strict=True):
            table += [*row, t * N + C - sum(map(mul, weights, row), ZERO)]
        reduced, rank = fmpq_mat(len(table) // width, width, table).rref()
        if rank >= len(order):
            break
    adjusted = list(multipliers)
    for place in range(rank):
        first = next(j for j in range(width) if reduced[place, j] != 0)
        if first == len(order):
            return None  # 0 = 1
        adjusted[order[first]] += reduced[place, len(order)]
    return adjusted


def _seen(program: Program, place: int, vectors: Vectors | None) -> list[Any]:
    """The coefficients of a form's values; or, with vectors, its matrices times these."""
    if vectors is None:
        values = program.forms[place].values
        return [values.get(name, ZERO) for name in program.values]
    found = []
    for vector, matrix in zip(vectors, program.matrices[place], strict=True):
        if any(vector):
            image = [ZERO] * len(vector)
            for (i, j), entry in matrix.items():
                image[i] += entry * vector[j]
                if i != j:
                    image[j] += entry * vector[i]
            found += image
    return found


def nearest(x: Any, largest: int) -> Any:
    """The nearest rational whose denominator is not larger."""
    return to_fmpq(to_fraction(x).limit_denominator(largest))
