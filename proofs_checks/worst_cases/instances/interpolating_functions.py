"""Smooth functions through given points, with given gradients and values: worst cases that no quadratic attains.

Of all convex M-smooth functions with h(x_i) = h_i and ∇h(x_i) = g_i, if there is one, this is the largest (Drori 2018,
Theorem 1; Taylor, Hendrickx and Glineur 2017):

    h(x) = min over α >= 0 with Σα_i = 1 of (M/2)‖x − Σ_i α_i y_i‖² + Σ_i α_i v_i,

with y_i = x_i − g_i/M and v_i = h_i − ‖g_i‖²/(2M). With curvatures from ℓ to L it is h(x) + (ℓ/2)‖x‖², M = L − ℓ.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Clients, Problem, Subproblem

STEPS = 200  # of the active-set method, far more than it needs
ROUNDING = 1e-13  # relative: smaller slopes and eigenvalues count as 0


@final
@dataclass(frozen=True, eq=False)
class Interpolating(Problem):
    """A problem whose clients interpolate points, in floating point.

    Use it to simulate a method on a worst case that was found as Gram matrices (`WorstCase.federation`). `anchors`
    (m, n, d) are the y_i, `offsets` (m, n) the v_i; curvatures lie between `lowest` and `highest`, (m,).
    """

    anchors: np.ndarray
    offsets: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    exact_weights: tuple[Fraction, ...]

    @classmethod
    def through(
        cls, points: Any, gradients: Any, values: Any, lowest: Any, highest: Any, weights: Sequence[Fraction]
    ) -> "Interpolating":
        """The clients with points and gradients (m, n, d), values (m, n), and curvatures between (m,) and (m,)."""
        X, F = np.asarray(points, dtype=float), np.asarray(values, dtype=float)
        low, high = (np.asarray(ends, dtype=float) for ends in (lowest, highest))
        M, slopes = (high - low)[:, None], np.asarray(gradients, dtype=float) - low[:, None, None] * X
        offsets = F - low[:, None] / 2 * (X**2).sum(-1) - (slopes**2).sum(-1) / (2 * M)
        return cls(X - slopes / M[:, None], offsets, low, high, tuple(weights))

    def of(self, clients: list[int]) -> "Interpolating":
        """The clients with these numbers, with repetitions if these repeat, and equal weights."""
        weights = (Fraction(1, len(clients)),) * len(clients)
        anchors, offsets, low, high = (x[clients] for x in (self.anchors, self.offsets, self.lowest, self.highest))
        return Interpolating(anchors, offsets, low, high, weights)

    @property
    def dim(self) -> int:
        return int(self.anchors.shape[2])

    @property
    def L(self) -> np.ndarray:
        return np.asarray(np.maximum(self.highest, -self.lowest))

    @property
    def mu(self) -> np.ndarray:
        return self.lowest

    def smoothness_bound(self, k: int) -> Scalar:
        import flint

        return flint.arb(float(self.L[k]))

    def strong_convexity_bound(self, k: int) -> Scalar:
        import flint

        return flint.arb(float(self.lowest[k]))

    @property
    def is_convex(self) -> bool:
        return bool((self.lowest >= 0).all())

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        if arithmetic.name != "float":
            raise InvalidInput("arithmetic", arithmetic.name, "cannot evaluate interpolating functions", "give 'float'")
        return _InterpolatingClients(arithmetic, self, np.arange(self.num_clients))


@final
class _InterpolatingClients(Clients):
    """Some of the problem's clients, with equal weights, so that all scales are 1."""

    def __init__(self, arithmetic: Arithmetic, problem: Interpolating, numbers: np.ndarray) -> None:
        self.arithmetic, self.problem, self.numbers = arithmetic, problem, numbers
        self.num_clients, self.dim = len(numbers), problem.dim

    def values(self, X: Array) -> Array:
        low = self.problem.lowest
        return np.array([self._nearest(k, x, 0.0)[1] + low[k] / 2 * (x @ x) for k, x in self._each(X)])

    def differences(self, X: Array, reference: Array) -> Array:
        return self.values(X) - self.values(reference)

    def gradients(self, X: Array) -> Array:
        low, M = self.problem.lowest, self._stiffness
        return np.array([M[k] * (x - self._nearest(k, x, 0.0)[0]) + low[k] * x for k, x in self._each(X)])

    def minimise(self, subproblem: Subproblem) -> Array:
        weight = float(subproblem.weight)
        right = subproblem.right_side(np.zeros((self.num_clients, self.dim)))
        answers = []
        for k, r in zip(self.numbers, right, strict=True):
            # For given α the minimising x is (M·Σα_i y_i + r)/(M + bend); inserted, the distance is softer by M/bend.
            bend, M = self.problem.lowest[k] + weight, self._stiffness[k]
            place, _ = self._nearest(k, r / bend, M / bend)
            answers.append((M * place + r) / (M + bend))
        return np.array(answers)

    def hessians(self, X: Array) -> Batch:
        raise InvalidInput(
            "problem", "interpolating functions", "have no second derivatives", "use first-order methods"
        )

    def hessian_products(self, X: Array, V: Array) -> Array:
        raise InvalidInput(
            "problem", "interpolating functions", "have no second derivatives", "use first-order methods"
        )

    def subset(self, members: np.ndarray) -> Clients:
        return _InterpolatingClients(self.arithmetic, self.problem, self.numbers[members])

    @cached_property
    def _stiffness(self) -> np.ndarray:
        return np.asarray(self.problem.highest - self.problem.lowest)

    def _each(self, X: Array) -> Any:
        return zip(self.numbers, self.rows(X), strict=True)

    def _nearest(self, k: int, x: np.ndarray, softness: float) -> tuple[np.ndarray, float]:
        """Σα_i y_i for the α that minimise (M/2)/(1 + softness)·‖x − Σα_i y_i‖² + Σα_i v_i, and the least value.

        The softness is 0 for values and gradients at x; minimising a subproblem over x leaves a softer distance.
        """
        Y, v = self.problem.anchors[k], self.problem.offsets[k]
        stiffness = float(self._stiffness[k] / (1 + softness))
        alpha = simplex_minimiser(stiffness * Y @ Y.T, v - stiffness * Y @ x)
        place = alpha @ Y
        return place, float(stiffness / 2 * ((x - place) ** 2).sum() + alpha @ v)


