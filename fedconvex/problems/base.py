"""A problem: m clients with functions f_k, and the objective f = Σ_k weights_k f_k (weights sum to 1)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar, float_array
from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.validation import points, positive, read_only

if TYPE_CHECKING:
    from fedconvex.problems.samples import Samples


@dataclass(frozen=True, eq=False)
class Subproblem:
    """What a method asks of every client: minimise F_k(θ) + ⟨linear_k, θ⟩ + (weight/2)‖θ − center_k‖², from start_k.

    `start` is (m, d); `linear` and `center` are (m, d) or None where the term is absent (then `weight` is 0).
    `guess` (m, d) is where a solver that goes on to the exact minimiser may begin instead: it changes no answer.
    """

    start: Array
    weight: Scalar = 0
    center: Array | None = None
    linear: Array | None = None
    guess: Array | None = None

    def of(self, members: np.ndarray) -> "Subproblem":
        """The subproblems of some of the clients."""
        start, center, linear, guess = (
            None if part is None else part[members] for part in (self.start, self.center, self.linear, self.guess)
        )
        return Subproblem(start, self.weight, center, linear, guess)

    def add_gradients(self, theta: Array, gradients: Array) -> Array:
        """The subproblems' gradients at theta, given those of F_k there."""
        if self.linear is not None:
            gradients = gradients + self.linear
        if self.center is not None:
            gradients = gradients + self.weight * (theta - self.center)
        return gradients


@dataclass(frozen=True, eq=False)
class Curvatures:
    """Smoothness and strong convexity constants of K functions in float64, found when first asked for."""

    of_all: Callable[[], tuple[np.ndarray, np.ndarray]]
    members: np.ndarray | None = None

    @property
    def L(self) -> np.ndarray:
        """(K,)"""
        return self._of(0)

    @property
    def mu(self) -> np.ndarray:
        """(K,)"""
        return self._of(1)

    def subset(self, members: np.ndarray) -> "Curvatures":
        """Those of some of the functions."""
        return Curvatures(self.of_all, members if self.members is None else self.members[members])

    def _of(self, which: int) -> np.ndarray:
        values = self.of_all()[which]
        return values if self.members is None else values[self.members]


class Clients(ABC):
    """The functions F_k of all clients in one arithmetic, each call batched over the clients.

    Arguments `X` are (d,), the same point for everyone, or (m, d), a point for each.
    """

    arithmetic: Arithmetic
    num_clients: int
    dim: int
    curvatures: "Curvatures"  # of every F_k

    @abstractmethod
    def values(self, X: Array) -> Array:
        """F_k(X_k), shape (m,)."""

    @abstractmethod
    def differences(self, X: Array, reference: Array) -> Array:
        """F_k(X_k) − F_k(reference_k), shape (m,), without the cancellation of subtracting two values."""

    @abstractmethod
    def gradients(self, X: Array) -> Array:
        """∇F_k(X_k), shape (m, d)."""

    def values_and_gradients(self, points: Array) -> tuple[Array, Array]:
        """All functions at T common points (T, d): values (T, K) and gradients (T, K, d), at one go where possible."""
        values, gradients = zip(*((self.values(x), self.gradients(x)) for x in points), strict=True)
        return self.arithmetic.rows(values), self.arithmetic.rows(gradients)

    def differences_from(self, points: Array, reference: Array) -> Array:
        """F_k(x) − F_k(reference) at T common points (T, d), shape (T, K), like `differences`."""
        return self.arithmetic.rows([self.differences(x, reference) for x in points])

    def gradients_in_parts(self, X: Array) -> Iterator[tuple[np.ndarray, Array]]:
        """`gradients`, some clients (b,) at a time where those of all, (m, d), would take too much memory."""
        yield np.arange(self.num_clients), self.gradients(X)

    @abstractmethod
    def hessians(self, X: Array) -> Batch:
        """∇²F_k(X_k), a batch of (d, d) matrices."""

    @abstractmethod
    def hessian_products(self, X: Array, V: Array) -> Array:
        """∇²F_k(X_k) V_k, shape (m, d)."""

    @abstractmethod
    def minimise(self, subproblem: Subproblem) -> Array:
        """The exact minimiser of every client's subproblem, shape (m, d)."""

    @abstractmethod
    def subset(self, members: np.ndarray) -> "Clients":
        """The functions of some clients only, given by their numbers."""

    def samples(self) -> "Samples":
        """The samples of which the functions are means or sums, for solvers that take mini-batches."""
        raise InvalidInput(
            "local_solver",
            "SGD",
            f"{type(self).__name__} have no samples to draw mini-batches from",
            "use GradientDescent, or a problem with data (LeastSquares, Logistic, MultinomialLogistic)",
        )

    def resolvents(self, X: Array, weight: Scalar) -> Batch:
        """(∇²F_k(X_k) + weight·I)⁻¹ for every client."""
        return self.arithmetic.inverses(self.arithmetic.shifted(self.hessians(X), weight))

    def rows(self, X: Array) -> Array:
        """X as an (m, d) array."""
        return self.arithmetic.repeat(X, self.num_clients) if X.ndim == 1 else X


