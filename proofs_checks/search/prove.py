"""Proofs of one-round claims that are found without help.

A semidefinite program at samples of the parameters shows which inequalities of the function class suffice; their
multipliers get closed forms; what they leave of the claim is decomposed into squares exactly. The kernel replays the
result, so that a wrong guess anywhere leads to no proof, and never to a wrong one.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np

from fedconvex.claims.claim import Claim, ClaimSetting, at_most
from fedconvex.claims.methods import made
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.terms import Number, Vector, answers, gradient, mean, norm, number, residuals, server
from fedconvex.fixed_points.method_analysis import require_linear
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.proofs import CauchySchwarz, Derivation, Earlier, Line, Nonnegative
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity
from fedconvex.proofs_checks.library import Parts, by, concluding, rooted, squared
from fedconvex.proofs_checks.search.basics import Basics, leaving_unproved
from fedconvex.proofs_checks.search.candidates import (
    Candidate,
    Invariants,
    board_of,
    bounds,
    candidate,
    candidates,
    claimed_terms,
    invariants_of,
    points_of,
)
from fedconvex.proofs_checks.search.closed_forms import ClosedForms
from fedconvex.proofs_checks.search.forms import SIGMA, cases, in_case, is_affine_in_sigma, shape_of
from fedconvex.proofs_checks.search.programs import MultiplierProgram
from fedconvex.proofs_checks.search.samples import samples, symbol_values
from fedconvex.proofs_checks.search.scalars import common_factor, is_nonzero, number_of, quotient
from fedconvex.proofs_checks.search.supports import supports

# Inequalities between lengths: those of the setting, and guesses that the search proves before it uses them.
# A square is linear in inner products, but ‖e − g‖ ≤ (1 + γ)‖g‖ from ‖e‖ ≤ γ‖g‖ is not: products of two lengths are
# unknowns of their own, which Cauchy and Schwarz compare with inner products, and known inequalities between lengths
# are multiplied by lengths.


@final
@dataclass(frozen=True)
class Known:
    """An inequality between lengths, and the lines that prove it."""

    claim: Claim
    name: str
    lines: tuple[Line, ...]


def guesses(board: RoundBoard, basics: Basics) -> Iterator[tuple[str, Claim]]:
    """Inequalities between lengths that may hold in a round, in the order in which they may rest on each other."""
    setting, here = board.setting, server(0)
    slope = gradient(here)
    if setting.method and setting.answers in ("own", "inexact"):
        with leaving_unproved():
            _ = board.vector(answers)
            subproblem = board.round.subproblem
            first = basics.vector(
                subproblem.add_gradients(subproblem.start, board.round.gradient(subproblem.start)).parts
            )
            bound = number(0) if setting.inexactness is None else setting.inexactness
            if setting.answers == "inexact":
                yield "residuals", at_most(norm(residuals), bound * norm(first))
            for place, least in enumerate(bounds(setting, 0)):
                convexity = number_of(board.field.scalar(subproblem.weight) + board.parameters.value(least))
                start = basics.vector(subproblem.start.parts)
                moved = (1 + bound) / convexity * norm(first)
                yield f"moves {place}", at_most(norm(answers - start), moved)
                if setting.curvature[1] is not None:
                    changed = norm(gradient(answers) - gradient(start))
                    yield f"changes {place}", at_most(changed, setting.curvature[1] * moved)
    if setting.dissimilarity is not None:
        yield "dissimilarity", at_most(norm(slope), setting.dissimilarity * norm(mean(slope)))


def candidates_of_lengths(board: RoundBoard, claim: Claim, known: Sequence[Known]) -> list[Candidate]:
    """Cauchy and Schwarz for the vectors whose lengths occur, and known inequalities times these lengths."""
    terms = [t for about in (claim, *(k.claim for k in known)) for t in claimed_terms(about)]
    vectors = _different(board, [t.args[0] for t in terms if type(t) is Number and t.head == "norm"])
    found = [candidate(board, "lengths", by(CauchySchwarz(u, v, sign)))
             for u, v in combinations(vectors, 2) for sign in (1, -1)]  # fmt: skip
    found += [_times(board, u, one) for one in known for u in vectors]
    return [one for one in found if one is not None]


def _different(board: RoundBoard, vectors: Sequence[Vector]) -> list[Vector]:
    found: dict[Any, Vector] = {}
    for u in vectors:
        with leaving_unproved():
            found.setdefault(frozenset(board.length(board.vector(u)).terms), u)
    return list(found.values())


def _times(board: RoundBoard, u: Vector, known: Known) -> Candidate | None:
    """The inequality times ‖u‖."""
    with leaving_unproved():
        difference = board.number(known.claim.right) - board.number(known.claim.left)
        quantity = board.product(board.number(norm(u)), difference)
        return Candidate("product", norm(u) * by(Earlier(known.name)), quantity)
    return None


SAMPLES = 6
MOST_GUESSES = 40  # closed forms that are decomposed, for each set of facts
COSTS: tuple[dict[str, float], ...] = (  # of facts, in the order in which they are tried
    {"": 1.0, "interpolation": 1.5, "between": 1.2},
    {"": 1.0, "interpolation": 0.7, "between": 0.8},
    {"": 1.0, "interpolation": 10.0, "between": 10.0},
    {"": 10.0, "between": 1.0},
)
COSTS_OF_LENGTHS: tuple[dict[str, float], ...] = (
    {"": 1.0, "product": 0.1, "lengths": 0.1},
    {"": 1.0, "product": 0.1, "lengths": 0.1, "inexactness": 10.0, "dissimilarity": 10.0},
    COSTS[0],
)


def prove(statement: Any) -> Derivation | None:
    """A proof of the statement's claim in its setting, which the kernel accepts; None where the search finds none.

    Uses no other statement and no hint. Claims about whole runs are not searched.
    """
    try:
        setting, claim = statement.setting, statement.claim
    except Exception:  # a statement whose assumptions have no meaning in a setting
        return None
    return None if claim is None or setting is None else proved(setting, claim)


def proved(setting: ClaimSetting, claim: Claim) -> Derivation | None:
    """A proof of a claim in a setting, which the kernel accepts; None where the search finds none.

    Raises InvalidInput where the method's code does more with vectors than to add, scale and average them.
    """
    if claim.of_run:
        return None
    if setting.example and setting.method:
        require_linear(made(setting.method, setting.method_at(lambda x: number_at(x, setting.example))), anywhere=False)
    with leaving_unproved():
        for proof in _attempts(setting, claim, invariants_of(setting, claim)):
            if _accepted(setting, claim, proof):
                return proof
    return None


def _accepted(setting: ClaimSetting, claim: Claim, proof: Derivation) -> bool:
    try:
        theorem(setting, claim, proof)
    except Refused:
        return False
    return True


def _attempts(setting: ClaimSetting, claim: Claim, invariants: Invariants) -> Iterator[Derivation]:
    yield Derivation((concluding(claim, Parts()),), invariants)
    if claim.relation == "=":
        return
    board = board_of(setting, claim, invariants)
    points = points_of(board, claim)
    has_lengths = any(t.head in ("norm", "root") for t in claimed_terms(claim))
    if not has_lengths:
        # Samples at the domain's boundary rule out more, but programs have no interior there.
        for at_bounds in (False, True):
            for parts in ProofSearch(board, points, claim, at_bounds=at_bounds).found():
                yield Derivation((concluding(claim, parts),), invariants)
    for lines in _through_lengths(board, points, claim):
        yield Derivation(lines, invariants)


def _through_lengths(board: RoundBoard, points: Sequence[Vector], claim: Claim) -> Iterator[tuple[Line, ...]]:
    """Lines that use products of lengths."""
    known: list[Known] = []
    basics = Basics(board, points)
    for name, guess in guesses(board, basics):
        proved_guess = next(_of_lengths(board, points, guess, known, name), None)
        if proved_guess is not None:
            known.append(Known(guess, name, proved_guess))
    before = tuple(line for one in known for line in one.lines)
    if _is_of_lengths(board, claim):
        for lines in _of_lengths(board, points, claim, known, "claim"):
            yield (*before, *lines)
    if known:
        others = candidates_of_lengths(board, claim, known)
        for only in (("upper",), None):
            for parts in ProofSearch(board, points, claim, others, only).found():
                yield (*before, concluding(claim, parts))


def _is_of_lengths(board: RoundBoard, claim: Claim) -> bool:
    """Whether both sides are sums of multiples of lengths."""
    sides = (board.number(claim.left), board.number(claim.right))
    return all(len(m) == 1 and m[0][0] == "‖" for side in sides for m in side.terms)


def _of_lengths(
    board: RoundBoard, points: Sequence[Vector], claim: Claim, known: Sequence[Known], name: str
) -> Iterator[tuple[Line, ...]]:
    """Lines that conclude an inequality between lengths from that of the squares."""
    squares = at_most(claim.left**2, claim.right**2)
    with leaving_unproved():
        others = candidates_of_lengths(board, claim, known)
        for only in ((), ("between",), ("lower",), None):
            for parts in ProofSearch(board, points, squares, others, only).found():
                yield rooted(claim.left, claim.right, parts, name)


class ProofSearch:
    """The search for the parts that make up a claim's difference.

    Args:
        board, points: the board, and the points at which functions are compared.
        claim: left ≤ right.
        others: candidates beside those between points.
        only: the names of the inequalities between points that are considered; None for all.
        at_bounds: whether samples may lie at the domain's boundary.
    """

    def __init__(
        self, board: RoundBoard, points: Sequence[Vector], claim: Claim, others: Sequence[Candidate] = (),
        only: Collection[str] | None = None, at_bounds: bool = False,
    ):  # fmt: skip
        self.board = board
        self.goal = goal = board.number(claim.right) - board.number(claim.left)
        own = [fact for fact in candidates(board, points) if only is None or fact.name in only]
        self.facts = [*own, *others]
        quantities = [goal, *(fact.quantity for fact in self.facts)]
        self.ends = cases(quantities)
        require(self.ends == [None] or all(map(is_affine_in_sigma, quantities)), "a claim that is not affine in σ")
        self.symbols = [symbol_values(board.field, s) for s in samples(board.setting, SAMPLES, at_bounds=at_bounds)]
        self.shape = shape_of(board, claim, quantities).reduced(quantities, self.symbols)
        self.programs = [MultiplierProgram(goal, quantities[1:], self.shape, self.ends, at) for at in self.symbols]
        self.basics = Basics(board, points)

    def found(self) -> Iterator[Parts]:
        """Sums of facts and squares that equal the difference, as far as the search can tell."""
        for support in supports(self.programs, self._preferences()):
            chosen = [self.facts[j] for j in support]
            forms = ClosedForms(
                self.board, self.goal, [c.quantity for c in chosen], self.shape, self.ends,
                list(zip(self.programs, self.symbols, strict=True)), support,
            )  # fmt: skip
            for tried, multipliers in enumerate(forms):
                made = self._completed(chosen, multipliers)
                if made is not None:
                    yield made
                if tried >= MOST_GUESSES:
                    break

    def _preferences(self) -> list[np.ndarray]:
        names = [fact.name for fact in self.facts]
        costs = COSTS_OF_LENGTHS if "product" in names else COSTS
        return [np.array([of.get(name, of[""]) for name in names]) for of in costs]

    def _completed(self, chosen: Sequence[Candidate], multipliers: Sequence[Scalar]) -> Parts | None:
        """The facts with these multipliers, and what they leave of the goal as squares; None where it is not shown."""
        field = self.board.field
        if not all(field.is_nonnegative(x) and is_nonzero(x.below, field) for x in multipliers):
            return None
        rest, total = self.goal, Parts()
        for fact, x in zip(chosen, multipliers, strict=True):
            if x:
                rest = rest - fact.quantity * x
                total = total + number_of(x) * fact.parts
        for m in self.shape.signed:
            if m in rest.terms:
                total = total + self._signed(m, rest.terms[m])
        ends: list[tuple[int | None, Scalar]] = [(None, field.scalar(1))]
        if self.ends != [None]:
            sigma = field.symbol(SIGMA)
            ends = [(0, 1 - sigma), (1, sigma)]
        for block in self.shape.blocks:
            made = {end: self._matrix(rest, block.products, len(block.basics), end) for end, _ in ends}
            weights = dict(ends)
            if len(made) == 2 and made[0] == made[1]:
                made, weights = {0: made[0]}, {0: field.scalar(1)}
            for end, matrix in made.items():
                squares = squares_of(matrix, field)
                if squares is None:
                    return None
                for square in squares:
                    vector = self.basics.vector(block.coordinates(square.coordinates))
                    total = total + number_of(square.weight * weights[end]) * squared(vector)
        return total

    def _signed(self, monomial: Monomial, coefficient: Scalar) -> Parts:
        term = number_of(coefficient)
        for name in monomial:
            term = term * norm(self.basics.vector(dict(self.board.lengths[int(name[1])].parts)))
        return by(Nonnegative(term))

    def _matrix(self, of: Quantity, products: Any, size: int, end: int | None) -> list[list[Scalar]]:
        zero = self.board.field.scalar(0)
        found = [[zero] * size for _ in range(size)]
        for m, (i, j) in products.items():
            if m in of.terms:
                value = in_case(of.terms[m], end)
                if i == j:
                    found[i][i] = value
                else:
                    found[i][j] = found[j][i] = value / 2
        return found


# Exact decompositions of quadratic forms into squares, with weights whose signs the conditions on parameters show.

Matrix = Sequence[Sequence[Scalar]]
MOST_NODES = 60  # choices of a pivot that are tried


@final
@dataclass(frozen=True)
class Square:
    """weight · (Σ coordinate_i x_i)²."""

    weight: Scalar
    coordinates: tuple[Scalar, ...]


def squares_of(matrix: Matrix, field: Field) -> list[Square] | None:
    """The form as a sum of squares: pivots of LDLᵀ in an order in which their signs are known; None without one."""
    budget = iter(range(MOST_NODES))
    return _decomposed([list(row) for row in matrix], field, budget)


def _decomposed(matrix: list[list[Scalar]], field: Field, budget: Iterator[int]) -> list[Square] | None:
    size = range(len(matrix))
    entries = [x for row in matrix for x in row if x]
    if not entries:
        return []
    if next(budget, None) is None:
        return None
    factor = _common(entries, field)
    rest = [[quotient(x, factor) if x else x for x in row] for row in matrix]
    for i in _pivots(rest, field):
        row = [quotient(x, rest[i][i]) if x else x for x in rest[i]]
        if not all(is_nonzero(x.below, field) for x in row):
            continue
        weight = rest[i][i] * factor
        if not is_nonzero(weight.below, field):
            continue
        below = [[matrix[j][k] - weight * row[j] * row[k] for k in size] for j in size]
        found = _decomposed(below, field, budget)
        if found is not None:
            return [Square(weight, tuple(row)), *found]
    return None


def _pivots(matrix: list[list[Scalar]], field: Field) -> list[int]:
    """The diagonal entries that may come first, the simplest first; none where one is 0 in a row that is not."""
    for i, row in enumerate(matrix):
        if not row[i] and any(row):
            return []
    found = [i for i, row in enumerate(matrix) if row[i] and field.is_nonnegative(row[i])]
    return sorted(found, key=lambda i: (len(matrix[i][i].above) + len(matrix[i][i].below), i))


def _common(entries: list[Scalar], field: Field) -> Scalar:
    """A factor ≥ 0 of all entries, which may vanish somewhere, so that it is no part of a pivot; else 1."""
    try:
        factor = common_factor(entries)
        for sign in (1, -1):
            if field.is_nonnegative(factor * sign) and is_nonzero(factor.below, field):
                return field.scalar(factor * sign)
    except Refused:
        pass
    return field.scalar(1)
