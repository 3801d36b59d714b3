"""Federations of quadratic clients, fitted to the Gram matrices of a floating-point solution.

The Gram matrices give points and gradients; quadratics nearly through these are rounded to rational numbers inside the
class. `replay` then simulates the method on them exactly, so that nothing here has to be trusted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.worst_cases.certificates.certificate import is_positive_semidefinite
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, Form, Vectors, of_group
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    ClientGroups,
    FunctionClass,
    SimilarClients,
)
from fedconvex.proofs_checks.worst_cases.questions.question import Question

BITS = 40  # of rounded entries
INSIDE = Fraction(1, 2**36)  # share of the middle curvature mixed in, so that rounding does not leave the class
NEGLIGIBLE = 1e-7  # relative: smaller eigenvalues of a Gram matrix are the solver's noise


@final
@dataclass(frozen=True, eq=False)
class AttainingFederation:
    """Quadratic clients F_k(x) = ½xᵀH_k x − c_kᵀx, where the method starts, and what inexact answers leave."""

    problem: Quadratic
    start: np.ndarray  # (m, d): the server's point in every row, or each client's own
    residuals: tuple[np.ndarray, ...] = ()  # (m, d) in every round, where answers are inexact
    variance: Fraction = Fraction(0)  # σ² of every client's gradients, where these have noise


def quadratics(question: Question, proposal: Proposal) -> Iterator[AttainingFederation]:
    """Quadratics of the class nearly through the proposal's points, if they are found; none for client groups."""
    if isinstance(question.spec.clients, ClientGroups) or not all(np.isfinite(gram).all() for gram in proposal.grams):
        return
    board, functions = question.board, question.spec.clients
    coordinates = _coordinates(question, proposal.grams)
    clients = board.representatives
    low, high = map(float, functions.ends)
    hessians, linear = [], []
    fits = []
    for k in clients:
        at = [(_of(e.point, coordinates, k), _of(e.gradient, coordinates, k)) for e in board.evaluations]
        (base, slope), *others = at  # quadratics are fitted to differences from the first point
        X = np.column_stack([point - base for point, _ in others])
        G = np.column_stack([gradient - slope for _, gradient in others])
        fits.append((_fitted_hessian(X, G, low, high), base, slope))
    for H, (_, base, slope) in zip(_similar(functions, [H for H, _, _ in fits]), fits, strict=True):
        hessians.append(_rational_hessian(H, functions))
        linear.append(_rational(H @ base - slope))
    found = [H for H in hessians if H is not None]
    if len(found) < len(hessians):
        return
    if board.minimiser:  # rounding moved the mean of the gradients there, which must be 0 exactly
        centre = sum(linear[1:], start=linear[0]) / Fraction(len(clients))
        linear = [c - centre for c in linear]
    starts = [_rational(_of(question.start, coordinates, k)) for k in clients]
    problem = Quadratic(found, linear)
    left = tuple(np.stack([_rational(_of(r.left, coordinates, k)) for k in clients]) for r in board.residuals)
    yield AttainingFederation(problem, np.stack(starts), left)


def points_of_clients(
    question: Question, grams: Sequence[np.ndarray], values: Mapping[str, float]
) -> tuple[Any, Any, Any, np.ndarray, tuple[np.ndarray, ...]]:
    """From Gram matrices and values: points and gradients (m, n, d), values (m, n), starts (m, d), residuals (m, d)."""
    coordinates, board = _coordinates(question, grams), question.board
    clients, found = board.representatives, board.evaluations
    points = [[_of(e.point, coordinates, k) for e in found] for k in clients]
    gradients = [[_of(e.gradient, coordinates, k) for e in found] for k in clients]
    client_values = [[_number(board.mean_value(e, group), coordinates, values) for e in found] for group, _ in clients]
    left = tuple(np.stack([_of(r.left, coordinates, k) for k in clients]) for r in board.residuals)
    return points, gradients, client_values, np.stack([_of(question.start, coordinates, k) for k in clients]), left


def _number(form: Form, coordinates: dict[Any, np.ndarray], values: Mapping[str, float]) -> float:
    """The value of a form; a function value that occurs in no inequality is arbitrary, and taken to be 0."""
    products = (float(c) * coordinates[a] @ coordinates[b] for (a, b), c in form.products.items())
    return float(sum(products) + sum(float(c) * values.get(name, 0.0) for name, c in form.values.items()))


def _coordinates(question: Question, grams: Sequence[np.ndarray]) -> dict[Any, np.ndarray]:
    """Coordinates of every basic vector, by factoring the Gram matrices; vectors that occur in no form are 0.

    Each part has coordinates of its own, since parts are orthogonal.
    """
    program = question.program
    sizes = [len(seen) for seen in program.seen]
    total, offset = sum(sizes), 0
    found: dict[Any, np.ndarray] = {}
    for block, seen, gram in zip(program.blocks, program.seen, grams, strict=True):
        values, vectors = np.linalg.eigh(gram)
        values[values < NEGLIGIBLE * max(values.max(), 1e-300)] = 0
        factor = vectors * np.sqrt(values)
        for place, key in enumerate(block):
            found[key] = np.zeros(total)
            if place in seen:
                found[key][offset : offset + len(seen)] = factor[seen.index(place)]
        offset += len(seen)
    for key, u in question.eliminated:
        found[key] = sum((float(c) * found.get(k, np.zeros(total)) for k, c in u.parts.items()), np.zeros(total))
    return found


def _of(u: Vectors, coordinates: dict[Any, np.ndarray], client: tuple[int | None, int]) -> np.ndarray:
    """The vector of one of the board's representatives; the second of two has the opposite deviation."""
    group, sign = client
    total = np.zeros(len(next(iter(coordinates.values()))))
    for key, c in of_group(u, group).parts.items():
        if key in coordinates:
            total = total + (sign if key[0].startswith(DEVIATION) else 1) * float(c) * coordinates[key]
    return total


def _fitted_hessian(X: np.ndarray, G: np.ndarray, low: float, high: float) -> np.ndarray:
    """A symmetric H with HX ≈ G and eigenvalues between low and high.

    Shifted by the middle, H is a contraction times the radius; Parrott's theorem completes it off the range of X.
    """
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


def _similar(functions: FunctionClass, hessians: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The Hessians, as near to their mean as the class demands."""
    if not isinstance(functions, SimilarClients):
        return hessians
    centre = np.mean(hessians, axis=0)
    farthest = max(float(np.linalg.norm(H - centre, 2)) for H in hessians)
    part = min(1.0, (1 - 1e-9) * float(functions.delta) / farthest) if farthest > 0 else 1.0
    return [centre + part * (H - centre) for H in hessians]


def _rational_hessian(H: np.ndarray, functions: FunctionClass) -> np.ndarray | None:
    """H rounded and moved into the class; None where it lies outside all the same."""
    low, high = functions.ends
    middle = (low + high) / 2
    rounded = _rational((H + H.T) / 2)
    identity = _rational(np.eye(len(H)))
    pulled = rounded * (1 - INSIDE) + identity * (middle * INSIDE)
    below, above = pulled - identity * low, identity * high - pulled
    inside = is_positive_semidefinite(below.tolist()) and is_positive_semidefinite(above.tolist())
    return pulled if inside else None


def _rational(array: np.ndarray) -> np.ndarray:
    """Entries rounded to BITS binary places."""
    rounded: np.ndarray = np.vectorize(lambda x: Fraction(round(float(x) * 2**BITS), 2**BITS), otypes=[object])(array)
    return rounded
