"""Extreme curvatures of the clients' functions at one point, by Lanczos' method on Hessian-vector products."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.rationals import Array
from fedconvex.problems.base import Clients
from fedconvex.randomness import Purpose, stream

NUMBERS_AT_ONCE = 50_000_000  # of Lanczos vectors held at a time
BREAKDOWN = 1e-10  # a vector this short, relative to the curvatures, has left the space that the start spans


@final
@dataclass(frozen=True, eq=False)
class MeasuredCurvature:
    """Every client's extreme curvatures as found, and how far from a true eigenvalue each may be; (m,) arrays.

    An eigenvalue lies within `error` of each number. The true extremes are not inside: lowest is at least the least
    eigenvalue, highest at most the largest, less rounding; more steps bring them nearer.
    """

    lowest: np.ndarray
    highest: np.ndarray
    lowest_error: np.ndarray
    highest_error: np.ndarray

    @property
    def smoothness(self) -> float:
        """The largest |curvature| that was found of any client: L, or a little less."""
        return float(np.maximum(abs(self.lowest), abs(self.highest)).max())

    @property
    def smoothness_error(self) -> float:
        """The error bar of `smoothness`."""
        largest = np.maximum(abs(self.lowest), abs(self.highest))
        k = int(largest.argmax())
        return float(self.highest_error[k] if abs(self.highest[k]) == largest[k] else self.lowest_error[k])

    @property
    def weak_convexity(self) -> float:
        """L_minus: how negative curvature gets, 0 where none was found."""
        return max(0.0, -float(self.lowest.min()))

    @property
    def least(self) -> float:
        """The least curvature that was found of any client."""
        return float(self.lowest.min())


def curvature(
    clients: Clients,
    point: Array,
    steps: int = 20,
    seed: int = 0,
    everyones: Callable[[np.ndarray], np.ndarray] = lambda own: own,
) -> MeasuredCurvature:
    """Of every F_k at a (d,) point, with `steps` Hessian-vector products each.

    All clients start from the same random vector, which the seed alone decides. everyones: makes the numbers of all
    clients from those of the clients here, where they are shared out among processes.
    """
    probe = stream(seed, Purpose.PROBES).normal(size=clients.dim)
    start = clients.arithmetic.array(probe / np.linalg.norm(probe))
    parts = [
        _lanczos(clients.subset(members), point, start, min(steps, clients.dim)) for members in _parts(clients, steps)
    ]
    return MeasuredCurvature(*(everyones(np.concatenate(found)) for found in zip(*parts, strict=True)))


def _parts(clients: Clients, steps: int) -> Iterator[np.ndarray]:
    at_once = max(1, NUMBERS_AT_ONCE // (steps * clients.dim))
    for begin in range(0, clients.num_clients, at_once):
        yield np.arange(begin, min(begin + at_once, clients.num_clients))


def _lanczos(clients: Clients, point: Array, start: Array, steps: int) -> tuple[np.ndarray, ...]:
    """(lowest, highest, their errors), (K,) each; the basis is orthogonalised against itself twice."""
    K, number = clients.num_clients, clients.arithmetic.to_float
    basis = [clients.rows(start)]
    diagonal, beside = np.zeros((K, steps)), np.zeros((K, steps))
    for j in range(steps):
        image: Any = clients.hessian_products(point, basis[j])
        diagonal[:, j] = number((image * basis[j]).sum(-1))
        for _ in range(2):
            for vector in basis:
                image = image - (image * vector).sum(-1)[:, None] * vector
        length = number((image * image).sum(-1)) ** 0.5
        size = np.maximum(abs(diagonal[:, : j + 1]).max(1), beside[:, :j].max(1, initial=0))
        ended = length <= BREAKDOWN * size
        beside[:, j] = np.where(ended, 0.0, length)
        # a space that is left is left for good: zero vectors from there on, see below
        scale = np.where(ended, 0.0, 1 / np.where(ended, 1.0, length))
        basis.append(image * clients.arithmetic.array(scale)[:, None])
    return _extremes(diagonal, beside)


def _extremes(diagonal: np.ndarray, beside: np.ndarray) -> tuple[np.ndarray, ...]:
    K, steps = diagonal.shape
    ended = np.cumprod(np.concatenate([np.ones((K, 1)), beside[:, :-1] > 0], 1), 1) == 0
    # behind a breakdown the first Rayleigh quotient again and again: inside the range of those found
    diagonal = np.where(ended, diagonal[:, :1], diagonal)
    beside = np.where(ended, 0.0, beside)
    T = np.zeros((K, steps, steps))
    places = np.arange(steps)
    T[:, places, places] = diagonal
    T[:, places[1:], places[:-1]] = T[:, places[:-1], places[1:]] = beside[:, :-1]
    values, vectors = np.linalg.eigh(T)
    errors = abs(beside[:, -1:] * vectors[:, -1, :])
    return values[:, 0], values[:, -1], errors[:, 0], errors[:, -1]
