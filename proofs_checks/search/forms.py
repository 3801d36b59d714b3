"""Quantities as forms: matrices of quadratic forms in the unknown vectors, and coefficients of the other unknowns.

The variance factor σ of uniform draws lies in [0, 1], and forms are affine in it: one is ≥ 0 if it is so at σ = 0 and
at σ = 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, final

import numpy as np

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Vector
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar
from fedconvex.proofs_checks.kernel.vectors import APART, KEPT, NOISE, REPLACED, SAME, Monomial, Quantity, Vec
from fedconvex.proofs_checks.search.basics import Basic
from fedconvex.proofs_checks.search.candidates import claimed_terms
from fedconvex.proofs_checks.search.scalars import at_symbol, depends_on, float_at

Floats = Any  # an array
SIGMA = "σ"
BASIC_KIND = {SAME: SAME, KEPT: SAME, APART: APART, NOISE: APART, REPLACED: APART}


@final
@dataclass(frozen=True)
class VectorBlock:
    """Some unknown vectors, orthogonal to all others, with the names of their inner products.

    The vectors are basic ones minus multiples of those in `origins`: points are seen from one of them, since only their
    differences matter.
    """

    basics: tuple[Basic, ...]
    products: Mapping[Monomial, tuple[int, int]]
    origins: Mapping[Basic, tuple[Fraction, ...]] = field(default_factory=dict)

    def coordinates(self, given: Sequence[Scalar]) -> dict[Basic, Scalar]:
        """A combination of the vectors in basic ones."""
        found = dict(zip(self.basics, given, strict=True))
        for basic, shares in self.origins.items():
            for share, c in zip(shares, given, strict=True):
                found[basic] = (found[basic] if basic in found else 0 * c) - c * share
        return {basic: c for basic, c in found.items() if c}

    def without(self, directions: np.ndarray) -> "VectorBlock":
        """The block where the forms do not change along these directions, given as rows with pivots 1."""
        pivots = [int(np.nonzero(row)[0][0]) for row in directions]
        kept = [k for k in range(len(self.basics)) if k not in pivots]
        places = {k: place for place, k in enumerate(kept)}
        return VectorBlock(
            tuple(self.basics[k] for k in kept),
            {m: (places[i], places[j]) for m, (i, j) in self.products.items() if i in places and j in places},
            {
                self.basics[p]: tuple(Fraction(int(row[k])) for k in kept)
                for p, row in zip(pivots, directions, strict=True)
            },
        )


def invariant_directions(matrices: np.ndarray) -> np.ndarray:
    """Integer directions, as rows, that all of these symmetric matrices map to 0, such as of all points together."""
    size = matrices.shape[-1]
    norms = np.abs(matrices).max(axis=(1, 2), keepdims=True, initial=0)
    stacked = (matrices / np.where(norms > 0, norms, 1.0)).reshape(-1, size)
    _, values, rows = np.linalg.svd(np.vstack([stacked, np.zeros((size, size))]))
    kernel = rows[values < 1e-9]
    for place, _ in enumerate(kernel):  # to reduced echelon form
        column = int(np.argmax(np.abs(kernel[place:]).max(axis=0) > 1e-6))
        best = place + int(np.argmax(np.abs(kernel[place:, column])))
        kernel[[place, best]] = kernel[[best, place]]
        kernel[place] /= kernel[place, column]
        others = [k for k in range(len(kernel)) if k != place]
        kernel[others] -= np.outer(kernel[others, column], kernel[place])
    rounded = np.round(kernel)
    return rounded if np.abs(kernel - rounded).max(initial=0) < 1e-6 else rounded[:0]


@final
@dataclass(frozen=True)
class Unknowns:
    """The unknowns: blocks of vectors; numbers that are ≥ 0; and others, such as function values, which must cancel."""

    blocks: tuple[VectorBlock, ...]
    values: tuple[Monomial, ...]
    signed: tuple[Monomial, ...]

    def reduced(self, quantities: Sequence[Quantity], symbols: Sequence[Mapping[str, float]]) -> "Unknowns":
        """The shape with as few vectors as these quantities have degrees of freedom, as far as samples tell."""
        blocks = []
        for block in self.blocks:
            size = len(block.basics)
            made = [matrices([values_at(q, at, None) for q in quantities], block.products, size) for at in symbols]
            directions = invariant_directions(np.vstack(made))
            blocks.append(block.without(directions) if len(directions) else block)
        return Unknowns(tuple(b for b in blocks if b.basics), self.values, self.signed)


def shape_of(board: RoundBoard, claim: Claim, quantities: Sequence[Quantity]) -> Unknowns:
    """The unknowns in these quantities."""
    used = dict.fromkeys(m for q in quantities for m in q.terms)
    blocks, seen = [], set[Monomial]()
    for kind in (SAME, APART):
        basics = [b for b in _basics(board, claim) if b[0] == kind]
        products = {}
        for i, j in combinations_with_replacement(range(len(basics)), 2):
            one, other = (Vec({basics[k]: board.field.scalar(1)}) for k in (i, j))
            for monomial in board.inner(one, other).terms:
                products[monomial] = (i, j)
        kept = sorted({k for m, pair in products.items() if m in used for k in pair})
        places = {k: place for place, k in enumerate(kept)}
        products = {m: (places[i], places[j]) for m, (i, j) in products.items() if i in places and j in places}
        seen |= products.keys()
        if kept:
            blocks.append(VectorBlock(tuple(basics[k] for k in kept), products))
    signed = tuple(m for m in used if all(unknown[0] == "‖" for unknown in m))
    values = tuple(m for m in used if m not in seen and m not in signed)
    return Unknowns(tuple(blocks), values, signed)


def _basics(board: RoundBoard, claim: Claim) -> list[Basic]:
    """All unknown vectors of the board that its vectors, gradients and the claim's terms have."""
    first = board.round.first
    vecs = [
        first.server,
        *first.shared.values(),
        *first.memory.values(),
        *board.round.gradients.values(),
        *board.lengths,
    ]
    vecs += [Vec(dict(key)) for key in board.round.gradients]
    for pair in board.round.inexact:
        vecs += pair
    vecs += _claimed(board, claim)
    found = {(BASIC_KIND[kind], name) for u in vecs for kind, name in u.parts if kind in BASIC_KIND}
    return sorted(found, key=lambda basic: (basic[1] != "x*", basic))


