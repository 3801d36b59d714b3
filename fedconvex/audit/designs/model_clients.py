"""Quadratic clients that evaluate many points at once, so that one call of a method's code maps many states."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.batches import one_by_one
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.problems.base import Clients
from fedconvex.problems.subproblem import Subproblem


@dataclass(eq=False)
class ModelClients(Clients):
    """The clients' models on B points at once: a point has d·B numbers, those of its first unknown first."""

    arithmetic: Arithmetic
    H: np.ndarray  # (K, d, d)
    g: np.ndarray  # (K, d)
    driven: np.ndarray  # (B,)
    _matrices: dict[tuple[int, float, float], np.ndarray] = field(default_factory=dict)  # by steps, stepsize, weight

    def __post_init__(self) -> None:
        self.num_clients, self.dim = len(self.H), self.H.shape[1] * len(self.driven)

    def gradients(self, X: Array) -> Array:
        return self.times(self.H, self.rows(X)) + self._pushed

    def minimise(self, subproblem: Subproblem) -> Array:
        right = -self._pushed
        if subproblem.center is not None:
            right = right + subproblem.weight * subproblem.center
        if subproblem.linear is not None:
            right = right - subproblem.linear
        return self.times(self.resolvents(right, subproblem.weight), right)

    def resolvents(self, X: Array, weight: Scalar) -> Batch:
        key = (0, 0.0, float(weight))
        if key not in self._matrices:
            self._matrices[key] = one_by_one(np.linalg.inv, self.H + float(weight) * np.eye(self.H.shape[1]))
        return self._matrices[key]

    def hessians(self, X: Array) -> Batch:
        return self.H

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.times(self.H, self.rows(V))

    def step_sums(self, steps: int, stepsize: float, weight: float) -> np.ndarray:
        """s Σ_{j<e} M^j of every client with M = I − s(H + weight·I), by doubling e."""
        key = (steps, stepsize, weight)
        if key not in self._matrices:
            identity = np.eye(self.H.shape[1])
            M = identity - stepsize * (self.H + weight * identity)
            total, power = np.zeros_like(M), np.broadcast_to(identity, M.shape)
            for bit in bin(steps)[2:]:
                total, power = total + power @ total, power @ power  # twice as many steps
                if bit == "1":
                    total, power = total + power, power @ M
            self._matrices[key] = stepsize * total
        return self._matrices[key]

    def subset(self, members: np.ndarray) -> "ModelClients":
        kept = {key: matrices[members] for key, matrices in self._matrices.items()}
        return ModelClients(self.arithmetic, self.H[members], self.g[members], self.driven, kept)

    def values(self, X: Array) -> Array:
        X = self.rows(X)
        return np.asarray((X * (self.times(self.H, X) / 2 + self._pushed)).sum(-1))

    def differences(self, X: Array, reference: Array) -> Array:
        return self.values(X) - self.values(reference)

    @cached_property
    def _pushed(self) -> np.ndarray:
        return np.asarray((self.g[:, :, None] * self.driven).reshape(len(self.g), -1))

    def times(self, matrices: np.ndarray, X: np.ndarray) -> np.ndarray:
        """A matrix (d, d) of every client applied to its B points."""
        return np.asarray(np.matmul(matrices, X.reshape(len(X), -1, len(self.driven))).reshape(X.shape))
