"""The base classes of problems: m clients with functions f_k and the objective f = Σ_k weights_k f_k.

A `Problem` holds the data exactly and knows its constants. Its `Clients` evaluate the functions in one arithmetic
(floats, rationals, balls, torch), all clients in one call; runs and local solvers compute with them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.newton import conjugate_gradients
from fedconvex.arithmetic.rationals import Array, Scalar, float_array, to_fmpq, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.names import CheckedKeywords
from fedconvex.once import Once
from fedconvex.pickled import without_caches
from fedconvex.problems.samples import Samples
from fedconvex.problems.subproblem import Subproblem as Subproblem
from fedconvex.validation import from_torch, is_tensor, members_of, points, positive, read_only

FORMED_ENTRIES = 20_000_000  # of all clients' Hessians; beyond, floats multiply with them without forming them
ACCURATE = 1e-14  # relative residual of the conjugate gradients that take the place of a resolvent


@dataclass(frozen=True, eq=False)
class Curvatures:
    """Smoothness and strong convexity constants of K functions in float64, computed at the first access."""

    of_all: Callable[[], tuple[np.ndarray, np.ndarray]]
    members: np.ndarray | None = None

    @property
    def L(self) -> np.ndarray:
        """The smoothness constants, shape (K,)."""
        return self._of(0)

    @property
    def mu(self) -> np.ndarray:
        """The strong convexity constants (negative for a nonconvex function), shape (K,)."""
        return self._of(1)

    def subset(self, members: np.ndarray) -> "Curvatures":
        """The constants of some of the functions, given by their indices."""
        return Curvatures(self.of_all, members if self.members is None else self.members[members])

    def _of(self, which: int) -> np.ndarray:
        values = self.of_all()[which]
        return values if self.members is None else values[self.members]


class Clients(ABC):
    """The functions F_k of all clients in one arithmetic; every call evaluates all clients.

    An argument `X` has shape (d,), the same point for all clients, or (m, d), a point for each client.
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
        """All functions at T common points (T, d): values (T, m) and gradients (T, m, d)."""
        values, gradients = zip(*((self.values(x), self.gradients(x)) for x in points), strict=True)
        return self.arithmetic.rows(values), self.arithmetic.rows(gradients)

    def differences_from(self, points: Array, reference: Array) -> Array:
        """F_k(x) − F_k(reference) at T common points (T, d), shape (T, m), without cancellation like `differences`."""
        return self.arithmetic.rows([self.differences(x, reference) for x in points])

    def gradients_in_parts(self, X: Array) -> Iterator[tuple[np.ndarray, Array]]:
        """`gradients` in batches: indices (b,) of some clients with their gradients (b, d), to limit the memory."""
        yield np.arange(self.num_clients), self.gradients(X)

    @abstractmethod
    def hessians(self, X: Array) -> Batch:
        """∇²F_k(X_k), a batch of (d, d) matrices."""

    @abstractmethod
    def hessian_products(self, X: Array, V: Array) -> Array:
        """∇²F_k(X_k) V_k, shape (m, d)."""

    def hessian_map(self, X: Array) -> Callable[[Array], Array]:
        """V ↦ ∇²F_k(X_k) V_k, for many V: what depends on X alone is computed once."""
        return partial(self.hessian_products, X)

    @property
    def has_fast_products(self) -> bool:
        """Whether products by `hessian_map` take less time than those with formed Hessians."""
        return False

    @abstractmethod
    def minimise(self, subproblem: Subproblem) -> Array:
        """The exact minimiser of every client's subproblem, shape (m, d)."""

    @abstractmethod
    def subset(self, members: np.ndarray) -> "Clients":
        """The functions of some clients, given by their indices."""

    def samples(self) -> "Samples":
        """The samples over which the functions are means or sums, for solvers that use mini-batches."""
        raise InvalidInput(
            "local_solver",
            "SGD",
            f"{type(self).__name__} have no samples to draw mini-batches from",
            "use GradientDescent, or a problem with data (LeastSquares, Logistic, MultinomialLogistic)",
        )

    def resolvents(self, X: Array, weight: Scalar) -> Batch:
        """(∇²F_k(X_k) + weight·I)⁻¹ for every client, a batch of (d, d) matrices."""
        self.arithmetic.require_room(self.num_clients * self.dim, self.dim, copies=4)
        return self.arithmetic.inverses(self.arithmetic.shifted(self.hessians(X), weight))

    def apply_resolvents(self, X: Array, weight: Scalar) -> Callable[[Array], Array]:
        """V ↦ (∇²F_k(X_k) + weight·I)⁻¹ V_k; in floats, Hessians that would take much memory are not formed."""
        if self.arithmetic.certainty is not Certainty.NUMERIC or self.num_clients * self.dim**2 <= FORMED_ENTRIES:
            resolvents = self.resolvents(X, weight)
            return lambda V: self.arithmetic.matvec(resolvents, V)
        xp: Any = self.arithmetic.xp  # type: ignore[attr-defined]
        hessian = self.hessian_map(X)

        def multiply(V: Array) -> Array:
            return hessian(V) + weight * V

        return lambda V: conjugate_gradients(xp, multiply, V, ACCURATE)

    def rows(self, X: Array) -> Array:
        """X as an (m, d) array, its row repeated if X is (d,)."""
        return self.arithmetic.repeat(X, self.num_clients) if X.ndim == 1 else X


