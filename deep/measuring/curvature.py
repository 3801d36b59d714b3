"""Extreme eigenvalues of the clients' Hessians at one point, by Lanczos' method on Hessian-vector products.

SciPy's `eigsh` iterates one matrix on the host; here the Hessians of all clients are iterated at once, on the device.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.problems.base import Clients
from fedconvex.randomness import Purpose, stream

NUMBERS_AT_ONCE = 50_000_000  # entries of Lanczos vectors in memory
BREAKDOWN = 1e-10  # a residual this small, relative to the curvatures, means that the Krylov space is invariant


@final
@dataclass(frozen=True, eq=False)
class MeasuredCurvature:
    """Estimates of every client's least and largest Hessian eigenvalue, with error bars; (m,) arrays.

    Some eigenvalue lies within the error of each estimate, but it need not be the extreme one: up to rounding, `lowest`
    is an upper bound on the least eigenvalue and `highest` a lower bound on the largest. More steps bring them nearer.
    """

    lowest: np.ndarray
    highest: np.ndarray
    lowest_error: np.ndarray
    highest_error: np.ndarray

    @property
    def smoothness(self) -> float:
        """The largest |eigenvalue| found for any client: L, or a little less."""
        return float(np.maximum(abs(self.lowest), abs(self.highest)).max())

    @property
    def smoothness_error(self) -> float:
        """The error bar of `smoothness`."""
        largest = np.maximum(abs(self.lowest), abs(self.highest))
        k = int(largest.argmax())
        return float(self.highest_error[k] if abs(self.highest[k]) == largest[k] else self.lowest_error[k])

    @property
    def weak_convexity(self) -> float:
        """L_minus: the absolute value of the most negative eigenvalue found, 0 if none is negative."""
        return max(0.0, -float(self.lowest.min()))

    @property
    def least(self) -> float:
        """The least eigenvalue found for any client."""
        return float(self.lowest.min())

    @property
    def least_error(self) -> float:
        """The error bar of `least`, and of `weak_convexity`."""
        return float(self.lowest_error[int(self.lowest.argmin())])

    @property
    def widened_smoothness(self) -> float:
        """The largest |eigenvalue| that the error bars allow."""
        low, high = abs(self.lowest) + self.lowest_error, abs(self.highest) + self.highest_error
        return float(np.maximum(low, high).max())

    @property
    def widened_least(self) -> float:
        """The least eigenvalue that the error bars allow."""
        return float((self.lowest - self.lowest_error).min())


def curvature(
    clients: Clients,
    point: Array,
    steps: int = 20,
    seed: int = 0,
    everyones: Callable[[np.ndarray], np.ndarray] = lambda own: own,
) -> MeasuredCurvature:
    """Estimate the extreme curvatures of every F_k at a point (d,), or at its own of points (m, d).

    It takes `steps` Hessian-vector products of each client.

    Use it for L and L_minus of networks, of which no bound is known; problems of the core have exact bounds.

    All clients start from the same random vector, which depends on the seed alone. everyones: with several processes,
    turns the numbers of this process's clients into those of all clients.
    """
    probe = stream(seed, Purpose.PROBES).normal(size=clients.dim)
    start = clients.arithmetic.array(probe / np.linalg.norm(probe))
    with np.errstate(over="ignore", invalid="ignore"):  # at the answers of clients that diverge: see `_extremes`
        parts = [
            _lanczos(clients.subset(part), point if point.ndim == 1 else point[part], start, min(steps, clients.dim))
            for part in _parts(clients, steps)
        ]
    return MeasuredCurvature(*(everyones(np.concatenate(found)) for found in zip(*parts, strict=True)))


def between(
    clients: Clients, points: Sequence[Array], rounding: float, everyones: Callable[[np.ndarray], np.ndarray]
) -> tuple[float, float]:
    """What gradients and values at some points say of the curvatures between them: L ≥ the first, least ≤ the second.

    With Δ = b − a, of each two points: ‖∇F_k(b) − ∇F_k(a)‖ ≤ L‖Δ‖, the curvatures' mean on the way between is
    ⟨∇F_k(b) − ∇F_k(a), Δ⟩/‖Δ‖², and a weighted one is 2(F_k(b) − F_k(a) − ⟨∇F_k(a), Δ⟩)/‖Δ‖². Points whose distance
    is within rounding say nothing. rounding: relative, of values.
    """
    largest, least = np.zeros(clients.num_clients), np.full(clients.num_clients, np.inf)
    with np.errstate(all="ignore"):
        for part in _parts(clients, 2 * len(points)):
            some = clients.subset(part)
            at = [some.rows(point) if point.ndim == 1 else point[part] for point in points]
            known = [(x, some.gradients(x), clients.arithmetic.to_float(some.values(x))) for x in at]
            for one, other in permutations(known, 2):
                high, low = _secants(clients, one, other, rounding)
                largest[part], least[part] = np.maximum(largest[part], high), np.minimum(least[part], low)
    return float(everyones(largest).max()), float(everyones(least).min())


Known = tuple[Any, Any, np.ndarray]  # points, gradients (K, d), values (K,)


def _secants(clients: Clients, one: Known, other: Known, rounding: float) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of `between` from the way from one point to the other, of every client."""

    def product(x: Any, y: Any) -> np.ndarray:
        found: np.ndarray = clients.arithmetic.to_float((x * y).sum(-1))
        return found

    (a, slope, f), (b, turned, g) = one, other
    way, turn = b - a, turned - slope
    square = product(way, way)
    error = 2 * rounding * (abs(f) + abs(g)) / square
    weighted, mean = 2 * (g - f - product(slope, way)) / square, product(turn, way) / square
    high = np.maximum(abs(weighted) - error, product(turn, turn) ** 0.5 / square**0.5)
    low = np.minimum(weighted + error, mean)
    apart = square > rounding * (product(a, a) + product(b, b))
    known = apart & np.isfinite(high) & np.isfinite(low)
    return np.where(known, high, 0.0), np.where(known, low, np.inf)


