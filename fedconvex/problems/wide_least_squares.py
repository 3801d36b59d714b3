"""Least-squares clients with fewer samples than unknowns, evaluated from their data without forming H_k = A_kᵀA_k.

For very many clients: a million matrices H_k of size 50 × 50 would take 20 GB, their data take a fraction of that.
"""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.problems.base import Clients
from fedconvex.problems.losses import HalfSquare
from fedconvex.problems.samples import LinearSamples, Samples, sum_factor
from fedconvex.problems.subproblem import Subproblem


@final
class WideLeastSquaresClients(Clients):
    """F_k(x) = (scale_k/2)‖A_k x − b_k‖² in floating point.

    A is (K, n, d) and b is (K, n), padded with zero rows for clients of fewer samples; those add nothing to F_k.
    """

    def __init__(self, arithmetic: Arithmetic, A: Array, b: Array, scale: Array, count: np.ndarray) -> None:
        self.arithmetic, self.A, self.b, self.scale, self.count = arithmetic, A, b, scale, count
        self.num_clients, self.dim = A.shape[0], A.shape[2]

    @staticmethod
    def of(
        arithmetic: Arithmetic, designs: Sequence[np.ndarray], targets: Sequence[np.ndarray], scale: Any
    ) -> "WideLeastSquaresClients":
        """Stacks the clients' (n_k, d) designs and (n_k,) targets, padded where sizes differ."""
        count = np.array([len(b) for b in targets], dtype=np.int64)
        if isinstance(designs, np.ndarray) and isinstance(targets, np.ndarray):
            A, b = designs, targets
        else:
            A = np.zeros((len(count), count.max(), designs[0].shape[1]))
            b = np.zeros((len(count), count.max()))
            for k, n in enumerate(count):
                A[k, :n], b[k, :n] = float_array(designs[k]), float_array(targets[k])
        return WideLeastSquaresClients(arithmetic, arithmetic.array(A), arithmetic.array(b), scale, count)

    def values(self, X: Array) -> Array:
        residuals = self._residuals(X)
        return self.scale / 2 * (residuals * residuals).sum(-1)

    def differences(self, X: Array, reference: Array) -> Array:
        # ½‖r + c‖² − ½‖r‖² = ⟨r + c/2, c⟩ with residual r and change c: nothing cancels
        change = self._apply(self.rows(X) - self.rows(reference))
        return self.scale * ((self._residuals(reference) + change / 2) * change).sum(-1)

    def gradients(self, X: Array) -> Array:
        return self.scale[:, None] * self._transposed(self._residuals(X))

    def hessians(self, X: Array) -> Batch:
        self.arithmetic.require_room(self.num_clients * self.dim, self.dim, copies=2)
        return self.scale[:, None, None] * (self.A.swapaxes(1, 2) @ self.A)

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.scale[:, None] * self._transposed(self._apply(self.rows(V)))

    def minimise(self, subproblem: Subproblem) -> Array:
        right = subproblem.right_side(self.scale[:, None] * self._transposed(self.b))
        return self.apply_resolvents(right, subproblem.weight)(right)

    def apply_resolvents(self, X: Array, weight: Scalar) -> Callable[[Array], Array]:
        """(scale·AᵀA + wI)⁻¹r = (r − Aᵀ((w/scale)I + AAᵀ)⁻¹Ar)/w: n equations per client instead of d (Woodbury)."""
        xp: Any = self.arithmetic.xp  # type: ignore[attr-defined]
        gram = self.scale[:, None, None] * (self.A @ self.A.swapaxes(1, 2))
        system = self.arithmetic.shifted(gram, weight)

        def resolved(right: Array) -> Array:
            # one batched solve for all clients
            inner = xp.linalg.solve(system, self.scale[:, None, None] * self._apply(right)[..., None])[..., 0]
            return (right - self._transposed(inner)) / weight

        return resolved

    def subset(self, members: np.ndarray) -> "WideLeastSquaresClients":
        chosen = WideLeastSquaresClients(
            self.arithmetic, self.A[members], self.b[members], self.scale[members], self.count[members]
        )
        chosen.curvatures = self.curvatures.subset(members)
        return chosen

    def samples(self) -> Samples:
        n = self.A.shape[1]
        return LinearSamples(
            arithmetic=self.arithmetic,
            loss=HalfSquare(),
            A=self.A.reshape(-1, self.dim),
            y=self.b.reshape(-1),
            first=np.arange(self.num_clients, dtype=np.int64) * n,
            count=self.count,  # excludes the padded rows
            factor=sum_factor(self.scale, self.count, self.arithmetic),
            ridge=0 * self.scale,
        )

    def _apply(self, X: Array) -> Array:
        """A_k X_k, shape (K, n)."""
        return (self.A @ X[..., None])[..., 0]

    def _residuals(self, X: Array) -> Array:
        """A_k X_k − b_k, shape (K, n)."""
        if X.ndim == 1:  # a common point: @ broadcasts it without m copies
            return self.A @ X - self.b
        return self._apply(X) - self.b

    def _transposed(self, scores: Array) -> Array:
        """A_kᵀ scores_k, shape (K, d)."""
        return (scores[:, None, :] @ self.A)[:, 0, :]
