"""A local solver with prescribed inexact answers, as bad as FedProx's Definition 1 allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, Scalar, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.local_solvers.base import EVERYONE, Answers, LocalSolver
from fedconvex.local_solvers.tolerances import require_strongly_convex
from fedconvex.participation import Draw
from fedconvex.problems.base import Clients, Problem, Subproblem

SHORTER = Fraction(1, 10**12)  # relative reserve where a residual has to be shortened


@final
@dataclass(frozen=True, eq=False)
class PrescribedResiduals(LocalSolver):
    """Answers θ_k with ∇φ_k(θ_k) = residuals[k], where φ_k is the whole subproblem of client k.

    Use it to replay a worst case with inexact answers. A residual longer than γ‖∇φ_k(start_k)‖ is shortened to that
    length, or a little less, so that all answers are γ-inexact (FedProx paper, Definition 1).

    Args:
        residuals: (m, d), the gradients of the subproblems at the answers.
        gamma: γ >= 0.
    """

    residuals: Any
    gamma: Any

    def require_arithmetic(self, arithmetic: Arithmetic) -> None:
        assert arithmetic.certainty is not Certainty.ENCLOSED, "balls cannot decide which residuals are too long"

    def require(self, problem: Problem, scale: Sequence[Fraction] | None, weight: Scalar) -> None:
        require_strongly_convex(problem, scale, weight)

    def solve(self, clients: Clients, subproblem: Subproblem, draw: Draw = EVERYONE) -> Answers:
        rows = np.asarray(self.residuals) if draw.members is None else np.asarray(self.residuals)[draw.members]
        left = clients.arithmetic.array(rows)
        first = subproblem.add_gradients(subproblem.start, clients.gradients(subproblem.start))
        left = left * clients.arithmetic.array([[share] for share in map(self._share, left, first)])
        return Answers(clients.minimise(subproblem.leaving(left)))

    def _share(self, left: Array, first: Array) -> Fraction:
        """The factor in [0, 1] that makes a residual short enough."""
        longest, length = to_fraction(self.gamma) ** 2 * to_fraction((first * first).sum()), (left * left).sum()
        length = to_fraction(length)
        if length <= longest:
            return Fraction(1)
        # A float root, rounded down a little: in exact arithmetic the root may be irrational.
        share = Fraction((longest / length) ** 0.5) * (1 - SHORTER)
        return share if share**2 * length <= longest else Fraction(0)