def _claimed(board: RoundBoard, claim: Claim) -> Iterable[Vec]:
    for term in claimed_terms(claim):
        if type(term) is Vector:
            try:
                yield board.vector(term)
            except (Refused, ValueError, ArithmeticError):
                continue


def values_at(of: Quantity, symbols: Mapping[str, float], case: int | None) -> dict[Monomial, float]:
    """The coefficients at values of the field's symbols, and at an end of σ."""
    at = symbols if case is None else {**symbols, SIGMA: float(case)}
    return {m: float_at(c, at) for m, c in of.terms.items()}


def matrices(at: Sequence[Mapping[Monomial, float]], products: Mapping[Monomial, tuple[int, int]], size: int) -> Floats:
    """The symmetric matrices of quadratic forms."""
    found = np.zeros((len(at), size, size))
    for place, q in enumerate(at):
        for m, (i, j) in products.items():
            if m in q:
                found[place, i, j] += q[m] / 2
                found[place, j, i] += q[m] / 2
    return found


def cases(quantities: Sequence[Quantity]) -> list[int | None]:
    """The ends of σ at which forms must be nonnegative; [None] where σ does not occur."""
    scalars = [c for q in quantities for c in q.terms.values()]
    has = any(SIGMA in c.field.signs and depends_on(c, SIGMA) for c in scalars)
    return [0, 1] if has else [None]


def in_case(of: Any, case: int | None) -> Any:
    """A coefficient at this end of σ."""
    return of if case is None or not isinstance(of, Scalar) else at_symbol(of, SIGMA, case)


def is_affine_in_sigma(of: Quantity) -> bool:
    """Whether its coefficients are those at the ends of σ, interpolated."""
    for c in of.terms.values():
        ends = in_case(c, 0), in_case(c, 1)
        if ends[0] + c.field.symbol(SIGMA) * (ends[1] - ends[0]) != c:
            return False
    return True
