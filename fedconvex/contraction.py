"""How fast a method converges in the end: the spectral radius of the derivative of one round."""

from dataclasses import dataclass

import numpy as np

from fedconvex.methods.base import State
from fedconvex.rounds import Rounds

MAX_KRYLOV = 300
RELATIVE_CHANGE = 1e-9


@dataclass(frozen=True)
class SpectralRadius:
    """A numeric spectral radius; `settled` says whether more Krylov vectors would still have changed it."""

    value: float
    settled: bool


def spectral_radius(rounds: Rounds, state: State, seed: int = 0) -> SpectralRadius:
    """The largest modulus of the eigenvalues of one round's derivative at `state` (NUMERIC).

    Arnoldi's method, started from a random change of the server's first point: only what a start can excite counts.
    """
    with rounds.arithmetic.context():
        return _arnoldi(rounds, state, seed)


def _arnoldi(rounds: Rounds, state: State, seed: int) -> SpectralRadius:
    derivative = rounds.tangent(state)
    start = rounds.start(np.random.default_rng(seed).standard_normal(len(state.server)))
    v = start.flat()
    basis = [v / np.linalg.norm(v)]
    H = np.zeros((MAX_KRYLOV + 1, MAX_KRYLOV))
    radius, settled_for = 0.0, 0
    for j in range(MAX_KRYLOV):
        w = derivative(state.with_values(basis[j])).flat()
        before = float(np.linalg.norm(w))
        Q = np.stack(basis)
        for _ in range(2):  # orthogonalise twice: once is not enough in floating point
            projection = Q @ w
            w = w - projection @ Q
            H[: j + 1, j] += projection
        H[j + 1, j] = np.linalg.norm(w)
        previous, radius = radius, float(max(abs(np.linalg.eigvals(H[: j + 1, : j + 1]))))
        if H[j + 1, j] <= 1e-13 * max(before, 1e-300) or j + 1 == len(v):
            return SpectralRadius(radius, settled=True)  # the Krylov space is invariant: nothing is left out
        settled_for = settled_for + 1 if abs(radius - previous) <= RELATIVE_CHANGE * radius else 0
        if settled_for >= 5:
            return SpectralRadius(radius, settled=True)
        basis.append(w / H[j + 1, j])
    return SpectralRadius(radius, settled=False)
