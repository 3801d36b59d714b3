"""Multipliers as functions of the parameters, where only their values at samples are known.

Function values must cancel, which gives linear equations. Further equations settle what they leave open: an entry
or a minor of the remaining quadratic form vanishes, or a multiplier is a product of powers of the factors that occur,
or a small rational multiple of a quotient of the claim's and the inequality's coefficients. An equation is tried if the
program stays feasible with it at all samples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from operator import itemgetter
from typing import Any, final

import numpy as np
from flint import fmpz_mpoly, fmpz_mpoly_ctx

from fedconvex.arithmetic.linear_systems import System
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity
from fedconvex.proofs_checks.search.forms import Unknowns, in_case
from fedconvex.proofs_checks.search.programs import MultiplierProgram
from fedconvex.proofs_checks.search.samples import samples, symbol_values
from fedconvex.proofs_checks.search.scalars import by_powers, common_denominator, factors, float_at, power, quotient

Row = tuple[Scalar, ...]  # the coefficients of the unknowns, and the right side
RATIOS = [Fraction(a, b) for a, b in ((1, 1), (2, 1), (1, 2), (4, 1), (3, 1), (1, 4), (3, 2), (1, 3), (2, 3), (8, 1))]
MOST_OPEN = 2  # multipliers, with which minors are factored
MOST_NODES = 25  # equations that are settled on
MOST_TESTS = 400  # equations that are tried at the samples


@final
class ClosedForms:
    """The candidates for closed forms of the multipliers of some facts.

    Args:
        goal, facts: the claim's difference and the facts, as quantities.
        shape, ends: the unknowns, and the ends of σ.
        programs: the program at each sample, with the places of the facts in it.
    """

    def __init__(
        self, board: RoundBoard, goal: Quantity, facts: Sequence[Quantity], shape: Unknowns, ends: Sequence[int | None],
        programs: Sequence[tuple[MultiplierProgram, dict[str, float]]], places: Sequence[int],
    ):  # fmt: skip
        self.field, self.setting, self.shape, self.ends = board.field, board.setting, shape, ends
        self.goal, self.facts = goal, facts
        self.programs, self.places = programs, list(places)
        self.nodes = self.tests = 0
        self.zero = board.field.scalar(0)

    def row(self, monomial: Monomial, end: int | None) -> Row:
        """The equation that the coefficient of this unknown vanishes in what the facts leave of the goal."""
        found = [in_case(q.terms.get(monomial, self.zero), end) for q in (*self.facts, self.goal)]
        return tuple(found)

    def __iter__(self) -> Iterator[list[Scalar]]:
        """Multipliers in closed form that are consistent with all samples, the simplest guesses first."""
        system: System | None = System(len(self.facts), quotient)
        for end in self.ends:
            for monomial in self.shape.values:
                system = None if system is None else system.with_row(self.row(monomial, end))
        system = None if system is None else self._with_empty_rows(system)
        if system is not None:
            yield from self._completed(system)

    def _completed(self, system: System) -> Iterator[list[Scalar]]:
        if system.is_solved:
            yield system.solution
            return
        tried: set[Any] = set()
        for row in self._guesses(system):
            if self.nodes >= MOST_NODES or self.tests >= MOST_TESTS:
                return
            more = system.with_row(row)
            if more is None or more is system or frozenset(more.rows) in tried:
                continue
            tried.add(frozenset(more.rows))
            if not self._is_feasible(more):
                continue
            full = self._with_empty_rows(more)
            if full is not None and (full is more or self._is_feasible(full)):
                self.nodes += 1
                yield from self._completed(full)

    def _guesses(self, system: System) -> Iterator[Row]:
        """Equations that might hold: entries that vanish, diagonal ones first; then multipliers that are simple."""
        entries = [(i != j, m) for b in self.shape.blocks for m, (i, j) in b.products.items()]
        entries += [(False, m) for m in self.shape.signed]
        for _, m in sorted(entries, key=lambda e: e[0]):
            for end in self.ends:
                row = system.reduced(self.row(m, end))
                if any(row[:-1]):
                    yield row
        if len(self.facts) - len(system.rows) <= MOST_OPEN:
            yield from self._singular(system)
        yield from self._monomials(system)
        for ratio in RATIOS:
            for j, fact in enumerate(self.facts):
                if j in system.pivots:
                    continue
                for m in dict.fromkeys([*fact.terms]):
                    for end in self.ends:
                        below = in_case(fact.terms[m], end)
                        above = in_case(self.goal.terms.get(m, self.zero), end)
                        if below and above:
                            value = quotient(above, below) * ratio
                            one = [self.field.scalar(1) if k == j else self.zero for k in range(len(self.facts))]
                            yield (*one, value)

    def _singular(self, system: System) -> Iterator[Row]:
        """That a minor of the remaining form vanishes, as an equation for the open multipliers."""
        free = [j for j in range(len(self.facts)) if j not in system.pivots]
        for block in self.shape.blocks:
            for end in self.ends:
                size = len(block.basics)
                matrix = [[(self.zero,) * (len(free) + 1)] * size for _ in range(size)]
                for m, (i, j) in block.products.items():
                    row = system.reduced(self.row(m, end))
                    half = 1 if i == j else 2
                    matrix[i][j] = matrix[j][i] = (*(-row[k] / half for k in free), row[-1] / half)
                for found in singular(matrix, self.field):
                    by_place = dict(zip(free, found, strict=False))
                    yield (*(by_place.get(j, self.zero) for j in range(len(self.facts))), found[-1])

    def _monomials(self, system: System) -> Iterator[Row]:
        """That a multiplier is a product of powers of factors that occur, which fits its values at more samples."""
        atoms = [[float_at(f, at) for f in self.factors] for _, at in self.more]
        free = [j for j in range(len(self.facts)) if j not in system.pivots]
        # The least and the largest value of each open multiplier, which need not be unique.
        for costs in (None, *(sign * np.eye(len(self.facts))[j] for j in free for sign in (1.0, -1.0))):
            try:
                found = [p.solve(range(len(self.facts)), costs, self._equations(p, at, system)) for p, at in self.more]
            except ZeroDivisionError:
                return
            solved = [(x, row) for x, row in zip(found, atoms, strict=True) if x is not None]
            for j in free:
                values, known = [float(x[j]) for x, _ in solved], [row for _, row in solved]
                value = product_of_powers(values, known, self.factors)
                if value is not None:
                    yield (*(self.field.scalar(int(k == j)) for k in range(len(self.facts))), value)

    @cached_property
    def factors(self) -> list[Scalar]:
        """The factors of the coefficients."""
        return positive_factors((c for q in (self.goal, *self.facts) for c in q.terms.values()), self.field)

    @cached_property
    def more(self) -> list[tuple[MultiplierProgram, dict[str, float]]]:
        """More samples, with the program of these facts alone."""
        number = len(self.factors) + 3 * SPARE
        values = [symbol_values(self.field, s) for s in samples(self.setting, number, seed=1, zeros=False)]
        return [(MultiplierProgram(self.goal, self.facts, self.shape, self.ends, at), at) for at in values]

    def _with_empty_rows(self, system: System) -> System | None:
        """With the equations that follow where a diagonal entry vanishes: the whole row of the form vanishes."""
        found: System | None = system
        changed = True
        while changed and found is not None:
            changed = False
            for block in self.shape.blocks:
                diagonal = {i: m for m, (i, j) in block.products.items() if i == j}
                for end in self.ends:
                    empty = {i for i, m in diagonal.items() if not any(found.reduced(self.row(m, end)))}
                    for m, (i, j) in block.products.items():
                        if i in empty or j in empty:
                            more = found.with_row(self.row(m, end))
                            if more is None:
                                return None
                            changed = changed or more is not found
                            found = more
        return found

    def _is_feasible(self, system: System) -> bool:
        """Whether the program has a solution with these equations at every sample."""
        self.tests += 1
        try:
            return all(p.solve(self.places, None, self._equations(p, at, system, self.places)) is not None
                       for p, at in self.programs)  # fmt: skip
        except ZeroDivisionError:
            return False

    def _equations(
        self, program: MultiplierProgram, at: Mapping[str, float], system: System, places: Sequence[int] | None = None
    ) -> list[list[float]]:
        """The system's equations at a sample, for a program in which the facts have these places."""
        found = []
        for row in system.rows:
            full = [0.0] * len(program.norms)
            for place, x in zip(range(len(self.facts)) if places is None else places, row, strict=False):
                full[place] = float_at(x, at)
            found.append([*full, float_at(row[-1], at)])
        return found