class Problem(ABC):
    """Clients' functions with their weights. Subclasses say which functions."""

    exact_weights: tuple[Fraction, ...]
    has_samples: ClassVar[bool] = False  # of which solvers may take mini-batches

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of unknowns d."""

    @property
    @abstractmethod
    def L(self) -> np.ndarray:
        """Smoothness constant of every f_k (the least Lipschitz constant of its gradient), shape (m,), float64."""

    @property
    @abstractmethod
    def mu(self) -> np.ndarray:
        """Strong convexity constant of every f_k (the largest; negative where not convex), shape (m,), float64."""

    @abstractmethod
    def smoothness_bound(self, k: int) -> Scalar:
        """A ball that is at least the true L_k, and hardly more."""

    @abstractmethod
    def strong_convexity_bound(self, k: int) -> Scalar:
        """A ball that is at most the true mu_k, and hardly less."""

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether every f_k is convex, decided exactly."""

    @abstractmethod
    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        """The functions scale_k · f_k in that arithmetic."""

    @property
    def num_clients(self) -> int:
        """The number of clients m."""
        return len(self.exact_weights)

    @cached_property
    def weights(self) -> np.ndarray:
        """The clients' weights, normalised to sum 1, shape (m,), float64."""
        return read_only(float_array(self.exact_weights_array))

    @property
    def exact_weights_array(self) -> np.ndarray:
        """The normalised weights as an object array of Fractions, shape (m,)."""
        return np.array(self.exact_weights, dtype=object)

    def clients(self, arithmetic: "str | Arithmetic" = "float", scale: Sequence[Fraction] | None = None) -> Clients:
        """The functions scale_k · f_k (default: f_k) in that arithmetic; built once and kept."""
        arithmetic = arithmetics.get(arithmetic)
        factors = tuple(scale) if scale is not None else (Fraction(1),) * self.num_clients
        key = (arithmetic.name, arithmetic.settings, factors)
        if key not in self._built:
            with arithmetic.context():
                built = self.build_clients(arithmetic, factors)
            built.curvatures = Curvatures(Once(lambda: self._scaled_curvatures(factors)))
            self._built[key] = built
        return self._built[key]

    @cached_property
    def known_ground_truths(self) -> dict[str, Any]:
        """The minimisers that `ground_truth` has found, by solver: they live and die with the problem."""
        return {}

    @cached_property
    def is_equally_weighted(self) -> bool:
        """Whether all weights are 1/m."""
        first = self.exact_weights[0]
        return all(weight is first or weight == first for weight in self.exact_weights)

    def _scaled_curvatures(self, factors: Sequence[Fraction]) -> tuple[np.ndarray, np.ndarray]:
        scale = float_array(np.array(factors, dtype=object))
        return scale * self.L, scale * self.mu

    @cached_property
    def _built(self) -> dict[Any, Clients]:
        return {}

    def value(self, x: Array) -> Scalar:
        """f(x) = Σ_k weights_k f_k(x) at a (d,) point, in the arithmetic of x."""
        clients, X, weights = self.at(x, one_point=True)
        with clients.arithmetic.context():
            return clients.arithmetic.publish_scalar(clients.arithmetic.average(weights, clients.values(X)))

    def gradient(self, x: Array) -> Array:
        """∇f(x), shape (d,), in the arithmetic of x."""
        clients, X, weights = self.at(x, one_point=True)
        with clients.arithmetic.context():
            return clients.arithmetic.publish(clients.arithmetic.average(weights, clients.gradients(X)))

    def client_values(self, X: Array) -> Array:
        """f_k(X_k), shape (m,), for X of shape (d,) (the same point for everyone) or (m, d)."""
        clients, X, _ = self.at(X)
        with clients.arithmetic.context():
            return clients.arithmetic.publish(clients.values(X))

    def client_gradients(self, X: Array) -> Array:
        """∇f_k(X_k), shape (m, d), for X of shape (d,) or (m, d)."""
        clients, X, _ = self.at(X)
        with clients.arithmetic.context():
            return clients.arithmetic.publish(clients.gradients(X))

    def client_prox(self, V: Array, stepsize: Any) -> Array:
        """prox_{s f_k}(V_k) = argmin_θ f_k(θ) + ‖θ − V_k‖²/(2s) of every client, shape (m, d), s = `stepsize` > 0.

        V: (d,) or (m, d). In the arithmetic of V; s is 1/μ of the FedProx paper.
        """
        clients, V, _ = self.at(V)
        positive(stepsize, "stepsize")
        with clients.arithmetic.context():
            V, weight = clients.rows(V), 1 / clients.arithmetic.scalar(stepsize)
            return clients.arithmetic.publish(clients.minimise(Subproblem(start=V, weight=weight, center=V)))

    def client_hessians(self, X: Array) -> np.ndarray:
        """∇²f_k(X_k), shape (m, d, d), in float64."""
        clients, X, _ = self.at(float_array(X))
        with clients.arithmetic.context():
            return np.array(clients.hessians(X))  # a copy: quadratics keep theirs

    def hessian(self, x: Array) -> np.ndarray:
        """∇²f(x), shape (d, d), in float64."""
        return np.tensordot(self.weights, self.client_hessians(x), 1)

    def at(self, X: Array, one_point: bool = False) -> tuple[Clients, Array, Array]:
        """The clients, the checked point or points, and the weights, all in the arithmetic of X.

        Raises InvalidInput for a wrong shape and for what are no finite numbers.
        """
        shapes = [(self.dim,)] if one_point else [(self.dim,), (self.num_clients, self.dim)]
        X = points(X, "x", shapes)
        arithmetic = arithmetics.of(X)
        with arithmetic.context():
            return self.clients(arithmetic), arithmetic.array(X), arithmetic.array(self.exact_weights_array)
