"""From a proposal to a federation: clients with quadratic functions on which the method does nearly its worst, exactly.

The Gram matrices of the proposal give points and gradients; quadratics through them are fitted, rounded to rational
numbers inside the class, and the method is played on them by the core in exact arithmetic. What it does there is
attained, however the federation was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.search import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import Written
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.quadratic_forms import DEVIATION, Family, Form, Vectors, of_kind

BITS = 40
INSIDE = Fraction(1, 2**36)  # how far fitted quadratics are pulled inside the class, against rounding


@final
@dataclass(frozen=True, eq=False)
class AttainingFederation:
    """F_k(x) = ½xᵀH_k x − c_kᵀx, the mean of which is least at 0, and where the method starts."""

    problem: Quadratic
    start: np.ndarray  # (d,) for the server, or (m, d) where every client has its own
    residuals: tuple[np.ndarray, ...] = ()  # (m, d) in every round, where answers are inexact


def quadratics(
    program: Program, proposal: Proposal, board: Board | Written, functions: FunctionClass, start: Family
) -> AttainingFederation | None:
    """Quadratics of the class that nearly pass through the proposal's points; None where there are none."""
    if not all(np.isfinite(gram).all() for gram in proposal.grams):
        return None
    coordinates = _coordinates(program, proposal.grams)
    clients = board.members
    low, high = float(functions.lowest), float(functions.highest)
    hessians, linear = [], []
    for k in clients:
        at = [(_of(e.point, coordinates, k), _of(e.gradient, coordinates, k)) for e in board.evaluations]
        (base, pull), *others = at
        X = np.column_stack([point - base for point, _ in others])
        G = np.column_stack([gradient - pull for _, gradient in others])
        H = _fitted(X, G, low, high)
        hessians.append(_rational_hessian(H, functions))
        linear.append(_rational(H @ base - pull))
    if any(H is None for H in hessians):
        return None
    if board.minimiser:  # the gradients there have mean 0, exactly
        centre = sum(linear[1:], start=linear[0]) / Fraction(len(clients))
        linear = [c - centre for c in linear]
    starts = [_rational(_of(start, coordinates, k)) for k in clients]
    problem = Quadratic(hessians, linear)
    left = tuple(np.array([_rational(_of(r.left, coordinates, k)) for k in clients]) for r in board.residuals)
    return AttainingFederation(problem, np.array(starts), left)


def vectors(
    program: Program, grams: Sequence[np.ndarray], values: Mapping[str, float], board: Any, start: Family
) -> tuple[Any, Any, Any, np.ndarray, tuple[np.ndarray, ...]]:
    """From Gram matrices and values every client's points and gradients, (m, n, d), values, (m, n), start, and what
    its answers leave, (m, d).
    """
    coordinates = _coordinates(program, grams)
    clients, found = board.members, board.evaluations
    points = [[_of(e.point, coordinates, k) for e in found] for k in clients]
    gradients = [[_of(e.gradient, coordinates, k) for e in found] for k in clients]
    heights = [[_number(board.height(e, kind), coordinates, values) for e in found] for kind, _ in clients]
    left = tuple(np.array([_of(r.left, coordinates, k) for k in clients]) for r in board.residuals)
    return points, gradients, heights, np.array([_of(start, coordinates, k) for k in clients]), left


def _number(form: Form, coordinates: dict[Any, np.ndarray], values: Mapping[str, float]) -> float:
    """Of vectors and values that are known; a value that is in no inequality may be 0."""
    products = (float(c) * coordinates[a] @ coordinates[b] for (a, b), c in form.products.items())
    return float(sum(products) + sum(float(c) * values.get(name, 0.0) for name, c in form.values.items()))


def _coordinates(program: Program, grams: Sequence[np.ndarray]) -> dict[Any, np.ndarray]:
    """Of every basic vector: the parts are orthogonal; vectors that no form sees are 0."""
    sizes = [len(seen) for seen in program.seen]
    total, offset = sum(sizes), 0
    found: dict[Any, np.ndarray] = {}
    for block, seen, gram in zip(program.blocks, program.seen, grams, strict=True):
        values, vectors = np.linalg.eigh(gram)
        values[values < 1e-7 * max(values.max(), 1e-300)] = 0
        factor = vectors * np.sqrt(values)
        for place, key in enumerate(block):
            found[key] = np.zeros(total)
            if place in seen:
                found[key][offset : offset + len(seen)] = factor[seen.index(place)]
        offset += len(seen)
    return found


def _of(u: Vectors, coordinates: dict[Any, np.ndarray], member: tuple[int | None, int]) -> np.ndarray:
    """The vector of one of the board's members; the second of two has the opposite deviation."""
    kind, sign = member
    total = np.zeros(len(next(iter(coordinates.values()))))
    for key, c in of_kind(u, kind).parts.items():
        if key in coordinates:
            total = total + (sign if key[0].startswith(DEVIATION) else 1) * float(c) * coordinates[key]
    return total


def _fitted(X: np.ndarray, G: np.ndarray, low: float, high: float) -> np.ndarray:
    """A symmetric H with HX ≈ G and eigenvalues between low and high (Parrott's theorem for what X does not see)."""
    middle, radius = (low + high) / 2, (high - low) / 2
    U, s, Vt = np.linalg.svd(X)
    rank = int((s > 1e-6 * max(s.max(initial=0), 1e-300)).sum())
    seen, unseen = U[:, :rank], U[:, rank:]
    image = G @ Vt[:rank].T / s[:rank] - middle * seen
    inside, across = seen.T @ image, unseen.T @ image
    inside = (inside + inside.T) / 2
    rest = -across @ np.linalg.pinv(radius**2 * np.eye(rank) - inside @ inside, rcond=1e-9) @ inside @ across.T
    H = middle * np.eye(len(U)) + seen @ inside @ seen.T + unseen @ rest @ unseen.T
    H += unseen @ across @ seen.T + seen @ across.T @ unseen.T
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    clipped: np.ndarray = vectors * np.clip(values, low, high) @ vectors.T
    return clipped


def _rational_hessian(H: np.ndarray, functions: FunctionClass) -> np.ndarray | None:
    """Entries with few bits, pulled into the class."""
    middle = (functions.lowest + functions.highest) / 2
    rounded = _rational((H + H.T) / 2)
    identity = _rational(np.eye(len(H)))
    pulled = rounded * (1 - INSIDE) + identity * (middle * INSIDE)
    below, above = pulled - identity * functions.lowest, identity * functions.highest - pulled
    inside = is_positive_semidefinite(below.tolist()) and is_positive_semidefinite(above.tolist())
    return pulled if inside else None


def _rational(array: np.ndarray) -> np.ndarray:
    """With BITS bits behind the point."""
    rounded: np.ndarray = np.vectorize(lambda x: Fraction(round(float(x) * 2**BITS), 2**BITS), otypes=[object])(array)
    return rounded
