"""Quadratic clients: `LeastSquares` and `Quadratic`, with everything about them that can be decided exactly."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.definiteness import (
    is_positive_semidefinite,
    largest_eigenvalue_bound,
    null_space,
    rank,
    smallest_eigenvalue_bound,
)
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.designs import design_and_targets, require_same_number
from fedconvex.problems.samples import HalfSquare, LinearSamples, Samples, below_one_another, sum_factor
from fedconvex.problems.wide_least_squares import WideLeastSquaresClients
from fedconvex.validation import client_list, normalised_weights, numbers

FORMED_ENTRIES = 20_000_000  # entries of all H_k together beyond which wide least squares are kept as data


@final
class QuadraticClients(Clients):
    """F_k(x) = ½ xᵀH_k x − c_kᵀx + constant_k; the constant only shows in values.

    `problem` knows the values in the way that loses no digits; client k here has number `numbers[k]` there.
    """

    def __init__(
        self, arithmetic: Arithmetic, problem: "QuadraticProblem", H: Batch, c: Array, scale: Array, numbers: np.ndarray
    ) -> None:
        self.arithmetic, self.problem, self.H, self.c, self.scale = arithmetic, problem, H, c, scale
        self.numbers = numbers
        self.num_clients, self.dim = c.shape
        self._samples = Once(self._collect_samples)
        self._resolvent: tuple[Any, Batch] | None = None  # the last one: methods ask for the same weight every round

    def values(self, X: Array) -> Array:
        X, value = self.rows(X), self.problem.client_value
        return self.scale * self.arithmetic.rows(
            [value(k, x, self.arithmetic) for k, x in zip(self.numbers, X, strict=True)]
        )

    def subset(self, members: np.ndarray) -> "QuadraticClients":
        H = [self.H[k] for k in members] if isinstance(self.H, list) else self.H[members]
        chosen = QuadraticClients(
            self.arithmetic, self.problem, H, self.c[members], self.scale[members], self.numbers[members]
        )
        chosen.curvatures = self.curvatures.subset(members)
        chosen._samples = Once(lambda: self.samples().subset(members))
        return chosen

    def samples(self) -> Samples:
        return self._samples()

    def _collect_samples(self) -> Samples:
        if not isinstance(self.problem, LeastSquares):
            return super().samples()
        blocks, targets = ([data[k] for k in self.numbers] for data in (self.problem.A, self.problem.b))
        A, y, first, count = below_one_another(self.arithmetic, blocks, targets)
        factor = sum_factor(self.scale, count, self.arithmetic)
        return LinearSamples(self.arithmetic, HalfSquare(), A, y, first, count, factor, 0 * factor)

    def values_and_gradients(self, points: Array) -> tuple[Array, Array]:
        if self.arithmetic.certainty is not Certainty.NUMERIC:
            return super().values_and_gradients(points)
        gradients = (self.H @ points.T).swapaxes(1, 2).swapaxes(0, 1) - self.c
        values = [self.problem.client_value(k, points, self.arithmetic) for k in self.numbers]
        return self.scale * self.arithmetic.rows(values).T, gradients

    def differences(self, X: Array, reference: Array) -> Array:
        reference = self.rows(reference)
        step = self.rows(X) - reference
        return ((self.gradients(reference) + self.arithmetic.matvec(self.H, step) / 2) * step).sum(-1)

    def differences_from(self, points: Array, reference: Array) -> Array:
        if self.arithmetic.certainty is not Certainty.NUMERIC:
            return super().differences_from(points, reference)
        steps = points - reference
        halfway = self.gradients(reference)[:, :, None] + self.H @ steps.T / 2  # (K, d, T)
        return (halfway * steps.T).sum(1).T

    def gradients(self, X: Array) -> Array:
        return self.arithmetic.matvec(self.H, self.rows(X)) - self.c

    def hessians(self, X: Array) -> Batch:
        return self.H

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.arithmetic.matvec(self.H, self.rows(V))

    def minimise(self, subproblem: Subproblem) -> Array:
        right = self.c
        if subproblem.center is not None:
            right = right + subproblem.weight * subproblem.center
        if subproblem.linear is not None:
            right = right - subproblem.linear
        return self.arithmetic.matvec(self.resolvents(right, subproblem.weight), right)

    def resolvents(self, X: Array, weight: Scalar) -> Batch:
        key = self.arithmetic.key(weight)
        if self._resolvent is None or self._resolvent[0] != key:
            self._resolvent = key, super().resolvents(X, weight)
        return self._resolvent[1]


class QuadraticProblem(Problem):
    """f_k(x) = ½ xᵀH_k x − c_kᵀx + constant_k with exact data: what `LeastSquares` and `Quadratic` share."""

    @abstractmethod
    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        """(H_k, c_k) in that arithmetic."""

    @abstractmethod
    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        """f_k(x) in that arithmetic; dense arithmetics also take (T, d) points and give (T,) values."""

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        return self.form(arithmetic, scale)

    def form(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> QuadraticClients:
        """The functions scale_k · f_k with their H_k formed."""
        with np.errstate(over="ignore", invalid="ignore"):
            terms = [self.client_terms(k, arithmetic) for k in range(self.num_clients)]
        factors = [arithmetic.scalar(s) for s in scale]
        H = arithmetic.stack([s * H for s, (H, _) in zip(factors, terms, strict=True)])
        c = arithmetic.rows([s * c for s, (_, c) in zip(factors, terms, strict=True)])
        if arithmetic.certainty is Certainty.NUMERIC and not np.isfinite(arithmetic.to_float(H)).all():
            raise InvalidInput("data", self, "has squares beyond the range of float64", "rescale, or use exact numbers")
        return QuadraticClients(arithmetic, self, H, c, arithmetic.array(factors), np.arange(self.num_clients))

    @cached_property
    def kernel(self) -> list[Array]:
        """An exact basis of {v : Σ_k weights_k H_k v = 0}; with convex clients, what the kernels of all H_k share."""
        return null_space(self.weighted_hessian())

    def quadratic_clients(self, arithmetic: "str | Arithmetic") -> QuadraticClients:
        """`clients` with their H_k formed, even where there are so many that runs keep them as data."""
        clients = self.clients(arithmetic)
        if isinstance(clients, QuadraticClients):
            return clients
        key = ("formed", clients.arithmetic.name)
        if key not in self._built:
            with clients.arithmetic.context():
                self._built[key] = self.form(clients.arithmetic, (Fraction(1),) * self.num_clients)
            self._built[key].curvatures = clients.curvatures
        formed = self._built[key]
        assert isinstance(formed, QuadraticClients)
        return formed

    def smoothness_bound(self, k: int) -> Scalar:
        low, high = self.client_bounds[k]
        return (-low).max(high)

    def strong_convexity_bound(self, k: int) -> Scalar:
        return self.client_bounds[k][0]

    @cached_property
    def client_bounds(self) -> list[tuple[Scalar, Scalar]]:
        """Balls that are at most the least and at least the largest eigenvalue of every H_k."""
        bounds = []
        for k, (low, high) in enumerate(zip(self.mu, self.L, strict=True)):

            def hessian(numbers: Arithmetic, k: int = k) -> Matrix:
                return self.client_terms(k, numbers)[0]

            smallest = smallest_eigenvalue_bound(hessian, low, semidefinite=self.is_convex)
            bounds.append((smallest, largest_eigenvalue_bound(hessian, high)))
        return bounds

    def weighted_hessian(self, arithmetic: "str | Arithmetic" = "exact") -> Matrix:
        """Σ_k weights_k H_k as a matrix of that arithmetic."""
        arithmetic = arithmetics.get(arithmetic)
        with arithmetic.context():
            weights = arithmetic.array(self.exact_weights_array)
            return arithmetic.weighted_sum(weights, self.quadratic_clients(arithmetic).H)

    def weighted_linear_term(self, arithmetic: "str | Arithmetic" = "exact") -> Array:
        """Σ_k weights_k c_k in that arithmetic."""
        arithmetic = arithmetics.get(arithmetic)
        with arithmetic.context():
            weights = arithmetic.array(self.exact_weights_array)
            return arithmetic.average(weights, self.quadratic_clients(arithmetic).c)


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class LeastSquares(QuadraticProblem):
    """f_k(x) = ½‖A_k x − b_k‖² (a sum over samples, no mean): FedSplit paper, equation (8).

    Args:
        A: one (n_k, d) array per client; n_k may differ, rank-deficient allowed. Integers, Fractions and flint
            numbers are taken exactly, a float is the dyadic rational that it is. One float (m, n, d) array is kept
            whole, and without a copy if it is read-only: for very many clients.
        b: one (n_k,) array per client, or one (m, n) array.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each. The objective is Σ_k weights_k f_k.

    Raises:
        InvalidInput: ragged shapes, NaN or infinite entries, a client without samples, bad weights.
    """

    A: Sequence[np.ndarray]
    b: Sequence[np.ndarray]
    exact_weights: tuple[Fraction, ...]
    has_samples = True

    def __init__(self, A: Any, b: Any, weights: Any = None) -> None:
        designs, targets = design_and_targets(A, b, "b")
        object.__setattr__(self, "A", designs)
        object.__setattr__(self, "b", targets)
        object.__setattr__(self, "exact_weights", normalised_weights(weights, len(designs)))

    def __repr__(self) -> str:
        return f"LeastSquares(m={self.num_clients}, d={self.dim}, samples={sum(len(b) for b in self.b)})"

    @property
    def dim(self) -> int:
        return int(self.A[0].shape[1])

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        most = max(map(len, self.b))
        formed = self.num_clients * self.dim**2
        if arithmetic.certainty is Certainty.NUMERIC and most < self.dim and formed > FORMED_ENTRIES:
            factors = arithmetic.array(list(scale))
            return WideLeastSquaresClients.of(arithmetic, self.A, self.b, factors)
        return self.form(arithmetic, scale)

    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        A = arithmetic.matrix(self.A[k])
        transposed = arithmetic.transpose(A)
        return arithmetic.product(transposed, A), arithmetic.apply(transposed, arithmetic.array(self.b[k]))

    @cached_property
    def kernel(self) -> list[Array]:
        """From the designs themselves, whose numbers are half as long as those of A_kᵀA_k."""
        weighted = [A for A, weight in zip(self.A, self.exact_weights, strict=True) if weight > 0]
        return null_space(arithmetics.get("exact").matrix(np.vstack([A.astype(object) for A in weighted])))

    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        A, b = arithmetic.matrix(self.A[k]), arithmetic.array(self.b[k])
        residual = (x @ A.T if x.ndim == 2 else arithmetic.apply(A, x)) - b
        return (residual * residual).sum(-1) / 2

    @cached_property
    def _spectra(self) -> list[tuple[float, float]]:
        """(smallest, largest) eigenvalue of every A_kᵀA_k, from singular values (which keep small ones accurate)."""
        spectra = []
        for A in self.A:
            with arithmetics.get("float").context():
                singular = np.linalg.svd(float_array(A), compute_uv=False)
            largest, smallest = singular[0], singular[-1] if len(singular) == self.dim else 0.0
            noise = 8 * max(A.shape) * np.finfo(float).eps * largest
            if smallest <= noise and smallest > 0 and rank(A) < self.dim:
                smallest = 0.0
            spectra.append((float(smallest**2), float(largest**2)))
        return spectra

    @property
    def L(self) -> np.ndarray:
        return np.array([largest for _, largest in self._spectra])

    @property
    def mu(self) -> np.ndarray:
        return np.array([smallest for smallest, _ in self._spectra])

    @property
    def is_convex(self) -> bool:
        return True


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Quadratic(QuadraticProblem):
    """f_k(x) = ½ xᵀH_k x − c_kᵀx with symmetric H_k, indefinite allowed.

    Args:
        H: one symmetric (d, d) array per client (exactly symmetric).
        c: one (d,) array per client.
        weights: m non-negative numbers, normalised to sum 1; default 1/m each.

    Raises:
        InvalidInput: shapes that do not fit, a non-symmetric H_k, NaN or infinite entries, bad weights.
    """

    H: tuple[np.ndarray, ...]
    c: tuple[np.ndarray, ...]
    exact_weights: tuple[Fraction, ...]

    def __init__(self, H: Any, c: Any, weights: Any = None) -> None:
        matrices = tuple(numbers(H_k, f"H[{k}]", 2) for k, H_k in enumerate(client_list(H, "H")))
        vectors = tuple(numbers(c_k, f"c[{k}]", 1) for k, c_k in enumerate(client_list(c, "c")))
        require_same_number("H", matrices, "c", vectors)
        dim = len(matrices[0])
        for k, (H_k, c_k) in enumerate(zip(matrices, vectors, strict=True)):
            if H_k.shape != (dim, dim) or dim == 0:
                raise InvalidInput(f"H[{k}]", f"an array of shape {H_k.shape}", f"must be ({dim}, {dim})", "correct it")
            if c_k.shape != (dim,):
                raise InvalidInput(f"c[{k}]", f"an array of shape {c_k.shape}", f"must be ({dim},)", "correct it")
            unequal = H_k != H_k.T
            if unequal.any():
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
        """(smallest, largest) eigenvalue of every H_k; a zero within rounding is decided by the exact rank."""
        spectra = []
        for H in self.H:
            with arithmetics.get("float").context():
                eigenvalues = np.linalg.eigvalsh(float_array(H))
            noise = 8 * self.dim * np.finfo(float).eps * max(abs(eigenvalues))
            near_zero = abs(eigenvalues) <= noise
            if near_zero.any() and rank(H) < self.dim:
                nullity = self.dim - rank(H)
                eigenvalues[np.argsort(abs(eigenvalues))[:nullity]] = 0.0
            spectra.append((float(min(eigenvalues)), float(max(eigenvalues))))
        return spectra

    @property
    def L(self) -> np.ndarray:
        return np.array([max(abs(low), abs(high)) for low, high in self._spectra])

    @property
    def mu(self) -> np.ndarray:
        return np.array([smallest for smallest, _ in self._spectra])

    @cached_property
    def is_convex(self) -> bool:
        return all(is_positive_semidefinite(H) for H in self.H)