# Numbers at samples as products of powers of the factors that occur in the claim's coefficients.

SPARE = 3  # samples beyond those that determine the exponents
LARGEST_EXPONENT = 4
LARGEST_DENOMINATOR = 12
ACCURACY = 2e-3  # of exponents, and of logarithms


def positive_factors(coefficients: Iterable[Any], field: Field) -> list[Scalar]:
    """The different factors of numerators and denominators that the conditions show to be positive or nonnegative."""
    found = {str(f.above): f for c in coefficients if isinstance(c, Scalar) and c for f, _ in factors(c)}
    signed = [x if field.is_nonnegative(x) else -x for _, x in sorted(found.items(), key=itemgetter(0))]
    return [x for x in signed if field.is_nonnegative(x)]


def product_of_powers(
    values: Sequence[float], atoms: Sequence[Sequence[float]], given: Sequence[Scalar]
) -> Scalar | None:
    """c Π factor^n with integers n and a simple fraction c, that has these values; None without one.

    Exponents are determined by least squares of logarithms. `atoms` are the values of the given factors at each sample.
    """
    usable = [(v, row) for v, row in zip(values, atoms, strict=True) if v > 1e-7 and min(row, default=1.0) > 0]
    if len(usable) < len(given) + 1 + SPARE:
        return None
    left = np.log(np.array([row for _, row in usable])).reshape(len(usable), -1)
    matrix = np.column_stack([left, np.ones(len(usable))])
    right = np.log([v for v, _ in usable])
    solution, _, rank, _ = np.linalg.lstsq(matrix, right, rcond=None)
    if rank < matrix.shape[1]:
        return None
    exponents = np.round(solution[:-1])
    constant = Fraction(float(np.exp(np.median(right - left @ exponents)))).limit_denominator(LARGEST_DENOMINATOR)
    if constant <= 0 or np.abs(exponents).max(initial=0) > LARGEST_EXPONENT:
        return None
    if np.abs(left @ exponents + np.log(float(constant)) - right).max() > ACCURACY:
        return None
    if not given:
        return None
    found = given[0].field.scalar(constant)
    for factor, n in zip(given, exponents, strict=True):
        found = found * power(factor, int(n))
    return found


