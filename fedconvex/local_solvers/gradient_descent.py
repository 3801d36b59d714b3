"""A fixed number of gradient steps on the subproblem."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, final

import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic, Batch, Matrix
from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import EVERYONE, Answers, SmoothSolver
from fedconvex.parameters import number
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import integer_at_least

FORMED_ENTRIES = 20_000_000  # Hessian entries that `tangent` may hold at once (8 bytes each)
KEPT_MAPS = 20  # points of which it may hold what Hessian products there share, a few numbers a sample and score


@final
@dataclass(frozen=True, kw_only=True)
class GradientDescent(SmoothSolver):
    """Local solver: `steps` gradient steps θ ← θ − stepsize · ∇φ_k(θ) from start_k, with φ_k the whole subproblem.

    Use it for a fixed, small amount of deterministic local work (FedGD, SCAFFOLD, or inexact FedProx and FedDyn). It
    works in every arithmetic, so that the fixed points of methods with it are computed exactly. For a required accuracy
    use `ToInexactness`, `AcceleratedGradient` or `Newton`.

    Args:
        steps: an integer >= 1.
        stepsize: > 0 or a `StepsizeSchedule`; on convex clients a step decreases φ_k if stepsize < 2/(L_k + weight).
            Larger ones are allowed.

    Raises:
        InvalidInput: values out of range.
    """

    steps: int
    stepsize: Scalar = number()

    has_path_lengths: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", integer_at_least(self.steps, 1, "steps"))
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))

    @property
    def effort(self) -> int:
        return self.steps

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        theta = subproblem.start
        for taken in range(self.steps):
            stepped = theta - self.stepsize * subproblem.add_gradients(theta, clients.gradients(theta))
            # stragglers stop after their own number of steps
            theta = stepped if draw.efforts is None else clients.arithmetic.where(draw.efforts > taken, stepped, theta)
        steps = np.full(clients.num_clients, self.steps) if draw.efforts is None else draw.efforts
        return Answers(theta, self.stepsize * clients.arithmetic.array(steps)[:, None])

    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        path = [subproblem.start]
        for _ in range(self.steps - 1):
            gradients = subproblem.add_gradients(path[-1], clients.gradients(path[-1]))
            path.append(path[-1] - self.stepsize * gradients)
        # `derivative` is called many times: what its products share is computed once if it fits into memory
        products: list[Callable[[Array], Array]]
        formed = not clients.has_fast_products and self.steps * clients.num_clients * clients.dim**2 <= FORMED_ENTRIES
        if formed:
            products = [partial(clients.arithmetic.matvec, clients.hessians(theta)) for theta in path]
        elif self.steps <= KEPT_MAPS:
            products = [clients.hessian_map(theta) for theta in path]
        else:
            products = [partial(clients.hessian_products, theta) for theta in path]

        def derivative(change: Subproblem) -> Array:
            step = change.start
            for product in products:
                step = step - self.stepsize * change.add_gradients(step, product(step))
            return step

        return derivative

    def response(self, arithmetic: Arithmetic, H: Batch, c: Array, weight: Scalar) -> tuple[Batch, Array]:
        """R = s Σ_{j<e} M^j with M = I − s(H + weight·I), e = steps; without a proximal term, RH = I − M^e."""
        stepsize = arithmetic.scalar(self.stepsize)
        M = arithmetic.shifted(arithmetic.scaled(arithmetic.shifted(H, weight), -stepsize), 1)
        step = total = stepsize * c
        for _ in range(self.steps - 1):
            total = step + arithmetic.matvec(M, total)
        if weight == 0:  # one power by squaring is cheaper than a geometric sum of matrices
            powers = arithmetic.stack([self._power(arithmetic, matrix) for matrix in M])
            return arithmetic.shifted(arithmetic.scaled(powers, -1), 1), total
        R = arithmetic.stack([self._geometric_sum(arithmetic, matrix) for matrix in M])
        return arithmetic.scaled(arithmetic.products(R, H), stepsize), total

    def rounding(self, least: np.ndarray, largest: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The error of M is 1 + s‖H + weight·I‖, and that of its e-th power e‖M‖^(e−1) times as large."""
        stepsize = float(self.stepsize)
        factor = np.maximum(abs(1 - stepsize * (least + weight)), abs(1 - stepsize * (largest + weight)))
        with np.errstate(over="ignore"):  # an infinite scale correctly reports that nothing is accurate
            last = factor ** (self.steps - 1)
            total = np.where(factor == 1, self.steps, (last * factor - 1) / np.where(factor == 1, 1, factor - 1))
        off = 1 + stepsize * (largest + weight)
        powers = 1 + self.steps * last * off
        sums = stepsize * self.steps * total * off
        return powers if weight == 0 else 1 + sums * largest, sums

    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        """a^e + s·weight·Σ_{j<e} a^j with a = max(|1 − s(mu_k + weight)|, |1 − s(L_k + weight)|), s the stepsize.

        A step maps a change of θ to at most a times it, and a change of the center to s·weight times it.
        """
        low = abs(1 - self.stepsize * (problem.strong_convexity_bound(k) + weight))
        high = abs(1 - self.stepsize * (problem.smoothness_bound(k) + weight))
        factor = low.max(high)
        total = factor**self.steps
        for j in range(self.steps):
            total = total + self.stepsize * weight * factor**j
        return total

    def descends(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> bool:
        """One step, of any length; several if stepsize < 2/(L_k + weight) for all clients, decided in balls.

        Then each decreases the subproblem, by the descent lemma.
        """
        if self.steps == 1:
            return True
        balls = arithmetics.get("ball")
        factors = scale if scale is not None else (Fraction(1),) * problem.num_clients
        # a comparison of balls is true only if it is certain: floats could accept stepsize = 2/L
        with balls.context():
            stepsize, shift = balls.scalar(self.stepsize), balls.scalar(weight)
            return all(
                stepsize * (balls.scalar(factor) * problem.smoothness_bound(k) + shift) < 2
                for k, factor in enumerate(factors)
            )

    def is_averaged(self, problem: Problem, weight: Scalar) -> bool:
        """If there is no proximal term and stepsize < 2/L_k for all clients (Baillon and Haddad); else not known."""
        if weight != 0:
            return False
        balls = arithmetics.get("ball")
        with balls.context():
            stepsize = balls.scalar(self.stepsize)
            return all(stepsize * problem.smoothness_bound(k) < 2 for k in range(problem.num_clients))

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        """Accepts every problem: gradient steps exist on all of them."""

    def _power(self, arithmetic: Arithmetic, M: Matrix) -> Matrix:
        """M^e by squaring."""
        power = M
        for bit in bin(self.steps)[3:]:  # the binary digits after the leading 1
            power = arithmetic.product(power, power)
            if bit == "1":
                power = arithmetic.product(power, M)
        return power

    def _geometric_sum(self, arithmetic: Arithmetic, M: Matrix) -> Matrix:
        """Σ_{j<e} M^j by Horner's rule."""
        identity = total = arithmetic.identity(arithmetic.size(M))
        for _ in range(self.steps - 1):
            total = identity + arithmetic.product(M, total)
        return total