def _parts(clients: Clients, steps: int) -> Iterator[np.ndarray]:
    at_once = max(1, NUMBERS_AT_ONCE // (steps * clients.dim))
    for begin in range(0, clients.num_clients, at_once):
        yield np.arange(begin, min(begin + at_once, clients.num_clients))


def _lanczos(clients: Clients, point: Array, start: Array, steps: int) -> tuple[np.ndarray, ...]:
    """(lowest, highest, their errors), (K,) each."""
    K, number = clients.num_clients, clients.arithmetic.to_float
    basis = [clients.rows(start)]
    diagonal, off_diagonal = np.zeros((K, steps)), np.zeros((K, steps))
    hessian = clients.hessian_map(point)
    for j in range(steps):
        image: Any = hessian(basis[j])
        diagonal[:, j] = number((image * basis[j]).sum(-1))
        for _ in range(2):  # full reorthogonalisation; done twice, it is orthogonal to rounding
            for vector in basis:
                image = image - (image * vector).sum(-1)[:, None] * vector
        length = number((image * image).sum(-1)) ** 0.5
        size = np.maximum(abs(diagonal[:, : j + 1]).max(1), off_diagonal[:, :j].max(1, initial=0))
        ended = length <= BREAKDOWN * size
        off_diagonal[:, j] = np.where(ended, 0.0, length)
        # After a breakdown all later vectors are 0, and so are their entries of the matrix: see `_extremes`.
        scale = np.where(ended, 0.0, 1 / np.where(ended, 1.0, length))
        basis.append(image * clients.arithmetic.array(scale)[:, None])
    return _extremes(diagonal, off_diagonal)


def _extremes(diagonal: np.ndarray, off_diagonal: np.ndarray) -> tuple[np.ndarray, ...]:
    """Extreme eigenvalues of the K tridiagonal matrices, and the residuals of their eigenvectors as errors."""
    K, steps = diagonal.shape
    ended = np.cumprod(np.concatenate([np.ones((K, 1)), off_diagonal[:, :-1] > 0], 1), 1) == 0
    # Entries after a breakdown are replaced by the first Rayleigh quotient, which lies between the extremes: a 0 there
    # could be taken for an eigenvalue.
    diagonal = np.where(ended, diagonal[:, :1], diagonal)
    off_diagonal = np.where(ended, 0.0, off_diagonal)
    T = np.zeros((K, steps, steps))
    places = np.arange(steps)
    T[:, places, places] = diagonal
    T[:, places[1:], places[:-1]] = T[:, places[:-1], places[1:]] = off_diagonal[:, :-1]
    finite: Any = np.isfinite(T).all((1, 2))
    values, vectors = np.linalg.eigh(np.where(finite[:, None, None], T, 0.0))
    # Where the products overflow, as at the answers of diverging clients, no number bounds the curvature.
    # ‖Hy − θy‖ = |β_steps · (last entry of the eigenvector)|, and an eigenvalue of H lies within the residual.
    errors = np.where(finite[:, None], abs(off_diagonal[:, -1:] * vectors[:, -1, :]), 0.0)
    lowest, highest = np.where(finite, values[:, 0], -np.inf), np.where(finite, values[:, -1], np.inf)
    return lowest, highest, errors[:, 0], errors[:, -1]
