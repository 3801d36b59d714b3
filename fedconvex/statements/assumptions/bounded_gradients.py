"""Bounded gradients: ‖∇F_k(x)‖ <= G at all points, the assumption of the first analyses of FedAvg."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

import numpy as np

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import float_array
from fedconvex.problems.base import Problem
from fedconvex.problems.logistic import LinearModel
from fedconvex.problems.quadratics import QuadraticProblem
from fedconvex.sparse import is_sparse
from fedconvex.statements.assumptions.base import PROVED, Assumption, AssumptionFinding, Implication, Written, short
from fedconvex.statements.assumptions.functions import BoundedVarianceEverywhere
from fedconvex.statements.setting import Unmeasured
from fedconvex.verdicts import Verdict

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


class UnboundedGradients(Unmeasured):
    """A client's gradient is longer than any number at some points."""


@final
@dataclass(frozen=True)
class BoundedGradients(Assumption):
    """‖∇F_k(x)‖ <= G for every client at all points x.

    It contradicts strong convexity, whose gradients grow with the distance to the minimiser; logistic losses without
    ridge satisfy it. It is stronger than bounded variance (σ² <= G²), and than σ*² = mean‖∇F_k(x*)‖² <= G².
    """

    G: str = "G"

    def in_words(self, written: Written) -> str:
        return f"no client's gradient is longer than {written(self.G)} at any point"

    @property
    def implies(self) -> tuple[Implication, ...]:
        return (
            Implication(BoundedVarianceEverywhere("sigma2"), "sigma2", lambda G: G**2),
            Implication(None, "sigma_star2", lambda G: G**2),
        )

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed = values[self.G]
        try:
            bound = setting.measure("gradient_bound")
        except UnboundedGradients as error:
            return AssumptionFinding(Verdict.REFUTED, str(error))
        except Unmeasured as error:
            return AssumptionFinding(Verdict.UNKNOWN, str(error))
        if assumed is bound or bound <= setting.number(assumed):
            return PROVED
        here = setting.measure("client_gradient")
        reason = f"a client's gradient at the point has the length {short(here)}"
        if here > setting.number(assumed):
            return AssumptionFinding(Verdict.REFUTED, reason)
        return AssumptionFinding(Verdict.UNKNOWN, f"only {short(bound)} is proved to bound the gradients")


def gradient_bound(problem: Problem, scale: Sequence[Fraction], balls: Arithmetic) -> Any:
    """An upper bound of every scale_k·‖∇f_k‖ at all points. Raises Unmeasured where there is none, or none is known.

    Linear models: ∇f_k is a mean of multiples of the samples a_i, at most 1 long for two classes, √2 for softmax.
    """
    if isinstance(problem, QuadraticProblem):
        exact = [problem.client_terms(k, balls) for k in range(problem.num_clients)]
        if any(
            factor and any(entry != 0 for entry in H.entries()) for factor, (H, _) in zip(scale, exact, strict=True)
        ):
            raise UnboundedGradients("the gradient of a quadratic with curvature is unbounded")
        from fedconvex.arithmetic.balls import norm

        return _largest(balls, scale, [norm(c) for _, c in exact])
    if not isinstance(problem, LinearModel):
        raise Unmeasured("no bound of the gradients is known for this class of functions")
    if problem.ridge:
        raise UnboundedGradients("the gradient of a strongly convex function is unbounded")
    factor = 1 if problem.outputs == 1 else balls.scalar(2).sqrt()
    return _largest(balls, scale, [factor * balls.scalar(_mean_length(A)) for A in problem.A])


def _largest(balls: Arithmetic, scale: Sequence[Fraction], lengths: Sequence[Any]) -> Any:
    scaled = [length * balls.scalar(factor) for factor, length in zip(scale, lengths, strict=True)]
    return max(scaled, key=lambda ball: ball.upper()).upper()


def _mean_length(A: Any) -> float:
    """A float that is at least the mean length of the rows: rounded sums and roots are at most this much too small."""
    squares = A.multiply(A).sum(1) if is_sparse(A) else (float_array(A) ** 2).sum(1)
    rows, columns = A.shape
    return float(np.sqrt(np.asarray(squares, dtype=float)).mean() * (1 + (rows + columns + 16) * 2.0**-51))
