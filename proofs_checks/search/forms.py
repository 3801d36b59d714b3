"""Quantities as forms: matrices of quadratic forms in the unknown vectors, and coefficients of the other unknowns.

The variance factor σ of uniform draws lies in [0, 1], and forms are affine in it: one is ≥ 0 where it is at σ = 0 and at
σ = 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, final

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Vector
from fedconvex.proofs_checks.kernel.board import Board
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar
from fedconvex.proofs_checks.kernel.vectors import APART, KEPT, NOISE, REPLACED, SAME, Quantity, Vec
from fedconvex.proofs_checks.search.basics import Basic
from fedconvex.proofs_checks.search.candidates import claimed_terms
from fedconvex.proofs_checks.search.scalars import at_symbol, depends_on

Monomial = tuple[str, ...]
SIGMA = "σ"
BASIC_KIND = {SAME: SAME, KEPT: SAME, APART: APART, NOISE: APART, REPLACED: APART}


@final
@dataclass(frozen=True)
class Block:
    """Some unknown vectors, orthogonal to all others, with the names of their inner products."""

    basics: tuple[Basic, ...]
    products: Mapping[Monomial, tuple[int, int]]


@final
@dataclass(frozen=True)
class Shape:
    """The unknowns of a board: blocks of vectors; function values, which must cancel; numbers that are ≥ 0."""

    blocks: tuple[Block, ...]
    values: tuple[Monomial, ...]
    signed: tuple[Monomial, ...]


def shape_of(board: Board, claim: Claim, quantities: Sequence[Quantity]) -> Shape:
    """The unknowns in these quantities."""
    used = dict.fromkeys(m for q in quantities for m in q.terms)
    blocks, seen = [], set()
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
            blocks.append(Block(tuple(basics[k] for k in kept), products))
    values = tuple(m for m in used if len(m) == 1 and m[0].startswith("F"))
    signed = tuple(m for m in used if m not in seen and m not in values)
    return Shape(tuple(blocks), values, signed)


def _basics(board: Board, claim: Claim) -> list[Basic]:
    """All unknown vectors of the board that its vectors, gradients and the claim's terms have."""
    first = board.first
    vecs = [first.server, *first.shared.values(), *first.memory.values(), *board.gradients.values(), *board.lengths]
    vecs += [Vec(dict(key)) for key in board.gradients]
    for pair in (*board.solved, *board.inexact):
        vecs += pair
    vecs += _claimed(board, claim)
    return sorted({(BASIC_KIND[kind], name) for u in vecs for kind, name in u.parts if kind in BASIC_KIND})


def _claimed(board: Board, claim: Claim) -> Iterable[Vec]:
    for term in claimed_terms(claim):
        if type(term) is Vector:
            try:
                yield board.vector(term)
            except (Refused, ValueError, ArithmeticError):
                continue


def cases(quantities: Sequence[Quantity]) -> list[int | None]:
    """The ends of σ at which forms must be nonnegative; [None] where σ does not occur."""
    scalars = [c for q in quantities for c in q.terms.values() if isinstance(c, Scalar)]
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
