"""What `LeastSquares` and `Quadratic` share: quadratic functions in any arithmetic, with exact data and constants."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.definiteness import (
    is_positive_definite,
    largest_eigenvalue_bound,
    null_space,
    smallest_eigenvalue_bound,
)
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.problems.base import Clients, Problem, all_one
from fedconvex.problems.samples import Samples
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import index_of_client


@final
class QuadraticClients(Clients):
    """F_k(x) = ½ xᵀH_k x − c_kᵀx + constant_k; the constant appears in values only.

    Client k here is client `numbers[k]` of `problem`, which computes the values: ½‖A_k x − b_k‖² from the data keeps
    digits that ½ xᵀH_k x − c_kᵀx + ½‖b_k‖² would lose.
    """

    def __init__(
        self, arithmetic: Arithmetic, problem: "QuadraticProblem", H: Batch, c: Array, scale: Array, numbers: np.ndarray
    ) -> None:
        self.arithmetic, self.problem, self.H, self.c, self.scale = arithmetic, problem, H, c, scale
        self.numbers = numbers
        self.num_clients, self.dim = c.shape
        self._samples = Once(self._collect_samples)
        self._resolvent: tuple[Any, Batch] | None = None  # the last one: most methods use one weight in all rounds

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
        chosen._samples = Once(lambda: self.samples().subset(members))  # shares the data of the whole
        return chosen

    def samples(self) -> Samples:
        return self._samples()

    def _collect_samples(self) -> Samples:
        samples = self.problem.samples_of(self.numbers, self.scale, self.arithmetic)
        return super().samples() if samples is None else samples  # the base class raises the error that says why

    def values_and_gradients(self, points: Array) -> tuple[Array, Array]:
        if self.arithmetic.certainty is not Certainty.NUMERIC:  # there H is a list of matrices
            return super().values_and_gradients(points)
        gradients = (self.H @ points.T).swapaxes(1, 2).swapaxes(0, 1) - self.c
        values = [self.problem.client_value(k, points, self.arithmetic) for k in self.numbers]
        return self.scale * self.arithmetic.rows(values).T, gradients

    def differences(self, X: Array, reference: Array) -> Array:
        # F(r + s) − F(r) = ⟨∇F(r) + ½Hs, s⟩ exactly: nothing of the size of the values is subtracted
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
        right = subproblem.right_side(self.c)
        return self.arithmetic.matvec(self.resolvents(right, subproblem.weight), right)

    def apply_resolvents(self, X: Array, weight: Scalar) -> Callable[[Array], Array]:
        return lambda V: self.arithmetic.matvec(
            self.resolvents(X, weight), V
        )  # H is formed: one inverse for all rounds

    def resolvents(self, X: Array, weight: Scalar) -> Batch:
        key = self.arithmetic.key(weight)
        if self._resolvent is None or self._resolvent[0] != key:
            self._resolvent = key, super().resolvents(X, weight)
        return self._resolvent[1]


class QuadraticProblem(Problem):
    """f_k(x) = ½ xᵀH_k x − c_kᵀx + constant_k with exact data: the base class of `LeastSquares` and `Quadratic`.

    On these problems, fixed points and minimisers are solutions of linear equations, which the package solves exactly.
    """

    @abstractmethod
    def client_terms(self, k: int, arithmetic: Arithmetic) -> tuple[Matrix, Array]:
        """(H_k, c_k) in that arithmetic."""

    @abstractmethod
    def client_value(self, k: int, x: Array, arithmetic: Arithmetic) -> Scalar:
        """f_k(x) in that arithmetic; in floating point also for (T, d) points, which gives (T,) values."""

    def is_strongly_convex(self, k: int, factor: Fraction, weight: Fraction) -> bool:
        """Decided without rounding."""
        k = index_of_client(k, self.num_clients)

        def shifted(arithmetic: Arithmetic) -> Matrix:
            H, _ = self.client_terms(k, arithmetic)
            return arithmetic.shifted(arithmetic.stack([H * arithmetic.scalar(factor)]), weight)[0]

        return is_positive_definite(shifted)

    def samples_of(self, numbers: np.ndarray, scale: Array, arithmetic: Arithmetic) -> Samples | None:
        """The samples of the clients with these numbers, whose functions are scale_k · f_k; None without samples."""
        return None

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        return self.form(arithmetic, scale)

    def form(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> QuadraticClients:
        """The functions scale_k · f_k with their matrices scale_k · H_k computed."""
        arithmetic.require_room(self.num_clients * self.dim, self.dim, copies=2)
        if arithmetic.certainty is Certainty.NUMERIC:
            with np.errstate(over="ignore", invalid="ignore"):  # overflow raises InvalidInput below
                H, c, factors = self.scaled_terms(arithmetic, scale)
            if not np.isfinite(arithmetic.to_float(H)).all():
                cure = "rescale, or use exact numbers"
                raise InvalidInput("data", self, "has squares beyond the range of float64", cure)
        else:
            H, c, factors = self.scaled_terms(arithmetic, scale)
        return QuadraticClients(arithmetic, self, H, c, factors, np.arange(self.num_clients))

    def scaled_terms(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> tuple[Batch, Array, Array]:
        """scale_k · H_k, scale_k · c_k and scale_k of all clients in that arithmetic."""
        terms = [self.client_terms(k, arithmetic) for k in range(self.num_clients)]
        factors = arithmetic.array(list(scale))
        if not all_one(scale):
            terms = [(s * H, s * c) for s, (H, c) in zip(factors, terms, strict=True)]
        return arithmetic.stack([H for H, _ in terms]), arithmetic.rows([c for _, c in terms]), factors

    @cached_property
    def kernel(self) -> list[Array]:
        """An exact basis of the kernel of Σ_k weights_k H_k; the minimiser is unique if and only if it is empty.

        With convex clients it is the intersection of the kernels of all H_k of positive weight.
        """
        return null_space(self.weighted_hessian())

    def quadratic_clients(self, arithmetic: "str | Arithmetic") -> QuadraticClients:
        """`clients` with their H_k as matrices, also where `clients` avoids these to save memory."""
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
        low, high = self.client_bounds[index_of_client(k, self.num_clients)]
        return (-low).max(high)  # L_k is the largest |eigenvalue|: H_k may be indefinite

    def strong_convexity_bound(self, k: int) -> Scalar:
        return self.client_bounds[index_of_client(k, self.num_clients)][0]

    @cached_property
    def client_bounds(self) -> list[tuple[Scalar, Scalar]]:
        """A rigorous lower bound of the smallest and upper bound of the largest eigenvalue of every H_k, as balls."""
        bounds = []
        for k, (low, high) in enumerate(zip(self.mu, self.L, strict=True)):
            formed: dict[Any, Matrix] = {}  # with many samples, forming AᵀA in balls costs more than all that follows

            # the defaults bind this iteration's client
            def hessian(numbers: Arithmetic, k: int = k, formed: dict[Any, Matrix] = formed) -> Matrix:
                key = (numbers.name, numbers.settings)
                if key not in formed:
                    formed[key] = self.client_terms(k, numbers)[0]
                return formed[key]

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
        """Σ_k weights_k c_k in that arithmetic, shape (d,)."""
        arithmetic = arithmetics.get(arithmetic)
        with arithmetic.context():
            weights = arithmetic.array(self.exact_weights_array)
            return arithmetic.average(weights, self.quadratic_clients(arithmetic).c)


class KnownSpectra(QuadraticProblem):
    """Quadratics that know the eigenvalues of their H_k in floats: L_k is the largest in size, and mu_k the least."""

    @property
    @abstractmethod
    def _spectra(self) -> list[tuple[float, float]]:
        """The smallest and largest eigenvalue of every H_k."""

    @property
    def L(self) -> np.ndarray:
        return np.array([max(abs(low), abs(high)) for low, high in self._spectra])

    @property
    def mu(self) -> np.ndarray:
        return np.array([smallest for smallest, _ in self._spectra])