def simplex_minimiser(P: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The minimiser α of ½αᵀPα + qᵀα over the simplex, P positive semidefinite, by an active-set method."""
    alpha = np.zeros(len(q))
    free = [int(np.argmin(np.diag(P) / 2 + q))]
    alpha[free[0]] = 1.0
    scale = float(np.abs(P).max() + np.abs(q).max()) or 1.0
    for _ in range(STEPS):
        slopes = P @ alpha + q
        direction = _direction(P[np.ix_(free, free)], slopes[free], ROUNDING * scale)
        if direction is None:
            # At a minimum on the free variables: a variable at 0 with a smaller slope enters, or this is the optimum.
            entering = int(np.argmin(slopes))
            if slopes[entering] >= slopes @ alpha - ROUNDING * scale or entering in free:
                break
            free.append(entering)
            continue
        step, most = direction
        ratios = np.where(step < 0, alpha[free] / np.where(step < 0, -step, 1.0), np.inf)
        first = int(np.argmin(ratios))
        alpha[free] += min(most, ratios[first]) * step
        if ratios[first] <= most:
            alpha[free[first]] = 0.0
            free.pop(first)
    alpha /= alpha.sum()
    return alpha


def _direction(P: np.ndarray, slopes: np.ndarray, zero: float) -> tuple[np.ndarray, float] | None:
    """A descent direction that keeps the sum, and the longest useful step; None at a minimum on the free variables."""
    n = len(slopes)
    # Columns of Z span the directions that keep the sum of α.
    Z = np.linalg.svd(np.ones((1, n)))[2][1:].T
    values, vectors = np.linalg.eigh(Z.T @ P @ Z) if n > 1 else (np.zeros(0), np.zeros((0, 0)))
    along = vectors.T @ (Z.T @ slopes)
    flat = values <= zero
    # Along a flat direction the function falls without end, until a variable becomes 0.
    if np.abs(along[flat]).max(initial=0.0) > zero:
        return Z @ (vectors[:, flat] @ -along[flat]), np.inf
    if np.abs(along).max(initial=0.0) <= zero:
        return None
    return Z @ (vectors[:, ~flat] @ (-along[~flat] / values[~flat])), 1.0
