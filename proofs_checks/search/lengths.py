"""Inequalities between lengths: those of the setting, and guesses that the search proves before it uses them.

A square is linear in inner products, but ‖e − g‖ ≤ (1 + γ)‖g‖ from ‖e‖ ≤ γ‖g‖ is not: products of two lengths are
unknowns of their own, which Cauchy and Schwarz compare with inner products, and known inequalities between lengths are
multiplied by lengths.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

from fedconvex.claims.claim import Claim, at_most
from fedconvex.claims.terms import Number, Vector, answers, gradient, mean, norm, number, residuals, server
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.proofs import CauchySchwarz, Earlier, Line
from fedconvex.proofs_checks.library import Parts, by, rooted
from fedconvex.proofs_checks.search.basics import Basics, leaving_unproved
from fedconvex.proofs_checks.search.candidates import Candidate, bounds, candidate, claimed_terms
from fedconvex.proofs_checks.search.scalars import number_of


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


def proved_lines(claim: Claim, parts: Parts, name: str) -> tuple[Line, ...]:
    """The lines from parts that show the squares of both sides."""
    return rooted(claim.left, claim.right, parts, name)
