"""From a proposal in floating point to a proof: rational multipliers, an exact identity, exact positivity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import final

from fedconvex.proofs_checks.worst_cases.programs import Matrix, Program, Proposal, propose

DENOMINATORS = (12, 1000, 10**6)
CLOSE = 1e-6  # how near to a proposal simple fractions are tried
BITS = 60  # of the multipliers, where no simple ones are right


@final
@dataclass(frozen=True, eq=False)
class Certified:
    """A proof of metric <= t·N: t·N + C − Σ λ_i I_i is a quadratic form that is not negative, exactly."""

    program: Program
    t: Fraction
    multipliers: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not holds(self.program, self.t, self.multipliers):
            raise ValueError("this is no proof")


def certify(program: Program, proposal: Proposal) -> Certified | None:
    """A proof whose t is the proposal's, or little more; None where none is found."""
    if not isfinite(proposal.t) or "Solved" not in proposal.status:
        return None
    for t, multipliers in (*_simple(program, proposal), *_from_inside(program, proposal)):
        if holds(program, t, multipliers):
            return Certified(program, t, tuple(multipliers))
    return None


def holds(program: Program, t: Fraction, multipliers: Sequence[Fraction]) -> bool:
    """Whether these numbers are a proof."""
    if any(multiplier < 0 for multiplier in multipliers):
        return False
    blocks, values = program.remainder(t, multipliers)
    return not any(values) and all(map(is_positive_semidefinite, blocks))


def is_positive_semidefinite(matrix: Matrix) -> bool:
    """Exactly, by elimination: a pivot is positive, or its row and column vanish."""
    rest = [list(row) for row in matrix]
    while rest:
        pivot, *row = rest[0]
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        rest = [
            [entry - (row[i] * row[j] / pivot if pivot else 0) for j, entry in enumerate(other[1:])]
            for i, other in enumerate(rest[1:])
        ]
    return True


def _simple(program: Program, proposal: Proposal) -> Iterator[tuple[Fraction, list[Fraction]]]:
    """Numbers with small denominators near the proposal: often it is one of them that is meant."""
    for largest in DENOMINATORS:
        numbers = [Fraction(x).limit_denominator(largest) for x in (proposal.t, *proposal.multipliers)]
        floats = (proposal.t, *proposal.multipliers)
        if all(abs(n - x) <= CLOSE * max(1, abs(x)) for n, x in zip(numbers, floats, strict=True)):
            t, *multipliers = numbers
            adjusted = balanced(program, t, multipliers)
            if adjusted is not None:
                yield t, adjusted


def _from_inside(program: Program, proposal: Proposal) -> Iterator[tuple[Fraction, list[Fraction]]]:
    """A little above t there is room around the multipliers, in which they can be rounded."""
    for exponent in range(-10, -1):
        t = Fraction(proposal.t) + abs(Fraction(proposal.t)) * Fraction(10) ** exponent
        found = propose(program, fixed=float(t))
        if found.t > 0:
            rounded = [max(Fraction(round(x * 2**BITS), 2**BITS), Fraction(0)) for x in found.multipliers]
            adjusted = balanced(program, t, rounded)
            if adjusted is not None:
                yield t, adjusted


def balanced(program: Program, t: Fraction, multipliers: Sequence[Fraction]) -> list[Fraction] | None:
    """Multipliers next to these with which the function values cancel exactly: the largest ones are changed."""
    adjusted = list(multipliers)
    order = sorted(range(len(adjusted)), key=lambda i: -adjusted[i])
    columns = {i: [form.values.get(name, Fraction(0)) for name in program.values]
               for i, (_, form) in enumerate(program.inequalities)}  # fmt: skip
    free: list[int] = []
    echelon: list[tuple[int, list[Fraction]]] = []
    for i in order:  # those whose values' coefficients are independent
        column = list(columns[i])
        for place, known in echelon:
            if column[place]:
                factor = column[place] / known[place]
                column = [a - factor * b for a, b in zip(column, known, strict=True)]
        first = next((k for k, entry in enumerate(column) if entry), None)
        if first is not None:
            echelon.append((first, column))
            free.append(i)
    _, missing = program.remainder(t, adjusted)
    changes = _solved([columns[i] for i in free], missing)
    if changes is None:
        return None
    for i, change in zip(free, changes, strict=True):
        adjusted[i] += change
    return adjusted


def _solved(columns: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """x with Σ x_i column_i = right, the columns being independent; None where there is none."""
    rows = [[column[k] for column in columns] + [right[k]] for k in range(len(right))]
    count, done = len(columns), 0
    for i in range(count):
        place = next((k for k in range(done, len(rows)) if rows[k][i]), None)
        if place is None:
            return None
        rows[done], rows[place] = rows[place], rows[done]
        rows[done] = [entry / rows[done][i] for entry in rows[done]]
        for k in range(len(rows)):
            if k != done and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[done], strict=True)]
        done += 1
    return None if any(row[-1] for row in rows[done:]) else [rows[i][-1] for i in range(count)]
