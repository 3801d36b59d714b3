"""The clients' subproblems as functions with gradients and Hessians, in the form that `newton.minimise` takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedconvex.arithmetic.base import Batch
from fedconvex.arithmetic.rationals import Array
from fedconvex.problems.base import Clients
from fedconvex.problems.subproblem import Subproblem

ROUNDING = 32 * 2.0**-52  # of a gradient's length: by sums over samples and features


@dataclass(frozen=True, eq=False)
class ProximalFunctions:
    """φ_k(θ) = F_k(θ) + ⟨linear_k, θ⟩ + (weight/2)‖θ − center_k‖², in floating point."""

    clients: Clients
    subproblem: Subproblem

    @property
    def xp(self) -> Any:
        return self.clients.arithmetic.xp  # type: ignore[attr-defined]

    def differences(self, theta: Array, step: Array) -> Array:
        change = self.clients.differences(theta + step, theta)
        if self.subproblem.linear is not None:
            change = change + (self.subproblem.linear * step).sum(-1)
        if self.subproblem.center is not None:
            # (‖θ + s − c‖² − ‖θ − c‖²)/2 without cancellation
            change = change + self.subproblem.weight * ((theta - self.subproblem.center + step / 2) * step).sum(-1)
        return change

    def gradients(self, theta: Array) -> Array:
        return self.subproblem.add_gradients(theta, self.clients.gradients(theta))

    def rounding(self, theta: Array) -> Array:
        """The lengths (b,) of gradients that rounding leaves at a minimiser, where ∇F_k and the other terms cancel."""
        cancelling = self.subproblem.add_gradients(theta, 0 * theta)
        return ROUNDING * (cancelling * cancelling).sum(-1) ** 0.5

    def hessians(self, theta: Array) -> Batch:
        return self.clients.arithmetic.shifted(self.clients.hessians(theta), self.subproblem.weight)

    def hessian_map(self, theta: Array) -> Callable[[Array], Array]:
        hessian = self.clients.hessian_map(theta)
        return lambda vectors: hessian(vectors) + self.subproblem.weight * vectors