# Open multipliers at which a principal minor of the remaining quadratic form vanishes.
# Where a proof is tight, only one choice of the multipliers leaves a form ≥ 0. That form is singular: a minor vanishes
# there, as a polynomial in the multipliers. Its factors that are linear in them give linear equations.

LARGEST = 4  # minors
MOST_TERMS = 4000  # of a minor that is factored
Affine = Sequence[Scalar]  # the coefficients of the open multipliers, and the constant


def singular(matrix: Sequence[Sequence[Affine]], field: Field) -> Iterator[tuple[Scalar, ...]]:
    """Linear equations (coefficients, right side), from smaller minors first; double factors of a minor first."""
    ring = Extended(field, len(matrix[0][0]) - 1)
    cleared = ring.cleared(matrix)
    for size in range(1, LARGEST + 1):
        for chosen in combinations(range(len(matrix)), size):
            minor = ring.determinant([[cleared[i][j] for j in chosen] for i in chosen])
            if minor is not None:
                yield from ring.linear_factors(minor)


class Extended:
    """Polynomials in the field's symbols and some unknowns."""

    def __init__(self, field: Field, unknowns: int):
        self.field, self.count, self.unknowns = field, len(field.signs), unknowns
        self.context = fmpz_mpoly_ctx.get(("x", self.count + unknowns), "lex")
        self.factors = [*self.context.gens()[self.count :], self.context.constant(1)]

    def cleared(self, matrix: Sequence[Sequence[Affine]]) -> list[list[fmpz_mpoly]]:
        """The matrix as polynomials, times a common denominator."""
        below = common_denominator([x for row in matrix for entry in row for x in entry])
        return [[self._polynomial(entry, below) for entry in row] for row in matrix]

    def _polynomial(self, entry: Affine, below: fmpz_mpoly) -> fmpz_mpoly:
        parts = [
            (x.above * (below / x.below)).project_to_context(self.context) * f
            for x, f in zip(entry, self.factors, strict=True)
        ]
        return sum(parts, self.context.constant(0))

    def determinant(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly | None:
        """By the first row; None for a block matrix, whose blocks are minors of their own, and for a large result."""
        if not _is_connected(matrix):
            return None
        total = self._expanded(matrix)
        return total if len(total) <= MOST_TERMS else None

    def _expanded(self, matrix: list[list[fmpz_mpoly]]) -> fmpz_mpoly:
        if len(matrix) == 1:
            return matrix[0][0]
        total = self.context.constant(0)
        for j, x in enumerate(matrix[0]):
            if x:
                rest = self._expanded([[row[k] for k in range(len(matrix)) if k != j] for row in matrix[1:]])
                total = total + (x * rest if j % 2 == 0 else -x * rest)
        return total

    def linear_factors(self, of: fmpz_mpoly) -> Iterator[tuple[Scalar, ...]]:
        """The factors that are linear in the unknowns, as equations."""
        if not of or not any(map(int, of.degrees()[self.count :])):
            return
        for factor, _ in sorted(of.factor()[1], key=lambda pair: -int(pair[1])):
            powers = {tuple(map(int, m[self.count :])) for m in factor.to_dict()}
            if max(map(sum, powers)) == 1:
                zero, row, rest = self.context.constant(0), list[fmpz_mpoly](), factor
                for place in range(self.count, self.count + self.unknowns):
                    parts = by_powers(rest, place)
                    rest = parts.get(0, zero)
                    row.append(parts.get(1, zero))
                own = (x.project_to_context(self.field.context) for x in (*row, -rest))
                yield tuple(Scalar(x, self.field.one, self.field) for x in own)


def _is_connected(matrix: list[list[fmpz_mpoly]]) -> bool:
    seen, waiting = {0}, [0]
    while waiting:
        i = waiting.pop()
        for j, x in enumerate(matrix[i]):
            if x and j not in seen:
                seen.add(j)
                waiting.append(j)
    return len(seen) == len(matrix)