class Problem(CheckedKeywords, ABC):
    """The clients' functions f_k and their weights; a subclass for every class of functions.

    Subclasses are frozen dataclasses of their data. See `Quadratic`, `LeastSquares`, `Logistic`, `MultinomialLogistic`.
    """

    exact_weights: tuple[Fraction, ...]
    has_samples: ClassVar[bool] = False  # whether the functions are means or sums over samples (for SGD)

    def __getstate__(self) -> dict[str, Any]:
        known = {name: found for name, found in vars(self).items() if name == "known_ground_truths"}
        return without_caches(self) | known  # ground truths took long, and are data

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
        """A rigorous upper bound of L_k, as a ball, close to L_k."""

    @abstractmethod
    def strong_convexity_bound(self, k: int) -> Scalar:
        """A rigorous lower bound of mu_k, as a ball, close to mu_k."""

    def is_strongly_convex(self, k: int, factor: Fraction, weight: Fraction) -> bool:
        """Whether factor·f_k + (weight/2)‖·‖² is certainly strongly convex, so that it has one minimiser."""
        return bool(self.strong_convexity_bound(k) * to_fmpq(factor) + to_fmpq(weight) > 0)

    @property
    @abstractmethod
    def is_convex(self) -> bool:
        """Whether every f_k is convex, decided without rounding."""

    @abstractmethod
    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        """Creates the functions scale_k · f_k in that arithmetic; called once, see `clients`."""

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
        """The functions scale_k · f_k (default: f_k) in that arithmetic; built once and kept.

        Methods of papers that minimise a plain sum or mean use scale_k = num_clients · weights[k].
        """
        arithmetic = arithmetics.get(arithmetic)
        # factors are exact, so that rational problems stay rational after scaling
        factors = (Fraction(1),) * self.num_clients if scale is None else self._factors(scale)
        # settings: clients of 53 and 500 bits differ; None: a million Fractions would take seconds to hash
        key = (arithmetic.name, arithmetic.settings, None if all_one(factors) else factors)
        if key not in self._built:
            with arithmetic.context():
                built = self.build_clients(arithmetic, factors)
            # lazily: eigenvalues of all clients can cost more than a whole run
            built.curvatures = Curvatures(Once(lambda: self._scaled_curvatures(factors)))
            self._built[key] = built
        return self._built[key]

    def _factors(self, scale: Any) -> tuple[Fraction, ...]:
        factors = tuple(to_fraction(factor, "scale") for factor in members_of(scale, "scale", "give one per client"))
        if len(factors) != self.num_clients:
            problem = f"has {len(factors)} factors for {self.num_clients} clients"
            raise InvalidInput("scale", scale, problem, "give one per client")
        return factors

    @cached_property
    def known_ground_truths(self) -> dict[str, Any]:
        """A cache of the minimisers that `ground_truth` computed, by solver; it lives as long as the problem."""
        return {}

    @cached_property
    def is_equally_weighted(self) -> bool:
        """Whether all weights are 1/m."""
        first = self.exact_weights[0]  # `is` first: comparing a million equal Fractions would take seconds
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
        """f_k(X_k), shape (m,), for X of shape (d,) (the same point for all clients) or (m, d)."""
        clients, X, _ = self.at(X)
        with clients.arithmetic.context():
            return clients.arithmetic.publish(clients.values(X))

    def client_gradients(self, X: Array) -> Array:
        """∇f_k(X_k), shape (m, d), for X of shape (d,) or (m, d)."""
        clients, X, _ = self.at(X)
        with clients.arithmetic.context():
            return clients.arithmetic.publish(clients.gradients(X))

    def client_prox(self, V: Array, stepsize: Any) -> Array:
        """prox_{s f_k}(V_k) = argmin_θ f_k(θ) + ‖θ − V_k‖²/(2s) of every client, shape (m, d), in the arithmetic of V.

        V: (d,) or (m, d). stepsize: s > 0; it is 1/μ of the FedProx paper. The argmin must exist: for a nonconvex f_k
        that needs s < 1/|mu_k|.
        """
        clients, V, _ = self.at(V)
        positive(stepsize, "stepsize")
        with clients.arithmetic.context():
            V = clients.rows(V)
            try:
                weight = 1 / clients.arithmetic.scalar(stepsize)  # exact for a rational stepsize
                found = clients.minimise(Subproblem(start=V, weight=weight, center=V))
            except ZeroDivisionError:
                problem = "leaves some subproblem without exactly one solution in floats: it, or 1/stepsize, is near 0"
                cure = "give one nearer to 1, or V in Fractions"
                raise InvalidInput("stepsize", stepsize, problem, cure) from None
            return clients.arithmetic.publish(found)

    def client_hessians(self, X: Array) -> np.ndarray:
        """∇²f_k(X_k), shape (m, d, d), in float64, for X of shape (d,) or (m, d)."""
        shapes = [(self.dim,), (self.num_clients, self.dim)]
        values = points(X, "x", shapes)
        clients, X, _ = self.at(float_array(from_torch(values, "x") if is_tensor(values) else values))
        with clients.arithmetic.context():
            return np.array(clients.hessians(X))  # a copy: quadratic clients return their own array

    def hessian(self, x: Array) -> np.ndarray:
        """∇²f(x), shape (d, d), in float64, at a (d,) point."""
        return np.tensordot(self.weights, self.client_hessians(x), 1)

    def at(self, X: Array, one_point: bool = False) -> tuple[Clients, Array, Array]:
        """The clients, the validated point or points, and the weights, all in the arithmetic of X.

        Raises InvalidInput for a wrong shape and for entries that are not finite numbers.
        """
        # floats select float arithmetic, Fractions exact arithmetic, flint balls ball arithmetic, tensors torch
        shapes = [(self.dim,)] if one_point else [(self.dim,), (self.num_clients, self.dim)]
        X = points(X, "x", shapes)
        arithmetic = arithmetics.of(X)
        with arithmetic.context():
            return self.clients(arithmetic), arithmetic.array(X), arithmetic.array(self.exact_weights_array)


def all_one(factors: Sequence[Fraction]) -> bool:
    """Whether all factors are 1."""
    first = factors[0]  # `is` first: comparing a million equal Fractions would take seconds
    return first == 1 and all(factor is first or factor == 1 for factor in factors)
