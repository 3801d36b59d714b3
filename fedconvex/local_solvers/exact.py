"""The exact solution of the subproblem."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic, Batch
from fedconvex.arithmetic.rationals import Array, Scalar, nearest_float, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import EVERYONE, Answers, SmoothSolver
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem
from fedconvex.problems.subproblem import Subproblem


@final
@dataclass(frozen=True)
class Exact(SmoothSolver):
    """Local solver: the exact minimiser θ_k = argmin F_k(θ) + ⟨linear_k, θ⟩ + (weight/2)‖θ − center_k‖².

    The solver that most theorems assume, and the default of the proximal methods. On quadratics it solves linear
    equations, exactly in exact arithmetic; on logistic problems it runs Newton's method to floating-point accuracy,
    and in balls encloses the result. Not for nonconvex deep networks, whose subproblems have no computable minimiser.

    Raises InvalidInput, when a run starts, if a subproblem is unbounded below or has several minimisers.
    """

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        return Answers(clients.minimise(subproblem))

    def tangent(self, clients: Clients, subproblem: Subproblem, answers: Array) -> Callable[[Subproblem], Array]:
        resolved = clients.apply_resolvents(answers, subproblem.weight)

        return lambda change: resolved(change.right_side(0 * answers))

    def response(self, arithmetic: Arithmetic, H: Batch, c: Array, weight: Scalar) -> tuple[Batch, Array]:
        """R = (H + weight·I)⁻¹, hence RH = I − weight·R, which avoids a matrix product."""
        R = arithmetic.inverses(arithmetic.shifted(H, weight))
        return arithmetic.shifted(arithmetic.scaled(R, -weight), 1), arithmetic.matvec(R, c)

    def rounding(self, least: np.ndarray, largest: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The error of R is ‖R‖ times the condition number of H + weight·I; I − weight·R adds the rounding of I."""
        pull = abs(least + weight)
        condition = (largest + weight) / pull
        return 1 + condition * weight / pull, condition / pull

    def contraction(self, problem: Problem, k: int, weight: Scalar) -> Scalar:
        """weight/(weight + mu_k), the constant of the proximal operator of a mu_k-strongly convex function."""
        return weight / (weight + problem.strong_convexity_bound(k))

    def descends(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> bool:
        """Always true: the answer is the unique minimiser."""
        return True

    def is_averaged(self, problem: Problem, weight: Scalar) -> bool:
        """Always true: proximal operators are firmly nonexpansive."""
        return True

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        exact_weight = to_fraction(weight)  # compares without rounding: weight = −mu_k exactly must be refused
        if problem.is_convex and exact_weight > 0:  # then all subproblems are strongly convex
            return
        factors = scale if scale is not None else (Fraction(1),) * problem.num_clients
        for k, factor in enumerate(factors):
            if not problem.is_strongly_convex(k, factor, exact_weight):
                least = float(factor) * problem.mu[k]
                cure = "use gradient steps, or add a ridge"
                if exact_weight > 0:
                    cure = f"raise it above {max(0.0, -least):.6g} (FedProx: mu, FedSplit: 1/stepsize)"
                raise InvalidInput(
                    "weight of the proximal term",
                    nearest_float(exact_weight),
                    f"is too small: client {k}'s subproblem is unbounded below or has many minimisers "
                    f"(its least curvature is {least:.6g})",
                    cure,
                )
