"""Logistic and softmax clients in ball arithmetic: every computed ball encloses the true value."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, final

import flint
import numpy as np

from fedconvex.arithmetic.balls import square_root_upper, unbounded
from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.exact_products import SplitMatrix
from fedconvex.arithmetic.rationals import Array
from fedconvex.errors import InvalidInput
from fedconvex.once import Once
from fedconvex.problems.base import Clients
from fedconvex.problems.subproblem import Subproblem
from fedconvex.sparse import dense, occupied

if TYPE_CHECKING:
    from fedconvex.problems.samples import Samples

KEEP_ENTRIES = 20_000_000  # up to this many entries the designs are kept as balls (48 bytes each)
WIDE = 0.1  # functions of a score with a larger radius are evaluated at the endpoints of its interval


@final
class BallLinearModelClients(Clients):
    """The functions F_k = scale_k · f_k in balls; subproblems are solved in floats, then the solution is enclosed.

    Args:
        designs, labels: (n_k, p) and (n_k,) of every client; outputs: C, the number of scores.
        scale: one ball per client.
        floats: gives the same clients in floating point.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        designs: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        outputs: int,
        ridge: Fraction,
        scale: Sequence[Any],
        floats: Callable[[], Clients],
    ) -> None:
        self.arithmetic, self.designs, self.labels, self.outputs = arithmetic, designs, labels, outputs
        self.exact_ridge, self.ridge, self.scale, self.floats = ridge, arithmetic.scalar(ridge), scale, floats
        self.num_clients, self.dim = len(designs), outputs * int(designs[0].shape[1])
        self._designs: dict[int, tuple[np.ndarray, Any]] = {}
        self._last_split: tuple[int, np.ndarray, SplitMatrix | None] | None = None
        self._keep = sum(A.size for A in designs) <= KEEP_ENTRIES

    def subset(self, members: np.ndarray) -> "BallLinearModelClients":
        designs, labels, scale = ([part[k] for k in members] for part in (self.designs, self.labels, self.scale))
        floats = Once(lambda: self.floats().subset(members))
        ridge = self.exact_ridge
        chosen = BallLinearModelClients(self.arithmetic, designs, labels, self.outputs, ridge, scale, floats)
        chosen.curvatures = self.curvatures.subset(members)
        return chosen

    def samples(self) -> "Samples":
        raise InvalidInput(
            "arithmetic", "ball", "does not draw mini-batches of logistic losses", "use 'float' or 'torch'"
        )

    def values(self, X: Array) -> Array:
        X = self.rows(X)
        result = np.empty(self.num_clients, dtype=object)
        for k in range(self.num_clients):
            losses = [self._loss(z, int(y)) for z, y in zip(self._scores(k, X[k]), self.labels[k], strict=True)]
            result[k] = self.scale[k] * (sum(losses, flint.arb(0)) / len(losses) + self.ridge / 2 * (X[k] * X[k]).sum())
        return result

    def differences(self, X: Array, reference: Array) -> Array:
        # rigorous like all balls, if wider than necessary; only floats need the formula without cancellation
        return self.values(X) - self.values(reference)

    def gradients(self, X: Array) -> Array:
        X = self.rows(X)
        return np.stack([self._gradient(k, X[k]) for k in range(self.num_clients)])

    def hessians(self, X: Array) -> Batch:
        self.arithmetic.require_room(self.num_clients * self.dim, self.dim, copies=2)
        X = self.rows(X)
        return [self._hessian(k, X[k]) for k in range(self.num_clients)]

    def hessian_products(self, X: Array, V: Array) -> Array:
        return self.arithmetic.matvec(self.hessians(X), self.rows(V))

    def minimise(self, subproblem: Subproblem) -> Array:
        """Solves in floats at the balls' midpoints, then encloses: ‖θ − θ*‖ ≤ ‖∇φ(θ)‖/(scale_k·ridge + weight).

        The bound holds for every θ by strong convexity, so that nothing is assumed about the floating-point solver.
        """
        floats = self.floats()
        to_float = self.arithmetic.to_float
        centre = Subproblem(
            start=to_float(subproblem.start),
            weight=float(subproblem.weight),
            center=None if subproblem.center is None else to_float(subproblem.center),
            linear=None if subproblem.linear is None else to_float(subproblem.linear),
            guess=None if subproblem.guess is None else to_float(subproblem.guess),
        )
        with floats.arithmetic.context():
            found = self.arithmetic.array(floats.minimise(centre))
        # `found` are balls of radius 0, so that these gradients enclose the true ones of the ball-valued subproblem
        gradients = subproblem.add_gradients(found, self.gradients(found))
        enclosed = np.empty_like(found)
        for k in range(self.num_clients):
            # the strong convexity constant of the subproblem; the logistic loss itself adds none
            modulus = self.scale[k] * self.ridge + subproblem.weight
            radius = square_root_upper((gradients[k] * gradients[k]).sum()) / modulus
            ball = flint.arb(0, radius.upper())  # ‖θ − θ*‖ bounds every coordinate
            enclosed[k] = [value + ball for value in found[k]]
        return enclosed

    def _gradient(self, k: int, x: Array) -> Array:
        labels = self.labels[k]
        derivatives = [self._derivative(z, int(y)) for z, y in zip(self._scores(k, x), labels, strict=True)]
        found = np.full((self.outputs, self.dim // self.outputs), flint.arb(0), dtype=object)
        columns, split = self._split(k)
        product = None if split is None else split.T.times(np.array(derivatives, dtype=object))
        if product is None:
            rows = flint.arb_mat(self.outputs, len(labels), [d[c] for c in range(self.outputs) for d in derivatives])
            product = np.array((rows * self._design(k)[1]).entries(), dtype=object).reshape(self.outputs, -1).T
        found[:, columns] = product.T
        total = found.ravel()
        return self.scale[k] * (total / len(labels) + self.ridge * x)

    def _hessian(self, k: int, x: Array) -> Any:
        """scale_k (Σ_i (∂²loss_i/∂Z²) ⊗ a_i a_iᵀ / n_k + ridge·I), with one matrix product for each pair of scores."""
        n, p = len(self.labels[k]), self.dim // self.outputs
        columns, design = self._design(k)
        if len(columns) < p:
            design = self.arithmetic.matrix(dense(self.designs[k], "A"))
        curvatures = [self._curvature(z) for z in self._scores(k, x)]
        rows, transposed = design.tolist(), design.transpose()  # flint multiplies matrices much faster than lists
        result = flint.arb_mat(self.dim, self.dim)
        for c in range(self.outputs):
            for e in range(c + 1):
                scaled = [entry * h[c][e] for row, h in zip(rows, curvatures, strict=True) for entry in row]
                block = transposed * flint.arb_mat(n, p, scaled) * (self.scale[k] / n)
                for i in range(p):
                    for j in range(p):
                        result[c * p + i, e * p + j] = result[e * p + i, c * p + j] = block[i, j]
        ridge = self.scale[k] * self.ridge
        for i in range(self.dim):
            result[i, i] += ridge
        return result

    def _scores(self, k: int, x: Array) -> list[list[Any]]:
        columns, split = self._split(k)
        W = x.reshape(self.outputs, -1)[:, columns]
        product = None if split is None else split.times(W.T)
        if product is None:
            rows = flint.arb_mat(self.outputs, len(columns), W.ravel().tolist())
            product = self._design(k)[1] * rows.transpose()
        scores: list[list[Any]] = product.tolist()
        return scores

    def _split(self, k: int) -> tuple[np.ndarray, SplitMatrix | None]:
        """The columns of client k's design that are not all 0, and these columns for products; None: take `_design`."""
        if self._last_split is None or self._last_split[0] != k:
            columns, design = occupied(self.designs[k])
            self._last_split = k, columns, SplitMatrix.of(design)
        return self._last_split[1:]

    def _design(self, k: int) -> tuple[np.ndarray, Any]:
        """The columns of client k's design that are not all 0, as indices and as a matrix."""
        if k in self._designs:
            return self._designs[k]
        columns, design = occupied(self.designs[k])
        found = columns, self.arithmetic.matrix(design)
        if self._keep:
            self._designs[k] = found
        return found

    def _loss(self, z: list[Any], y: int) -> Any:
        if self.outputs == 1:
            return softplus(-y * z[0])
        return log_sum_exp(z) - z[y]

    def _derivative(self, z: list[Any], y: int) -> list[Any]:
        if self.outputs == 1:
            return [-y * sigmoid(-y * z[0])]
        found = softmax(z)
        found[y] -= 1
        return found

    def _curvature(self, z: list[Any]) -> list[list[Any]]:
        if self.outputs == 1:
            return [[bell(z[0])]]
        p = softmax(z)
        return [[a * int(i == j) - a * b for j, b in enumerate(p)] for i, a in enumerate(p)]


def sigmoid(t: Any) -> Any:
    """1/(1 + exp(−t)) of a ball; [0, 1] if t is not finite.

    For a wide ball the formula overestimates, since the ball around exp(−t) then reaches far below 0. The function
    increases, so that its values at the two endpoints give the tight enclosure.
    """
    if not t.is_finite():
        return _ball_between(0, 1)  # true for every real t
    if t.rad() < WIDE:
        value = 1 / (1 + (-t).exp())
        if value.is_finite():  # otherwise exp has left the range of balls
            return value
    return _logistic(t.lower()).union(_logistic(t.upper()))


def bell(t: Any) -> Any:
    """exp(t)/(1 + exp(t))², the derivative of `sigmoid`, of a ball; [0, 1/4] if t is not finite.

    It decreases in |t|, so that the endpoints of |t| give a tight enclosure of a wide ball's image.
    """
    if not t.is_finite():
        return _ball_between(0, 0.25)
    if t.rad() < WIDE:
        decay = (-abs(t)).exp()
        return decay / (1 + decay) ** 2
    nearest, farthest = (_logistic(-endpoint) * _logistic(endpoint) for endpoint in (t.abs_lower(), t.abs_upper()))
    return nearest.union(farthest)


def softplus(t: Any) -> Any:
    """log(1 + exp(t)) of a ball, without overflow for large t; the ball of all numbers if t is not finite."""
    if not t.is_finite():
        return unbounded()
    value = t + (-t).exp().log1p() if t > 0 else t.exp().log1p()
    return value if value.is_finite() else softplus(t.lower()).union(softplus(t.upper()))  # it increases in t


def _logistic(t: Any) -> Any:
    """1/(1 + exp(−t)) of a ball with radius 0."""
    decay = (-abs(t)).exp()
    return 1 / (1 + decay) if t > 0 else decay / (1 + decay)


def softmax(z: list[Any]) -> list[Any]:
    """The probabilities exp(z_c)/Σ_e exp(z_e); [0, 1] where the computed ball would be no better."""
    highest = max(z, key=lambda score: float(score.mid()))  # subtracting it prevents overflow
    powers = [(score - highest).exp() for score in z]
    total = sum(powers, flint.arb(0))
    probabilities = (power / total for power in powers)
    return [p if p.is_finite() and p.rad() < 0.5 else _ball_between(0, 1) for p in probabilities]


def log_sum_exp(z: list[Any]) -> Any:
    """log Σ_c exp(z_c) of balls; if exp overflows, its enclosure [max_c z_c, max_c z_c + log C]."""
    highest = max(z, key=lambda score: float(score.mid()))
    value = sum(((score - highest).exp() for score in z), flint.arb(0)).log() + highest
    if value.is_finite() or not all(score.is_finite() for score in z):
        return value if value.is_finite() else unbounded()
    largest = reduce(lambda one, other: one.max(other), z)
    return largest.union(largest + flint.arb(len(z)).log())


def _ball_between(low: float, high: float) -> Any:
    return flint.arb(low).union(flint.arb(high))
