"""A fixed number of gradient steps on the subproblem."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.parameters import number
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.rationals import Array, Scalar
from fedconvex.validation import integer_at_least, positive

FORMED_ENTRIES = 20_000_000  # Hessian entries that `tangent` may hold at once (8 bytes each)


@final
@dataclass(frozen=True, kw_only=True)
class GradientDescent(LocalSolver):
    """θ ← θ − stepsize · ∇φ_k(θ), `steps` times from start_k, φ_k being the whole subproblem of client k.

    Args:
        steps: an integer >= 1.
        stepsize: > 0.
    """

    steps: int
    stepsize: Scalar = number()

    def __post_init__(self) -> None:
        integer_at_least(self.steps, 1, "steps")
        positive(self.stepsize, "stepsize")

    def solve(self, clients: Clients, subproblem: Subproblem) -> Array:
        return deque(self._iterates(clients, subproblem), maxlen=1)[0]

    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        path = list(self._iterates(clients, subproblem))[:-1]
        # many products follow: Hessians are formed once where they fit
        formed = self.steps * clients.num_clients * clients.dim**2 <= FORMED_ENTRIES
        hessians = [clients.hessians(theta) for theta in path] if formed else []

        def product(i: int, step: Array) -> Array:
            return clients.arithmetic.matvec(hessians[i], step) if formed else clients.hessian_products(path[i], step)

        def derivative(change: Subproblem) -> Array:
            step = change.start
            for i in range(self.steps):
                step = step - self.stepsize * change.add_gradients(step, product(i, step))
            return step

        return derivative

    def response(self, arithmetic: Arithmetic, Q: Batch) -> Batch:
        """η Σ_{j<e} (I − ηQ_k)^j by doubling: S_{2n} = S_n + Mⁿ S_n with M = I − ηQ_k."""
        stepsize = arithmetic.scalar(self.stepsize)
        return arithmetic.stack([self._geometric_sum(arithmetic, matrix, stepsize) for matrix in Q])

    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        """a^e + s·weight·Σ_{j<e} a^j with a = max(|1 − s(mu_k + weight)|, |1 − s(L_k + weight)|), s the stepsize.

        One step moves θ by at most a times its own change and s·weight times the centre's.
        """
        low = abs(1 - self.stepsize * (problem.strong_convexity_bound(k) + weight))
        high = abs(1 - self.stepsize * (problem.smoothness_bound(k) + weight))
        factor = low.max(high)
        total = factor**self.steps
        for j in range(self.steps):
            total = total + self.stepsize * weight * factor**j
        return total

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Gradient steps can be taken on every subproblem."""

    def _geometric_sum(self, arithmetic: Arithmetic, Q: Batch, stepsize: Scalar) -> Batch:
        identity = arithmetic.identity(arithmetic.size(Q))
        M = identity - Q * stepsize
        total, power = identity, M  # Σ_{j<n} M^j and Mⁿ for n = 1
        for bit in bin(self.steps)[3:]:
            total, power = total + arithmetic.product(power, total), arithmetic.product(power, power)
            if bit == "1":
                total, power = total + power, arithmetic.product(power, M)
        return total * stepsize

    def _iterates(self, clients: Clients, subproblem: Subproblem) -> Iterator[Array]:
        theta = subproblem.start
        yield theta
        for _ in range(self.steps):
            theta = theta - self.stepsize * subproblem.add_gradients(theta, clients.gradients(theta))
            yield theta
