"""Quadratic problems: `LeastSquares` from data and `Quadratic` from matrices, the problems that are solved exactly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, cast, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.definiteness import is_positive_semidefinite, largest_eigenvalue_bound, null_space, rank
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import FORMED_ENTRIES as FORMED_ENTRIES
from fedconvex.problems.base import Clients
from fedconvex.problems.designs import design_and_targets, require_same_number, smaller_gram
from fedconvex.problems.losses import HalfSquare
from fedconvex.problems.quadratic_clients import KnownSpectra as KnownSpectra
from fedconvex.problems.quadratic_clients import QuadraticClients as QuadraticClients
from fedconvex.problems.quadratic_clients import QuadraticProblem as QuadraticProblem
from fedconvex.problems.samples import LinearSamples, Samples, concatenated, sum_factor
from fedconvex.problems.subproblem import Subproblem
from fedconvex.sparse import dense, is_sparse, occupied
from fedconvex.types import Matrices, Vector, Vectors
from fedconvex.validation import client_list, normalised_weights, numbers

# Least-squares clients with fewer samples than unknowns, evaluated from their data without forming H_k = A_kᵀA_k.
# For very many clients: a million matrices H_k of size 50 × 50 would take 20 GB, their data take a fraction of that.


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


FORMED_DIMENSION = 300  # beyond, (d, d) matrices in balls take minutes: few samples serve instead


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class LeastSquares(KnownSpectra):
    """Linear regression: f_k(x) = ½‖A_k x − b_k‖², a sum over the client's samples (not a mean).

    Use it for regression data, and where exact answers matter: for rational data, minimisers and fixed points are
    rational and computed exactly. For a mean over samples divide A_k and b_k by √n_k. For quadratics that are not of
    this form, such as indefinite ones, use `Quadratic`. Source: FedSplit paper, equation (8).

    Args:
        A: one (n_k, d) array per client; n_k may differ, A_k may be rank-deficient. Integers, Fractions and flint
            numbers are exact; a float stands for the dyadic rational that it is. A single float array (m, n, d) is
            kept whole, without a copy if it is read-only: use this for very many clients.
        b: one (n_k,) array per client, or one (m, n) array.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each. The objective is Σ_k weights_k f_k.

    Raises:
        InvalidInput: ragged shapes, NaN or infinite entries, a client without samples, bad weights.
    """

    A: Sequence[np.ndarray]
    b: Sequence[np.ndarray]
    exact_weights: tuple[Fraction, ...]
    has_samples = True

    def __init__(self, A: Matrices, b: Vectors, weights: Vector | None = None) -> None:
        designs, targets = design_and_targets(A, b, "b")
        # the dataclass is frozen: its own __init__ sets the validated fields through object.__setattr__
        object.__setattr__(self, "A", designs)
        object.__setattr__(self, "b", targets)
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(designs)))

    @classmethod
    def from_frame(
        cls, frame: Any, client: str | None = None, target: str | None = None, **preparation: Any
    ) -> "LeastSquares":
        """Least squares on a table: `fedconvex.data.from_frame` with the task regression, whatever the target's values.

        frame, client, target, preparation: see there. Raises UntidyTable, InvalidInput.
        """
        from fedconvex.data.frames import from_frame

        return cast(LeastSquares, from_frame(frame, client, target, "regression", model="least-squares", **preparation))

    def __repr__(self) -> str:
        return f"LeastSquares(m={self.num_clients}, d={self.dim}, samples={sum(len(b) for b in self.b)})"

    @property
    def dim(self) -> int:
        return int(self.A[0].shape[1])

    @property
    def is_wide(self) -> bool:
        """Whether there are fewer samples than unknowns, and too many unknowns for computing with the matrices H_k.

        Then the minimisers are many, and x ↦ A_k x and its transpose take the place of H_k.
        """
        samples = sum(map(len, self.b))
        many = self.dim > FORMED_DIMENSION or self.num_clients * self.dim**2 > FORMED_ENTRIES
        return samples < self.dim and many

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        # With n_k < d the data are smaller than H_k, and systems of n_k equations replace those of d equations.
        most = max(map(len, self.b))
        formed = self.num_clients * self.dim**2
        if arithmetic.certainty is Certainty.NUMERIC and formed > FORMED_ENTRIES:
            if is_sparse(self.A[0]) and arithmetic.name == "float":
                from fedconvex.problems.linear_models import LinearModelClients

                return LinearModelClients.of(arithmetic, HalfSquare(), self.A, self.b, 1, Fraction(0), scale, sums=True)
            if most < self.dim:
                factors = arithmetic.array(list(scale))
                designs = [dense(A, "A") for A in self.A] if is_sparse(self.A[0]) else self.A
                return WideLeastSquaresClients.of(arithmetic, designs, self.b, factors)
        return self.form(arithmetic, scale)

    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        arithmetic.require_room(self.dim, self.dim)
        A = arithmetic.matrix(dense(self.A[k], "A"))
        transposed = arithmetic.transpose(A)
        return arithmetic.product(transposed, A), arithmetic.apply(transposed, arithmetic.array(self.b[k]))

    def scaled_terms(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> tuple[Batch, Array, Array]:
        if not isinstance(self.A, np.ndarray) or arithmetic.certainty is not Certainty.NUMERIC:
            return super().scaled_terms(arithmetic, scale)
        # clients of one size in one array: one call for all of them
        factors = arithmetic.array(np.array(scale, dtype=object))
        A, b = arithmetic.array(self.A), arithmetic.array(self.b)
        transposed = A.swapaxes(1, 2)
        H, c = arithmetic.products(transposed, A), arithmetic.matvec(transposed, b)
        if (factors != 1).any():
            H, c = H * factors[:, None, None], c * factors[:, None]
        return H, c, factors

    def samples_of(self, numbers: np.ndarray, scale: Array, arithmetic: Arithmetic) -> Samples:
        blocks, targets = [dense(self.A[k], "A") for k in numbers], [self.b[k] for k in numbers]
        A, y, first, count = concatenated(arithmetic, blocks, targets)
        factor = sum_factor(scale, count, arithmetic)
        return LinearSamples(arithmetic, HalfSquare(), A, y, first, count, factor, 0 * factor)

    @cached_property
    def kernel(self) -> list[Array]:
        """The kernel of the stacked A_k, which is that of Σ_k weights_k A_kᵀA_k; its numbers are half as long."""
        # clients of weight 0 add nothing to the objective, and would shrink the kernel
        weighted = [dense(A, "A") for A, weight in zip(self.A, self.exact_weights, strict=True) if weight > 0]
        exact = arithmetics.get("exact")
        exact.require_room(sum(map(len, weighted)), self.dim)
        return null_space(exact.matrix(np.vstack([A.astype(object) for A in weighted])))

    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        A, b = arithmetic.matrix(dense(self.A[k], "A")), arithmetic.array(self.b[k])
        residual = (x @ A.T if x.ndim == 2 else arithmetic.apply(A, x)) - b
        return (residual * residual).sum(-1) / 2

    @cached_property
    def _spectra(self) -> list[tuple[float, float]]:
        """The smallest and largest eigenvalue of every A_kᵀA_k: squared singular values of A_k.

        Singular values keep the relative accuracy of small eigenvalues, which forming A_kᵀA_k would destroy.
        """
        spectra = []
        for design in self.A:
            A = occupied(design)[1]  # columns of zeros add singular values of 0
            with arithmetics.get("float").context():
                singular = np.linalg.svd(float_array(A), compute_uv=False)
            largest, smallest = singular[0], singular[-1] if len(singular) == self.dim else 0.0
            # a singular value within rounding of 0 is 0 if the exact rank says so
            noise = 8 * max(A.shape) * np.finfo(float).eps * largest
            if smallest <= noise and smallest > 0 and rank(A) < self.dim:
                smallest = 0.0
            spectra.append((float(smallest**2), float(largest**2)))
        return spectra

    @cached_property
    def client_bounds(self) -> list[tuple[Scalar, Scalar]]:
        if not self.is_wide:
            return super().client_bounds
        import flint

        # A_k has fewer rows than columns: A_kᵀA_k is singular, and its largest eigenvalue is that of A_kA_kᵀ
        pairs = zip(self.A, self.L, strict=True)
        return [(flint.arb(0), largest_eigenvalue_bound(partial(smaller_gram, A), L)) for A, L in pairs]

    @property
    def is_convex(self) -> bool:
        return True


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Quadratic(KnownSpectra):
    """Quadratic clients given by their matrices: f_k(x) = ½ xᵀH_k x − c_kᵀx with symmetric, possibly indefinite H_k.

    Use it for examples with prescribed curvature, for counterexamples and for nonconvex clients; for data use
    `LeastSquares`. Rational entries make minimisers and fixed points exact. The objective has a minimiser only if
    Σ_k weights_k H_k is positive semidefinite; single clients need none.

    Args:
        H: one (d, d) array per client, exactly symmetric. Entries as in `LeastSquares`.
        c: one (d,) array per client.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each.

    Raises:
        InvalidInput: shapes that do not fit, a non-symmetric H_k, NaN or infinite entries, bad weights.
    """

    H: tuple[np.ndarray, ...]
    c: tuple[np.ndarray, ...]
    exact_weights: tuple[Fraction, ...]

    def __init__(self, H: Matrices, c: Vectors, weights: Vector | None = None) -> None:
        matrices = tuple(numbers(H_k, f"H[{k}]", 2) for k, H_k in enumerate(client_list(H, "H")))
        vectors = tuple(numbers(c_k, f"c[{k}]", 1) for k, c_k in enumerate(client_list(c, "c")))
        require_same_number("H", matrices, "c", vectors)
        dim = len(matrices[0])
        for k, (H_k, c_k) in enumerate(zip(matrices, vectors, strict=True)):
            if H_k.shape != (dim, dim) or dim == 0:
                raise InvalidInput(
                    f"H[{k}]",
                    f"an array of shape {H_k.shape}",
                    f"must be ({dim}, {dim})",
                    "give one row and one column per unknown",
                )
            if c_k.shape != (dim,):
                raise InvalidInput(
                    f"c[{k}]", f"an array of shape {c_k.shape}", f"must be ({dim},)", "give one entry per unknown"
                )
            if dim > 1 and (unequal := H_k != H_k.T).any():
                i, j = (int(v) for v in np.argwhere(unequal)[0])
                raise InvalidInput(
                    f"H[{k}][{i}, {j}]",
                    H_k[i, j],
                    f"differs from H[{k}][{j}, {i}] = {H_k[j, i]}: H must be symmetric",
                    "give (H + Hᵀ)/2, which is the same function",
                )
        object.__setattr__(self, "H", matrices)
        object.__setattr__(self, "c", vectors)
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(matrices)))

    def __repr__(self) -> str:
        return f"Quadratic(m={self.num_clients}, d={self.dim})"

    @property
    def dim(self) -> int:
        return len(self.H[0])

    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        return arithmetic.matrix(self.H[k]), arithmetic.array(self.c[k])

    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        H, c = self.client_terms(k, arithmetic)
        return (((x @ H if x.ndim == 2 else arithmetic.apply(H, x)) / 2 - c) * x).sum(-1)

    @cached_property
    def _spectra(self) -> list[tuple[float, float]]:
        """The smallest and largest eigenvalue of every H_k; the exact rank decides which of them are exactly 0."""
        spectra = []
        for H in self.H:
            with arithmetics.get("float").context():
                eigenvalues = np.linalg.eigvalsh(float_array(H))
            # eigvalsh is accurate to this absolute error; smaller eigenvalues may be exactly 0 and have a wrong sign
            noise = 8 * self.dim * np.finfo(float).eps * max(abs(eigenvalues))
            near_zero = abs(eigenvalues) <= noise
            if near_zero.any() and rank(H) < self.dim:
                nullity = self.dim - rank(H)
                eigenvalues[np.argsort(abs(eigenvalues))[:nullity]] = 0.0  # as many as the exact rank leaves
            spectra.append((float(min(eigenvalues)), float(max(eigenvalues))))
        return spectra

    @cached_property
    def is_convex(self) -> bool:
        return all(is_positive_semidefinite(H) for H in self.H)
