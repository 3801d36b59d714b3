"""The asymptotic convergence rate of a method: the spectral radius of the derivative of one round (NUMERIC)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedconvex import memory
from fedconvex.arithmetic.rationals import Array
from fedconvex.methods.base import State
from fedconvex.runs.rounds import Rounds

MAX_KRYLOV = 300
EVERY = 5  # after so many new vectors the eigenvalues are computed again
RELATIVE_CHANGE = 1e-9  # of the radius, by the last `EVERY` vectors
SYMMETRIC = 1e-13  # entries of a matrix that differ from its transpose's by this part of the largest do so by rounding
STILL = 1e-9  # a spectral radius this near 1 may come from directions along which rounds do not move the point
FLAT = 1e-12  # a singular value below this fraction of the largest counts as 0
FORMED_ENTRIES = 20_000_000  # Hessian entries held in memory at once (8 bytes each)


@dataclass(frozen=True)
class SpectralRadius:
    """A numeric spectral radius; `settled` is False where it still changed with the last Krylov vectors."""

    value: float
    settled: bool


def spectral_radius(rounds: Rounds, state: State, seed: int = 0) -> SpectralRadius:
    """The spectral radius of the derivative of one round at `state` (NUMERIC).

    Use it to predict the linear convergence rate near a fixed point. It runs Arnoldi's method from a random change of
    the server's first point, so that only eigenvalues count which some start excites.
    """
    with rounds.arithmetic.context():
        return _arnoldi(rounds, state, seed)


def matrix_of(linear: Callable[[Array], Array], identity: Array) -> Array:
    """The matrix of a linear map, from the rows of the identity."""
    return np.stack([linear(e) for e in identity], axis=1)


def slowest(rounds: Rounds, state: State, seed: int = 0) -> SpectralRadius:
    """The spectral radius on the complement of the directions along which no client's gradient changes (NUMERIC).

    Use it where the minimiser is not unique: rounds never move along these directions, whose eigenvalue is 1, and the
    distance from the fixed point that a run approaches shrinks by this factor.
    """
    found = spectral_radius(rounds, state, seed)
    if abs(found.value - 1) > STILL:
        return found
    with rounds.arithmetic.context():
        flat = _flat_directions(rounds, state.server)
        return _arnoldi(rounds, state, seed, flat) if len(flat) else found


def _flat_directions(rounds: Rounds, x: np.ndarray) -> np.ndarray:
    """An orthonormal basis (j, d) of the common kernel of all clients' Hessians at x, up to rounding."""
    dim = len(x)
    if rounds.clients.num_clients * dim**2 > FORMED_ENTRIES:
        return np.empty((0, dim))
    stacked = np.asarray(rounds.clients.hessians(rounds.arithmetic.repeat(x, rounds.clients.num_clients)))
    _, singular, right = np.linalg.svd(np.linalg.qr(stacked.reshape(-1, dim), mode="r"))
    return np.asarray(right[singular <= FLAT * singular[0]])


def _arnoldi(rounds: Rounds, state: State, seed: int, without: np.ndarray | None = None) -> SpectralRadius:
    """Arnoldi's method on states, with the orthonormal directions `without` (j, d) projected out of every point."""

    def projected(values: np.ndarray) -> np.ndarray:
        if without is None:
            return values
        points = values.reshape(-1, without.shape[1])
        return np.asarray((points - points @ without.T @ without).ravel())

    derivative = rounds.tangent(state)
    start = rounds.start(np.random.default_rng(seed).standard_normal(len(state.server)))
    v = projected(start.flat())
    if without is not None and len(without) == len(state.server):
        return SpectralRadius(1.0, settled=True)  # nothing is left: no round moves any point
    Q = (v / np.linalg.norm(v))[None]  # the basis in its first rows, with room for more
    H = np.zeros((MAX_KRYLOV + 1, MAX_KRYLOV))
    radius = 0.0
    for j in range(MAX_KRYLOV):
        w = projected(derivative(state.with_values(Q[j])).flat())
        before = float(np.linalg.norm(w))
        if j & (j + 1) == 0:  # 1, 2, 4, … vectors: most runs need few of the most that are allowed
            room = min(2 * (j + 1), MAX_KRYLOV + 1)
            memory.require(2 * room * v.nbytes, "problem", rounds.problem, f"a basis of {room} states")
            Q = np.concatenate([Q, np.empty((room - len(Q), len(v)))])
        for _ in range(2):  # orthogonalise twice: once is not enough in floating point
            projection = Q[: j + 1] @ w
            w = w - projection @ Q[: j + 1]
            H[: j + 1, j] += projection
        H[j + 1, j] = np.linalg.norm(w)
        invariant = H[j + 1, j] <= 1e-13 * max(before, 1e-300) or j + 1 == len(v)
        if invariant or (j + 1) % EVERY == 0:  # eigenvalues cost more than the vectors do
            previous, radius = radius, _largest_modulus(H[: j + 1, : j + 1])
            if invariant or abs(radius - previous) <= RELATIVE_CHANGE * radius:
                return SpectralRadius(radius, settled=True)  # an invariant Krylov space has eigenvalues of the map
        Q[j + 1] = w / H[j + 1, j]
    return SpectralRadius(radius, settled=False)


def _largest_modulus(square: np.ndarray) -> float:
    """The largest |eigenvalue|; of means of symmetric matrices, in a few methods' rounds, at a fraction of the cost."""
    symmetric = abs(square - square.T).max() <= SYMMETRIC * abs(square).max()
    found = np.linalg.eigvalsh((square + square.T) / 2) if symmetric else np.linalg.eigvals(square)
    return float(max(abs(found)))
